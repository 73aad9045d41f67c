import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Attacks on the timestamp, and wrong clocks (TUF §5.4).
@Suite struct TimestampTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine
  private static let hour: Int64 = 3600

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  @Test func `a timestamp that another key has signed is refused`() async throws {
    let other = try SigningKey.make()
    try await machine.refuses(.signature) {
      try releases.putTimestamp(by: [other])
    } repair: {
      try await releases.publish("1.1")
    }
  }

  @Test func `a timestamp that a release key has signed is refused`() async throws {
    try await machine.refuses(.signature) { try releases.putTimestamp(by: releases.releaseKeys) }
  }

  @Test func `the timestamp of another channel is refused`() async throws {
    try await machine.refuses(.mismatch) {
      var timestamp = try #require(try releases.publication.timestamp(of: "stable"))
      timestamp.version = 2
      timestamp.channel = "beta"
      try releases.put(
        ReleaseServer.signed(timestamp.payload, .timestamp, channel: "beta", by: [releases.timestampKey]),
        at: ReleaseServer.timestampPath)
    }
  }

  @Test func `a timestamp is refused if its payload and its type name different channels`() async throws {
    try await machine.refuses(.mismatch) { try releases.putTimestamp { $0.channel = "beta" } }
  }

  @Test func `a document of another role is not a timestamp`() async throws {
    try await machine.refuses(.mismatch) {
      try releases.put(releases.read(ReleaseServer.releasePath(1)), at: ReleaseServer.timestampPath)
    }
  }

  @Test func `an older timestamp is refused`() async throws {
    try await releases.publish("1.0")
    let old = try releases.read(ReleaseServer.timestampPath)
    try releases.stamp()
    try await machine.installs(1)
    try releases.put(old, at: ReleaseServer.timestampPath)
    try await machine.fails(.rollback)
    try await releases.publish("1.1")
    try await machine.installs(2)
  }

  @Test func `a newer timestamp that names an older release is refused`() async throws {
    try await releases.publish("1.0")
    let old = try #require(try releases.publication.timestamp(of: "stable"))
    try await releases.publish("1.1")
    try await machine.installs(2)
    try releases.putTimestamp { timestamp in
      (timestamp.releaseVersion, timestamp.releaseHash) = (old.releaseVersion, old.releaseHash)
      timestamp.releaseLength = old.releaseLength
    }
    try await machine.fails(.rollback)
    try machine.expectInstalled(2)
  }

  /// TUF §5.4.3.2: a release that a timestamp has named sets a floor, even if it was never fetched.
  @Test func `a newer timestamp must not name an older release than an earlier timestamp`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let second = try #require(try releases.publication.timestamp(of: "stable"))
    try await releases.publish("1.2")
    releases.intercept(ReleaseServer.releasePath(3)) { _ in .text("withheld", status: 404) }
    try await machine.fails(.network)
    try releases.putTimestamp { timestamp in
      (timestamp.releaseVersion, timestamp.releaseHash) = (2, second.releaseHash)
      timestamp.releaseLength = second.releaseLength
    }
    try await machine.fails(.rollback)
    try machine.expectInstalled(1)
  }

  @Test func `a mirror that withholds newer files is noticed when the timestamp expires`() async throws {
    try await releases.publish("1.0")
    let files = try releases.read(ReleaseServer.timestampPath)
    try await machine.installs(1)
    try await releases.publish("1.1")
    releases.intercept(ReleaseServer.timestampPath) { _ in ServerResponse(body: .bytes(files)) }
    let result = try await machine.look()
    #expect(result.action == .none, "\(result)")
    machine.clockError.withLock { $0 = 2 * Self.hour }
    try await machine.fails(.expired)
    try machine.expectInstalled(1)
    releases.intercept(nil)
    try releases.stamp(at: releases.now + .seconds(2 * Self.hour))
    try await machine.installs(2)
  }

  @Test func `a timestamp that is valid for more than 72 hours is refused`() async throws {
    try await machine.refuses(.malformed) {
      try releases.putTimestamp { $0.expires = $0.created + .seconds(72 * Self.hour + 1) }
    }
  }

  @Test func `an expired timestamp is refused`() async throws {
    try await machine.refuses(.expired) {
      try releases.putTimestamp { $0.expires = $0.created + .seconds(1) }
      machine.clockError.withLock { $0 = 2 }
    }
  }

  @Test func `a timestamp with a repeated JSON member is refused`() async throws {
    try await machine.refuses(.malformed) {
      var timestamp = try #require(try releases.publication.timestamp(of: "stable"))
      timestamp.version = 7
      let text = String(decoding: timestamp.payload, as: UTF8.self)
      let forged = text.replacing("\"version\":7", with: "\"version\":7,\"version\":8")
      #expect(forged != text)
      try releases.put(
        ReleaseServer.signed(Array(forged.utf8), .timestamp, by: [releases.timestampKey]),
        at: ReleaseServer.timestampPath)
    }
  }

  @Test func `a timestamp with two payloads is refused`() async throws {
    try await machine.refuses(.malformed) {
      let text = String(decoding: try releases.read(ReleaseServer.timestampPath), as: UTF8.self)
      let forged = text.replacing("\"payload\":", with: "\"payload\":\"\",\"payload\":")
      #expect(forged != text)
      try releases.put(Array(forged.utf8), at: ReleaseServer.timestampPath)
    }
  }

  /// TUF §5.4.3.1 and §5.4.3.2.
  @Test func `another timestamp with the same version cannot replace a release by an older one`() async throws {
    try await releases.publish("1.0")
    let first = try #require(try releases.publication.timestamp(of: "stable"))
    try await releases.publish("1.1")
    try await machine.installs(2)
    try releases.putTimestamp { timestamp in
      (timestamp.version, timestamp.releaseVersion) = (2, 1)
      (timestamp.releaseHash, timestamp.releaseLength) = (first.releaseHash, first.releaseLength)
    }
    try await machine.fails(.rollback)
    try machine.expectInstalled(2)
  }

  @Test(arguments: [2049, 20_000]) func `a timestamp with deeply nested JSON is refused`(depth: Int) async throws {
    let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    try await machine.refuses(.malformed) {
      try releases.put(Array("{\"payloadType\":\(deep)}".utf8), at: ReleaseServer.timestampPath)
    }
    let other = try ReleaseServer()
    try await UpdatedMachine(other).refuses(.malformed) {
      try other.put(
        ReleaseServer.signed(Array("{\"format\":\(deep)}".utf8), .timestamp, by: [other.timestampKey]),
        at: ReleaseServer.timestampPath)
    }
  }

  @Test func `a timestamp with 65 signatures is refused`() async throws {
    let keys = try (0..<64).map { _ in try SigningKey.make() }
    try await machine.refuses(.malformed) { try releases.putTimestamp(by: [releases.timestampKey] + keys) }
  }

  @Test func `a timestamp with 64 signatures is read, and signatures of unknown keys do not count`() async throws {
    let keys = try (0..<63).map { _ in try SigningKey.make() }
    try await releases.publish("1.0")
    try releases.putTimestamp(by: keys)
    try await machine.fails(.signature)
    try releases.putTimestamp(by: keys + [releases.timestampKey])
    try await machine.installs(1)
  }

  @Test func `a missing timestamp is an error`() async throws {
    try await machine.refuses(.network) {
      releases.intercept(ReleaseServer.timestampPath) { _ in .text("none", status: 404) }
    } repair: {
      releases.intercept(nil)
      try await releases.publish("1.1")
    }
  }

  // MARK: Clocks

  @Test func `if the clock was set back, nothing is installed`() async throws {
    try await machine.refuses(.clock) {
      machine.clockError.withLock { $0 = -2 * Self.hour }
    } repair: {
      machine.clockError.withLock { $0 = 0 }
      try await releases.publish("1.1")
    }
  }

  @Test func `if the clock is earlier than the build of this program, nothing is installed`() async throws {
    try await releases.publish("1.0")
    machine.clockError.withLock { $0 = -10 * 365 * 24 * Self.hour }
    try await machine.fails(.clock)
    try machine.expectInstalled(nil)
  }

  @Test func `if the clock was set forward, nothing is installed, and when it is right, updates work again`()
    async throws
  {
    try await machine.refuses(.expired) {
      try await releases.publish("1.1")
      machine.clockError.withLock { $0 = 5 * 365 * 24 * Self.hour }
    } repair: {
      machine.clockError.withLock { $0 = 0 }
    }
  }

  @Test func `the error for a timestamp from the future says that the clock is wrong`() async throws {
    try await machine.refuses(.clock) {
      try releases.putTimestamp { timestamp in
        timestamp.created = timestamp.created + .seconds(Self.hour)
        timestamp.expires = timestamp.created + .seconds(Self.hour)
      }
    }
  }

  @Test func `a clock that is behind by less than a minute is accepted`() async throws {
    try await releases.publish("1.0")
    machine.clockError.withLock { $0 = -30 }
    try await machine.installs(1)
  }
}
