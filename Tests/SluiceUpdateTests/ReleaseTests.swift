import SluiceAssembly
import SluiceEngine
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
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

  @Test func `software that other keys have signed is refused`() async throws {
    let keys = try [SigningKey.make(), SigningKey.make()]
    let target = try await releases.target("1.1")
    try await machine.refuses(.signature) {
      try releases.putRelease(by: keys) { $0.targets = [target] }
    }
  }

  @Test func `one signature of two is too few`() async throws {
    try await machine.refuses(.signature) { try releases.putRelease(by: [releases.releaseKeys[0]]) }
  }

  @Test func `one key that has signed twice counts once`() async throws {
    let key = releases.releaseKeys[0]
    try await machine.refuses(.signature) { try releases.putRelease(by: [key, key]) }
  }

  @Test func `keys of the root do not sign releases`() async throws {
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

  @Test func `an expired release is not installed, and one that was installed serves on`() async throws {
    try await machine.refuses(.expired) {
      try releases.putRelease { $0.expires = $0.created + .seconds(1) }
      machine.clockError.withLock { $0 = 2 }
    }
    // Release 1 expires later than this.
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

  @Test func `a release whose payload names another channel than its type is refused`() async throws {
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

  @Test func `a build that needs what this host does not offer is refused`() async throws {
    try await machine.refuses(.unsupported) {
      try releases.putRelease { $0.targets[0].features = ["org.example.unknown"] }
    }
  }

  @Test func `the timestamp of one release does not fit the file of another`() async throws {
    try await machine.refuses(.mismatch) {
      try releases.putRelease()
      // A release that is valid in itself, but not the one that the timestamp names.
      try releases.put(releases.read(ReleaseServer.releasePath(1)), at: ReleaseServer.releasePath(2))
    }
  }

  @Test func `a release under the number of another one is refused`() async throws {
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

  @Test func `a release with a member twice is refused`() async throws {
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

  @Test func `an id that leads out of the folder is refused`() async throws {
    for id in ["../state", "a/b", ".hidden", ""] {
      let releases = try ReleaseServer()
      try await UpdatedMachine(releases).refuses(.malformed) {
        try releases.putRelease { $0.targets[0].id = id }
      }
    }
  }

  @Test func `the highest version of a release is read`() async throws {
    try await releases.publish("1.0")
    try releases.putRelease { $0.version = .max }
    try await machine.installs(.max)
    let again = try await machine.look()
    #expect(again.action == .none, "\(again)")
  }

  /// Not every publisher writes a document as this program does; hashes and signatures are those of the file's bytes.
  @Test func `a release that was written in another way is installed when it was staged`() async throws {
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

  /// After stolen keys were changed, the publisher continues with its own numbers.
  @Test func `after a change of keys, a release of the same number takes the place of a stolen one`() async throws {
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

  @Test func `a staged release is not installed after its keys were taken away`() async throws {
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
