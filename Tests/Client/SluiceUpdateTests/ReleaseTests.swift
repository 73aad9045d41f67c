import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Attacks on the release (TUF §5.5, §5.6).
@Suite struct ReleaseTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  @Test func `a release that other keys have signed is refused`() async throws {
    let keys = try [SigningKey.make(), SigningKey.make()]
    let target = try await releases.target("1.1")
    try await machine.refuses(.signature) {
      try releases.putRelease(by: keys) { $0.targets = [target] }
    }
  }

  @Test func `a release with one of two required signatures is refused`() async throws {
    try await machine.refuses(.signature) { try releases.putRelease(by: [releases.releaseKeys[0]]) }
  }

  @Test func `two signatures of one key count once`() async throws {
    let key = releases.releaseKeys[0]
    try await machine.refuses(.signature) { try releases.putRelease(by: [key, key]) }
  }

  @Test func `a release that only root keys have signed is refused`() async throws {
    try await machine.refuses(.signature) { try releases.putRelease(by: releases.rootKeys) }
  }

  @Test func `a signature under the id of another key does not count`() async throws {
    try await machine.refuses(.signature) {
      var release = try #require(try releases.publication.draft(of: "stable"))
      release.version = 2
      var document = try ReleaseServer.signed(release.payload, .release, by: [releases.releaseKeys[0]])
      document.signatures.append(
        SignedDocument.Signature(key: releases.releaseKeys[1].id, bytes: document.signatures[0].bytes))
      try releases.putRelease(document.file, 2)
    }
  }

  @Test func `an expired release is not installed, and an installed release that expires still serves`() async throws {
    try await machine.refuses(.expired) {
      try releases.putRelease { $0.expires = $0.created + .seconds(1) }
      machine.clockError.withLock { $0 = 2 }
    }
    // The expiry of release 1 is later than the time of this test.
    machine.clockError.withLock { $0 = 0 }
    let other = try UpdatedMachine(releases)
    try releases.putRelease { $0.expires = $0.created + .seconds(1800) }
    try await other.installs(3)
    other.clockError.withLock { $0 = 2000 }
    let result = try await other.look()
    #expect(result.action == .none && result.release == 3, "\(result)")
  }

  @Test func `the release of another channel is refused`() async throws {
    try await machine.refuses(.mismatch) {
      var release = try #require(try releases.publication.draft(of: "stable"))
      (release.version, release.channel) = (2, "beta")
      let keys = Array(releases.releaseKeys.prefix(2))
      try releases.putRelease(
        ReleaseServer.signed(release.payload, .release, channel: "beta", by: keys).file, 2)
    }
  }

  @Test func `a release is refused if its payload and its type name different channels`() async throws {
    try await machine.refuses(.mismatch) { try releases.putRelease { $0.channel = "beta" } }
  }

  @Test func `a release for another machine is refused`() async throws {
    try await machine.refuses(.unsupported) {
      try releases.putRelease { $0.targets[0].architecture = "riscv64" }
    }
  }

  @Test func `a release for newer hosts is refused`() async throws {
    try await machine.refuses(.unsupported) { try releases.putRelease { $0.minimumABI = .max } }
  }

  @Test func `a release without the plugin is refused`() async throws {
    try await machine.refuses(.unsupported) { try releases.putRelease { $0.targets = [] } }
  }

  @Test func `a build that needs a feature that this host does not have is refused`() async throws {
    try await machine.refuses(.unsupported) {
      try releases.putRelease { $0.targets[0].features = ["org.example.unknown"] }
    }
  }

  @Test func `a release whose file is replaced by another release's file is refused`() async throws {
    try await machine.refuses(.mismatch) {
      try releases.putRelease()
      // The file is a valid release, but not the one that the timestamp names.
      try releases.put(releases.read(ReleaseServer.releasePath(1)), at: ReleaseServer.releasePath(2))
    }
  }

  @Test func `a release with the version of another release is refused`() async throws {
    try await machine.refuses(.mismatch) {
      var release = try #require(try releases.publication.draft(of: "stable"))
      release.version = 7
      let keys = Array(releases.releaseKeys.prefix(2))
      try releases.putRelease(ReleaseServer.signed(release.payload, .release, by: keys).file, 2)
    }
  }

  @Test func `a document of another role is not a release`() async throws {
    try await machine.refuses(.mismatch) {
      try releases.putRelease(releases.read(ReleaseServer.timestampPath), 2)
    }
  }

  @Test func `a release with a repeated JSON member is refused`() async throws {
    try await machine.refuses(.malformed) {
      var release = try #require(try releases.publication.draft(of: "stable"))
      release.version = 2
      let text = String(decoding: release.payload, as: UTF8.self)
      let forged = text.replacing("\"revoked\":[]", with: "\"revoked\":[],\"revoked\":[]")
      #expect(forged != text)
      let keys = Array(releases.releaseKeys.prefix(2))
      try releases.putRelease(ReleaseServer.signed(Array(forged.utf8), .release, by: keys).file, 2)
    }
  }

  @Test func `if a plugin id is a path that leads out of the folder, the release is refused`() async throws {
    for id in ["../state", "a/b", ".hidden", ""] {
      let releases = try ReleaseServer()
      try await UpdatedMachine(releases).refuses(.malformed) {
        try releases.putRelease { $0.targets[0].id = id }
      }
    }
  }

  @Test func `a release with the highest possible version is read`() async throws {
    try await releases.publish("1.0")
    try releases.putRelease { $0.version = .max }
    try await machine.installs(.max)
    let again = try await machine.look()
    #expect(again.action == .none, "\(again)")
  }

  /// Another program may format a document differently, but hashes and signatures are made for the bytes of the file.
  @Test func `a staged release that another program has formatted is installed`() async throws {
    let target = try await releases.target("1.0")
    try releases.publish { $0.targets = [target] }
    let text = String(decoding: try releases.read(ReleaseServer.releasePath(1)), as: UTF8.self)
    let spaced = "\n " + text.replacing(",", with: " ,\n ")
    try releases.putRelease(Array(spaced.utf8), 1)
    let staged = try await machine.look(.later)
    #expect(staged.action == .staged, "\(staged)")
    let requests = releases.requestedPaths.count
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.0" && releases.requestedPaths.count == requests)
  }

  /// After a change of stolen keys, the publisher continues with its own version numbers.
  @Test func `after a change of keys, a release replaces a forged release with the same version`() async throws {
    let target = try await releases.target("1.1")
    let keys = try [SigningKey.make(), SigningKey.make()]
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let stolen = try await releases.target("stolen")
      try releases.putRelease { $0.targets = [stolen] }
      let first = await running.updater.check()
      #expect(first.action == .installed && first.release == 2, "\(first)")
      let before = try await running.build()
      #expect(before == "stolen")
      try releases.putRoot { $0.setKeys(keys, of: .release, threshold: 2) }
      try releases.putRelease(by: keys) { release in
        release.version = 2
        release.targets = [target]
      }
      let second = await running.updater.check()
      #expect(second.action == .installed && second.release == 2, "\(second)")
      let after = try await running.build()
      #expect(after == "1.1")
    }
  }

  @Test func `a staged release is not installed after its keys were removed`() async throws {
    let keys = try [SigningKey.make(), SigningKey.make()]
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("stolen")
    let staged = try await machine.look(.later)
    #expect(staged.action == .staged, "\(staged)")
    try releases.putRoot { $0.setKeys(keys, of: .release, threshold: 2) }
    try await machine.fails(.signature)
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.0")
  }
}
