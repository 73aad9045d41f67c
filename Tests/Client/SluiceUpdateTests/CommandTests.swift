import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// The commands `sluice publish` and `sluice update`, from new keys to an installed release.
@Suite struct CommandTests {
  private let files: TemporaryDirectory
  private let server: EmbeddedServer
  private let repository: String

  init() throws {
    let files = try TemporaryDirectory()
    self.files = files
    repository = files.path("repository")
    server = try EmbeddedServer { request in
      ReleaseServer.file(files.path("repository") + request.target, request)
    }
  }

  private func sluice(_ arguments: String...) async throws -> CommandResult {
    try await Command.run(BuiltProducts.executable("sluice"), arguments)
  }

  /// Runs a command that must succeed, and returns its output.
  @discardableResult
  private func check(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
    let result = try await Command.run(BuiltProducts.executable("sluice"), arguments)
    #expect(result.ending == .exited(0), "\(arguments): \(result.errorText)", sourceLocation: sourceLocation)
    return result.outputText
  }

  private func key(_ name: String) -> String { files.path("keys/\(name).key") }

  private func begin() async throws {
    try await check("publish", "init", repository, "--keys", files.path("keys"))
  }

  private func publish(_ build: String, _ more: String...) async throws {
    let library = try await StampBuilds.shared.library(build)
    let added = try await Command.run(
      BuiltProducts.executable("sluice"), ["publish", "add", repository, library, "--id", "stamp"] + more)
    #expect(added.ending == .exited(0), "\(added.errorText)")
    try await check("publish", "sign", repository, "--key", key("release-1"), "--key", key("release-2"))
    try await check("publish", "timestamp", repository, "--key", key("timestamp"))
  }

  private func configuration() throws -> String {
    try files.write(try FileTree.readText("\(repository)/root.json"), to: "root.json")
    return try files.write(
      """
      {"update": {"url": "\(server.baseURL)", "root": "root.json", "folder": "installed"},
       "plugins": {"stamp": {"release": "stamp"}}, "request": ["stamp"], "store": "store"}
      """, to: "sluice.json")
  }

  @Test func `a release is signed, published, found and installed`() async throws {
    try await begin()
    for name in FileTree.names(in: files.path("keys")) where name.hasSuffix(".key") {
      var status = stat()
      #expect(stat(files.path("keys/\(name)"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    let library = try await StampBuilds.shared.library("1.0")
    try await check("publish", "add", repository, library, "--id", "stamp")
    let waiting = try await check("publish", "sign", repository, "--key", key("release-1"))
    #expect(waiting.contains("1 of 2"), "\(waiting)")
    let early = try await sluice("publish", "timestamp", repository, "--key", key("timestamp"))
    #expect(early.ending == .exited(2), "\(early.ending)")
    let signed = try await check("publish", "sign", repository, "--key", key("release-3"))
    #expect(signed.contains("release 1 is signed"), "\(signed)")
    try await check("publish", "timestamp", repository, "--key", key("timestamp"))

    let file = try configuration()
    let found = try await check("update", "check", "-c", file)
    #expect(found.contains("release 1 is available"), "\(found)")
    let before = try await check("update", "status", "-c", file)
    #expect(before.contains("installed: none; newest accepted: release 1"), "\(before)")
    let applied = try await check("update", "apply", "-c", file)
    #expect(applied.contains("release 1 is installed"), "\(applied)")
    let after = try await check("update", "status", "-c", file)
    #expect(after.contains("installed: release 1"), "\(after)")
  }

  @Test func `a refused release is tried again when a command demands it`() async throws {
    try await begin()
    try await publish("1.0")
    let file = try configuration()
    try await check("update", "apply", "-c", file)
    let text = Array("no library".utf8)
    let hash = try ReleaseServer.hash(text)
    // The test publishes this release itself, because `sluice publish` would refuse it.
    let signers = try ["release-1", "release-2"].map { try SigningKey(file: key($0)) }
    let publication = try Publication(opening: repository)
    try files.write(text, to: "repository/targets/\(hash).so")
    _ = try publication.edit("stable", at: Updater.now(), life: .seconds(3600)) { draft throws(UpdateError) in
      (draft.targets[0].sha256, draft.targets[0].length) = (hash, Int64(text.count))
    }
    _ = try publication.sign("stable", signers)
    try await check("publish", "timestamp", repository, "--key", key("timestamp"))
    let refused = try await sluice("update", "apply", "--json", "-c", file)
    #expect(refused.ending == .exited(1), "\(refused.ending)")
    let document = try JSONValue(parsing: refused.standardOutput)
    #expect(document["action"]?.string == "failed" && document["error"]?.string == "refused", "\(document)")
    #expect(document["release"]?.integer == 1, "\(document)")
    let again = try await sluice("update", "apply", "-c", file)
    #expect(again.ending == .exited(1) && again.errorText.contains("release 2 is not installed"), "\(again.errorText)")
    let retried = try await sluice("update", "apply", "--retry", "-c", file)
    #expect(retried.ending == .exited(1), "\(retried.outputText)")
  }

  @Test func `two people sign a change of keys, one after the other`() async throws {
    try await begin()
    try await publish("1.0")
    let file = try configuration()
    try await check("update", "apply", "-c", file)
    try await check("publish", "key", key("release-9"))
    let first = try await check(
      "publish", "rotate", repository, "--add", "release=\(key("release-9")).pub", "--remove",
      "release=\(key("release-1")).pub", "--key", key("root-1"))
    #expect(first.contains("1 of 2"), "\(first)")
    // A second change is refused, because it would lose the first one.
    let other = try await sluice("publish", "rotate", repository, "--threshold", "release=1", "--key", key("root-2"))
    #expect(other.ending == .exited(2) && other.errorText.contains("waits for signatures"), "\(other.errorText)")
    let second = try await check("publish", "rotate", repository, "--key", key("root-2"))
    #expect(second.contains("root 2 is signed"), "\(second)")
    let library = try await StampBuilds.shared.library("1.1")
    try await check("publish", "add", repository, library, "--id", "stamp")
    let stale = try await sluice("publish", "sign", repository, "--key", key("release-1"))
    #expect(stale.ending == .exited(2) && stale.errorText.contains("not a key of the role"), "\(stale.errorText)")
    try await check("publish", "sign", repository, "--key", key("release-9"), "--key", key("release-2"))
    try await check("publish", "timestamp", repository, "--key", key("timestamp"))
    let applied = try await check("update", "apply", "-c", file)
    #expect(applied.contains("release 2 is installed"), "\(applied)")
  }

  @Test func `documents that clients would refuse are not published`() async throws {
    try await begin()
    try await publish("1.0")
    let library = try await StampBuilds.shared.library("1.0")
    let hash = try ReleaseServer.hash(FileTree.read(library))
    let text = try files.write("no library", to: "text.so")
    let wrong: [[String]] = [
      ["add", repository], ["add", repository, text], ["add", repository, library, "--id", "../x"],
      ["add", repository, library, "--id", "stamp", "--revoke", hash], ["add", repository, "--revoke", "abc"],
      ["add", repository, library, "--channel", "../x"], ["add", repository, library, "--channel", "targets"],
      ["add", repository, "--remove", "other"], ["add", repository, "--from", "9"],
      ["add", repository, "--min-abi", "0"], ["sign", repository, "--key", key("release-1")],
      ["timestamp", repository, "--key", key("release-1")],
      ["timestamp", repository, "--key", key("timestamp"), "--expires", "73h"],
      ["timestamp", repository, "--key", key("timestamp"), "--expires", "9000000000h"], ["timestamp", repository],
      ["rotate", repository, "--remove", "timestamp=\(key("timestamp")).pub", "--key", key("root-1")],
      ["rotate", repository, "--threshold", "root=4", "--key", key("root-1")],
      ["rotate", repository, "--expires", "100000000h", "--key", key("root-1")],
      ["init", repository, "--keys", files.path("other")], ["show", files.path("none")],
    ]
    for arguments in wrong {
      let result = try await Command.run(BuiltProducts.executable("sluice"), ["publish"] + arguments)
      #expect(result.ending == .exited(1) || result.ending == .exited(2), "\(arguments): \(result.ending)")
      #expect(!result.errorText.isEmpty)
    }
    #expect(FileTree.names(in: "\(repository)/stable") == ["1.release.json", "timestamp.json"])
    let file = try configuration()
    try await check("update", "apply", "-c", file)
  }

  @Test func `a private key that others can read is refused, and existing keys are not overwritten`() async throws {
    try await begin()
    let key = key("release-1")
    let text = try FileTree.read(key)
    let again = try await sluice("publish", "key", key)
    #expect(again.ending == .exited(2) && again.errorText.contains("exists already"), "\(again.errorText)")
    #expect(try FileTree.read(key) == text)
    let library = try await StampBuilds.shared.library("1.0")
    try await check("publish", "add", repository, library, "--id", "stamp")
    chmod(key, 0o640)
    let result = try await sluice("publish", "sign", repository, "--key", key)
    #expect(result.ending == .exited(2) && result.errorText.contains("only you can read"), "\(result.errorText)")
  }

  @Test func `another program can make a signature, and the signature is verified`() async throws {
    try await begin()
    let library = try await StampBuilds.shared.library("1.0")
    try await check("publish", "add", repository, library, "--id", "stamp")
    let message = files.path("message")
    let sign = "cat >\(message); openssl pkeyutl -sign -rawin -in \(message) -inkey "
    for wrong in ["false", "true", "head -c 64 /dev/zero", sign + key("root-1")] {
      let result = try await sluice("publish", "sign", repository, "--sign-with", wrong)
      #expect(result.ending == .exited(2), "\(wrong): \(result.errorText)")
    }
    let signed = try await check(
      "publish", "sign", repository, "--sign-with", sign + key("release-1"), "--sign-with",
      sign + key("release-2") + " | base64")
    #expect(signed.contains("release 1 is signed"), "\(signed)")
  }

  @Test func `after the highest version no further version is published`() async throws {
    try await begin()
    try await publish("1.0")
    try files.write(
      try FileTree.read("\(repository)/stable/1.release.json"), to: "repository/stable/\(Int64.max).release.json")
    let library = try await StampBuilds.shared.library("1.1")
    let result = try await sluice("publish", "add", repository, library, "--id", "stamp")
    #expect(result.ending == .exited(2), "\(result.ending) \(result.errorText)")
  }
}
