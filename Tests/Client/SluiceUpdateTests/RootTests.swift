import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Attacks on the root, and changes of keys (TUF §5.3).
@Suite struct RootTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  private static func keys(_ count: Int) throws -> [SigningKey] { try (0..<count).map { _ in try SigningKey.make() } }

  @Test func `a root that enough old and new keys have signed replaces the old root`() async throws {
    let (roots, signers) = (try Self.keys(2), try Self.keys(2))
    try await releases.publish("1.0")
    try await machine.installs(1)
    try releases.putRoot(by: Array(releases.rootKeys.prefix(2)) + roots) { root in
      root.setKeys(roots, of: .root, threshold: 2)
      root.setKeys(signers, of: .release, threshold: 2)
    }
    // Documents that the old keys sign are refused from now on.
    try releases.putRelease()
    try await machine.fails(.signature)
    try releases.putRelease(by: signers)
    try await machine.installs(3)
    #expect(try machine.status()["root"]?.integer == 2)
  }

  @Test func `a root that only old keys have signed is refused`() async throws {
    let roots = try Self.keys(2)
    try await machine.refuses(.signature) {
      try releases.putRoot { $0.setKeys(roots, of: .root, threshold: 2) }
    }
  }

  @Test func `a root that only new keys have signed is refused`() async throws {
    let roots = try Self.keys(2)
    try await machine.refuses(.signature) {
      try releases.putRoot(by: roots) { $0.setKeys(roots, of: .root, threshold: 2) }
    }
  }

  @Test func `a root that lists one signature twice is refused if two keys must sign`() async throws {
    let key = releases.rootKeys[0]
    try await machine.refuses(.signature) { try releases.putRoot(by: [key, key]) }
  }

  @Test func `a root that skips a version is refused`() async throws {
    try await machine.refuses(.mismatch) {
      var root = try releases.publication.root()
      root.version = 3
      try releases.put(
        ReleaseServer.signed(root.payload, .root, by: releases.rootKeys), at: ReleaseServer.rootPath(2))
    }
  }

  @Test func `if the file of the next root version holds the current root, it is refused`() async throws {
    try await machine.refuses(.rollback) {
      try releases.put(releases.read("1.root.json"), at: ReleaseServer.rootPath(2))
    }
  }

  @Test func `a look follows a limited number of roots, and the next look follows further ones`() async throws {
    try await releases.publish("1.0")
    for _ in 0..<40 { try releases.putRoot() }
    _ = try await machine.look()
    #expect(try machine.status()["root"]?.integer == 33)
    _ = try await machine.look()
    #expect(try machine.status()["root"]?.integer == 41)
    try machine.expectInstalled(1)
  }

  @Test func `an expired last root stops updates, and an expired root before the last does not`() async throws {
    let day = Duration.seconds(86400)
    try await releases.publish("1.0")
    try await machine.installs(1)
    let short = releases.now + .seconds(2 * 3600)
    try releases.putRoot { $0.expires = short }
    machine.clockError.withLock { $0 = 3 * 3600 }
    try await machine.fails(.expired)
    let later = releases.now + .seconds(3 * 3600)
    try releases.putRoot { $0.expires = later + day }
    try releases.stamp(at: later)
    let result = try await machine.look()
    #expect(result.action == .none, "\(result)")
    #expect(try machine.status()["root"]?.integer == 3)
  }

  @Test func `a root with one key under two ids is refused`() async throws {
    try await machine.refuses(.malformed) {
      var root = try releases.publication.root()
      root.version = 2
      let id = releases.rootKeys[0].id.hex
      let text = String(decoding: root.payload, as: UTF8.self)
      let entry = try #require(text.firstRange(of: "\"\(id)\":"))
      let value = text[entry.upperBound...].prefix { $0 != "," && $0 != "}" }
      let other = String(repeating: "a", count: 64)
      let forged = text.replacing("\"\(id)\":", with: "\"\(other)\":\(value),\"\(id)\":")
      try releases.put(
        ReleaseServer.signed(Array(forged.utf8), .root, by: releases.rootKeys), at: ReleaseServer.rootPath(2))
    }
  }

  @Test func `a root with 64 keys and 64 signatures is read, and a root with more is refused`() async throws {
    let keys = try Self.keys(62)
    try await releases.publish("1.0")
    try releases.putRoot(by: releases.rootKeys + keys.prefix(61)) { root in
      // Together with the keys of the root and of the timestamp these are 64 keys.
      root.setKeys(releases.rootKeys + keys.prefix(60), of: .root, threshold: 60)
      root.setKeys([releases.rootKeys[0], releases.rootKeys[1]], of: .release, threshold: 2)
    }
    try releases.putRelease(by: Array(releases.rootKeys.prefix(2))) { $0.version = 1 }
    try await machine.installs(1)
    #expect(try machine.status()["root"]?.integer == 2)
    try releases.putRoot(by: releases.rootKeys + keys) { $0.created = releases.now }
    try await machine.fails(.malformed)
    #expect(try machine.status()["root"]?.integer == 2)
  }

  @Test func `a document of another role is not a root`() async throws {
    try await machine.refuses(.mismatch) {
      try releases.put(releases.read(ReleaseServer.timestampPath), at: ReleaseServer.rootPath(2))
    }
  }

  @Test func `a root with a repeated JSON member is refused`() async throws {
    try await machine.refuses(.malformed) {
      var root = try releases.publication.root()
      root.version = 2
      let text = String(decoding: root.payload, as: UTF8.self)
      let forged = text.replacing("\"version\":2", with: "\"version\":3,\"version\":2")
      #expect(forged != text)
      try releases.put(
        ReleaseServer.signed(Array(forged.utf8), .root, by: releases.rootKeys), at: ReleaseServer.rootPath(2))
    }
  }

  @Test func `a change of keys removes the version floor that a thief of the timestamp key has set`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try releases.putTimestamp { $0.version = .max }
    let result = try await machine.look()
    #expect(result.action == .none, "\(result)")
    try releases.putTimestamp { $0.version = 5 }
    try await machine.fails(.rollback)
    let key = try SigningKey.make()
    try releases.putRoot { $0.setKeys([key], of: .timestamp, threshold: 1) }
    try releases.putTimestamp { $0.version = 6 }
    try await machine.fails(.signature)
    try releases.putTimestamp(by: [key]) { $0.version = 7 }
    let recovered = try await machine.look()
    #expect(recovered.action == .none, "\(recovered)")
  }

  @Test func `no root follows a root with the highest possible version`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    let root = try releases.putRoot { $0.version = .max }
    try machine.files.write(releases.read(ReleaseServer.rootPath(root.version)), to: "root.json")
    let result = try await machine.look()
    #expect(result.action == .none, "\(result)")
    #expect(try machine.status()["root"]?.integer == .max)
  }

  @Test func `after keys are lost, a newer root in the configuration makes updates work again`() async throws {
    let (roots, signers, stamper) = (try Self.keys(2), try Self.keys(2), try Self.keys(1))
    try await releases.publish("1.0")
    try await machine.installs(1)
    // No old key has signed this root, so an updater does not follow it by itself.
    try releases.putRoot(by: roots) { root in
      root.setKeys(roots, of: .root, threshold: 2)
      root.setKeys(signers, of: .release, threshold: 2)
      root.setKeys(stamper, of: .timestamp, threshold: 1)
    }
    try releases.putRelease(by: signers)
    try releases.putTimestamp(by: stamper)
    try await machine.fails(.signature)
    try machine.files.write(releases.read("root.json"), to: "root.json")
    try await machine.installs(2)
    #expect(try machine.status()["root"]?.integer == 2)
  }

  @Test func `an older root in the configuration changes nothing`() async throws {
    try await releases.publish("1.0")
    try releases.putRoot()
    try await machine.installs(1)
    let other = try releases.read("1.root.json") + [0x0A]
    try machine.files.write(other, to: "root.json")
    let result = try await machine.look()
    #expect(result.action == .none, "\(result)")
    #expect(try machine.status()["root"]?.integer == 2)
  }

  @Test func `a damaged root in the configuration stops updates`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    let bytes = try releases.read("root.json")
    try machine.files.write(bytes.flipped(at: bytes.count / 2), to: "root.json")
    let result = try await machine.look()
    #expect(result.action == .failed, "\(result)")
    try machine.expectInstalled(1)
  }
}
