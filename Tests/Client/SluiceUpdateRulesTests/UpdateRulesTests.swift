import SluiceUpdateRules
import Testing

/// The steps of the client workflow of TUF (specification 1.0.33, section 5). Each test name begins with the number of
/// its step.
@Suite struct UpdateRulesTests {
  private static let day: Int64 = 86400
  private static let now = UpdateMoment(seconds: 1000 * day)
  private static let roots = ["a", "b", "c"].map(Self.key)
  private static let signers = ["d", "e", "f"].map(Self.key)
  private static let stamper = Self.key("1")
  private static let hash = String(repeating: "0", count: 64)

  private static func key(_ digit: String) -> KeyID {
    guard let key = KeyID(hex: String(repeating: digit, count: 64)) else { preconditionFailure("no hex digit") }
    return key
  }

  private static func rules(_ start: UpdateMoment = now, _ verifier: any SignatureVerifier = StubVerifier())
    -> UpdateRules
  {
    UpdateRules(start: start, channel: "stable", built: UpdateMoment(seconds: 900 * day), verifier: verifier)
  }

  private static func after(_ seconds: Int64) -> UpdateMoment { UpdateMoment(seconds: now.seconds + seconds) }

  private static func root(
    _ version: Int64 = 1, roots: [KeyID] = roots, signers: [KeyID] = signers, stamper: KeyID = stamper,
    threshold: Int = 2
  ) -> RootDocument {
    let keys = Set(roots + signers + [stamper])
    return RootDocument(
      version: version, created: now, expires: after(day),
      keys: Dictionary(uniqueKeysWithValues: keys.map { ($0, Array($0.hex.utf8)) }),
      roles: [
        .root: .init(keys: Set(roots), threshold: threshold), .release: .init(keys: Set(signers), threshold: 2),
        .timestamp: .init(keys: [stamper], threshold: 1),
      ])
  }

  private static func document(
    _ role: UpdateRole, by keys: [KeyID], channel: String = "stable"
  ) -> SignedDocument {
    var document = SignedDocument(payloadType: role.payloadType(channel: channel), payload: [1, 2, 3])
    document.signatures = keys.map { .init(key: $0, bytes: StubVerifier.signature(document.signedBytes, $0)) }
    return document
  }

  private static func timestamp(
    _ version: Int64 = 1, names release: Int64 = 1, created: Int64 = 0, life: Int64 = 3600, channel: String = "stable"
  ) -> TimestampDocument {
    TimestampDocument(
      channel: channel, version: version, created: after(created), expires: after(created + life),
      releaseVersion: release, releaseHash: hash, releaseLength: 1)
  }

  private static func release(
    _ version: Int64 = 1, created: Int64 = 0, life: Int64 = day, channel: String = "stable",
    targets: [ReleaseTarget] = [], minimumABI: UInt32 = 1, revoked: Set<String> = []
  ) -> ReleaseDocument {
    ReleaseDocument(
      channel: channel, version: version, created: after(created), expires: after(created + life),
      minimumABI: minimumABI, targets: targets, revoked: revoked)
  }

  private static func target(
    _ id: String = "p", machine: String = "x86_64", abi: ClosedRange<UInt32> = 1...3, digit: String = "2",
    features: [String] = []
  ) -> ReleaseTarget {
    ReleaseTarget(
      id: id, version: "1", architecture: machine, abi: abi, sha256: String(repeating: digit, count: 64), length: 1,
      features: features)
  }

  private static let offer = UpdateOffer(architecture: "x86_64", abi: 2...4, features: ["x"])

  private static func floors(root: Int64 = 1, timestamp: Int64? = nil, release: Int64? = nil) -> TrustFloors {
    var floors = TrustFloors()
    floors.root = .init(version: root, created: now)
    floors.timestamp = timestamp.map { .init(version: $0, created: now) }
    floors.release = release.map { .init(version: $0, created: now) }
    floors.namedRelease = release
    return floors
  }

  private func expect(
    _ code: UpdateError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws(UpdateError) -> Void
  ) {
    do throws(UpdateError) {
      try body()
      Issue.record("expected \(code)", sourceLocation: sourceLocation)
    } catch { #expect(error.code == code, "\(error)", sourceLocation: sourceLocation) }
  }

  // MARK: §5.1: the time at which the update began

  @Test func `5_1: a clock that is earlier than the build of this program is refused`() {
    expect(.clock) { () throws(UpdateError) in
      try Self.rules(UpdateMoment(seconds: 900 * Self.day - 1)).checkClock(TrustFloors())
    }
    #expect(throws: Never.self) { try Self.rules(UpdateMoment(seconds: 900 * Self.day)).checkClock(TrustFloors()) }
  }

  @Test func `5_1: a clock that is more than a minute earlier than the newest signed time is refused`() {
    #expect(throws: Never.self) { try Self.rules(Self.after(-60)).checkClock(Self.floors()) }
    expect(.clock) { () throws(UpdateError) in try Self.rules(Self.after(-61)).checkClock(Self.floors()) }
  }

  @Test func `5_1: times at the end of the range do not overflow`() {
    var floors = Self.floors()
    floors.root?.created = UpdateMoment(seconds: .max)
    expect(.clock) { () throws(UpdateError) in try Self.rules().checkClock(floors) }
    #expect(throws: Never.self) { try Self.rules(UpdateMoment(seconds: .max)).checkClock(floors) }
  }

  // MARK: §5.3: root

  @Test func `5_3_4: a document needs signatures of enough different keys`() throws {
    let (rules, root) = (Self.rules(), Self.root())
    let payload = try rules.authenticated(Self.document(.root, by: Array(Self.roots.prefix(2))), as: .root, by: root)
    #expect(payload == [1, 2, 3])
    for keys in [[], [Self.roots[0]], [Self.roots[0], Self.roots[0]], Self.signers, [Self.roots[0], Self.signers[0]]] {
      expect(.signature) { () throws(UpdateError) in
        _ = try rules.authenticated(Self.document(.root, by: keys), as: .root, by: root)
      }
    }
  }

  @Test func `5_3_4: an invalid signature before a valid one of the same key does no harm`() throws {
    var document = Self.document(.root, by: Array(Self.roots.prefix(2)))
    document.signatures.insert(.init(key: Self.roots[0], bytes: [9]), at: 0)
    _ = try Self.rules().authenticated(document, as: .root, by: Self.root())
  }

  @Test func `5_3_4: a signature for another payload or type does not count`() {
    let good = Self.document(.root, by: Self.roots)
    for other in [
      SignedDocument(payloadType: good.payloadType, payload: [1, 2], signatures: good.signatures),
      SignedDocument(payloadType: good.payloadType, payload: [1, 2, 3, 4], signatures: good.signatures),
    ] {
      expect(.signature) { () throws(UpdateError) in
        _ = try Self.rules().authenticated(other, as: .root, by: Self.root())
      }
    }
  }

  @Test func `5_3_4: a key of the role that the root does not list does not count`() {
    var root = Self.root()
    root.keys[Self.roots[0]] = nil
    expect(.signature) { () throws(UpdateError) in
      _ = try Self.rules().authenticated(Self.document(.root, by: Array(Self.roots.prefix(2))), as: .root, by: root)
    }
  }

  @Test func `5_3_4: a role without keys accepts nothing`() {
    var root = Self.root()
    root.roles[.release] = nil
    expect(.signature) { () throws(UpdateError) in
      _ = try Self.rules().authenticated(Self.document(.release, by: Self.signers), as: .release, by: root)
    }
  }

  @Test func `5_3_4: if the verifier itself fails, this is an error, and the signature is not refused`() {
    expect(.verifier) { () throws(UpdateError) in
      _ = try Self.rules(Self.now, BrokenVerifier()).authenticated(
        Self.document(.root, by: Self.roots), as: .root, by: Self.root())
    }
  }

  @Test func `5_3_4: documents of other roles and channels are refused before signatures are verified`() {
    let broken = Self.rules(Self.now, BrokenVerifier())
    for document in [
      Self.document(.release, by: []), Self.document(.timestamp, by: [], channel: "beta"),
      Self.document(.root, by: []),
    ] {
      expect(.mismatch) { () throws(UpdateError) in
        _ = try broken.authenticated(document, as: .timestamp, by: Self.root())
      }
    }
  }

  @Test func `5_3_5: the next root must have the next version`() {
    let (rules, trusted) = (Self.rules(), Self.root(5))
    #expect(throws: Never.self) { try rules.check(root: Self.root(6), after: trusted) }
    for version: Int64 in [7, 100, .max] {
      expect(.mismatch) { () throws(UpdateError) in try rules.check(root: Self.root(version), after: trusted) }
    }
    for version: Int64 in [1, 4, 5] {
      expect(.rollback) { () throws(UpdateError) in try rules.check(root: Self.root(version), after: trusted) }
    }
  }

  @Test func `5_3_5: there is no root after the highest version`() {
    #expect(Self.root(.max).nextVersion == nil && Self.root(.max - 1).nextVersion == .max)
    expect(.rollback) { () throws(UpdateError) in
      try Self.rules().check(root: Self.root(.max), after: Self.root(.max))
    }
  }

  @Test func `5_3_6: only the last root must not have expired`() {
    var next = Self.root(2)
    next.expires = Self.after(-1)
    #expect(throws: Never.self) { try Self.rules().check(root: next, after: Self.root()) }
  }

  @Test func `5_3_10: the last root must not have expired`() {
    var root = Self.root()
    root.expires = Self.after(1)
    #expect(throws: Never.self) { try Self.rules().checkExpiry(root: root) }
    root.expires = Self.now
    expect(.expired) { () throws(UpdateError) in try Self.rules().checkExpiry(root: root) }
  }

  @Test func `5_3_11: the floors of a role are removed only if its keys change`() {
    let (rules, floors) = (Self.rules(), Self.floors(timestamp: 7, release: 8))
    let same = rules.floors(floors, after: Self.root(2, roots: Self.signers), following: Self.root())
    #expect(same.timestamp?.version == 7 && same.release?.version == 8 && same.namedRelease == 8)
    #expect(same.root?.version == 2)
    let stamped = rules.floors(floors, after: Self.root(2, stamper: Self.key("9")), following: Self.root())
    #expect(stamped.timestamp == nil && stamped.namedRelease == nil && stamped.release?.version == 8)
    let released = rules.floors(floors, after: Self.root(2, signers: Self.roots), following: Self.root())
    #expect(released.timestamp == nil && released.namedRelease == nil && released.release == nil)
  }

  @Test func `5_3_11: another threshold for the same keys counts as a change of keys`() {
    var next = Self.root(2)
    next.roles[.timestamp] = .init(keys: Set(Self.signers), threshold: 1)
    var after = next
    after.roles[.timestamp]?.threshold = 2
    let floors = Self.rules().floors(Self.floors(timestamp: 7), after: after, following: next)
    #expect(floors.timestamp == nil)
  }

  // MARK: §5.4: timestamp

  @Test func `5_4_3_1: a timestamp with a lower version is a rollback, and one with an equal version is not new`()
    throws
  {
    let rules = Self.rules()
    #expect(try rules.isNew(Self.timestamp(), TrustFloors()))
    #expect(try rules.isNew(Self.timestamp(8), Self.floors(timestamp: 7)))
    #expect(try rules.isNew(Self.timestamp(.max), Self.floors(timestamp: 7)))
    #expect(try !rules.isNew(Self.timestamp(7), Self.floors(timestamp: 7)))
    expect(.rollback) { () throws(UpdateError) in _ = try rules.isNew(Self.timestamp(6), Self.floors(timestamp: 7)) }
  }

  @Test func `5_4_3_2: a timestamp that names a lower release than an earlier one is a rollback`() throws {
    let rules = Self.rules()
    var named = Self.floors(timestamp: 7)
    named.namedRelease = 5
    #expect(try rules.isNew(Self.timestamp(8, names: 5), named))
    for floors in [named, Self.floors(timestamp: 7, release: 5)] {
      expect(.rollback) { () throws(UpdateError) in _ = try rules.isNew(Self.timestamp(8, names: 4), floors) }
    }
  }

  @Test func `5_4_4: an expired timestamp is refused, even if it was accepted before`() {
    for floors in [TrustFloors(), Self.floors(timestamp: 1)] {
      expect(.expired) { () throws(UpdateError) in
        _ = try Self.rules(Self.after(3600)).isNew(Self.timestamp(), floors)
      }
    }
  }

  @Test func `5_4_4: a timestamp is valid for at most 72 hours`() throws {
    #expect(try Self.rules().isNew(Self.timestamp(life: 72 * 3600), TrustFloors()))
    expect(.malformed) { () throws(UpdateError) in
      _ = try Self.rules().isNew(Self.timestamp(life: 72 * 3600 + 1), TrustFloors())
    }
  }

  @Test func `5_4_4: a timestamp that is more than a minute in the future is refused`() throws {
    #expect(try Self.rules().isNew(Self.timestamp(created: 60), TrustFloors()))
    expect(.clock) { () throws(UpdateError) in _ = try Self.rules().isNew(Self.timestamp(created: 61), TrustFloors()) }
  }

  @Test func `5_4_2: a payload of another channel is refused`() {
    expect(.mismatch) { () throws(UpdateError) in
      _ = try Self.rules().isNew(Self.timestamp(channel: "beta"), TrustFloors())
    }
  }

  // MARK: §5.5 and §5.6: release

  @Test func `5_5_2: length and hash of a release must be those in the timestamp`() {
    let other = String(repeating: "1", count: 64)
    #expect(throws: Never.self) {
      try UpdateRules.check("x", length: 1, hash: Self.hash, expectedLength: 1, expectedHash: Self.hash)
    }
    expect(.mismatch) { () throws(UpdateError) in
      try UpdateRules.check("x", length: 2, hash: Self.hash, expectedLength: 1, expectedHash: Self.hash)
    }
    expect(.mismatch) { () throws(UpdateError) in
      try UpdateRules.check("x", length: 1, hash: other, expectedLength: 1, expectedHash: Self.hash)
    }
  }

  @Test func `5_5_4: the version of a release must be the one that the timestamp names`() {
    for version: Int64 in [1, 3] {
      expect(.mismatch) { () throws(UpdateError) in
        try Self.rules().check(Self.release(version), named: Self.timestamp(names: 2), TrustFloors())
      }
    }
  }

  @Test func `5_5_5: a release with a lower version than an accepted one is a rollback`() {
    #expect(throws: Never.self) {
      try Self.rules().check(Self.release(5), named: Self.timestamp(names: 5), Self.floors(release: 5))
    }
    expect(.rollback) { () throws(UpdateError) in
      try Self.rules().check(Self.release(4), named: Self.timestamp(names: 4), Self.floors(release: 5))
    }
  }

  @Test func `5_5_6: an expired release is refused`() {
    expect(.expired) { () throws(UpdateError) in
      try Self.rules().check(Self.release(life: 0), named: Self.timestamp(), TrustFloors())
    }
  }

  @Test func `5_6_3: a release for another channel or from the future is refused`() {
    expect(.mismatch) { () throws(UpdateError) in
      try Self.rules().check(Self.release(channel: "beta"), named: Self.timestamp(), TrustFloors())
    }
    expect(.clock) { () throws(UpdateError) in
      try Self.rules().check(Self.release(created: 61), named: Self.timestamp(), TrustFloors())
    }
  }

  // MARK: §5.7: targets

  @Test func `5_7: the build for this machine with the highest ABI is chosen`() throws {
    let release = Self.release(targets: [
      Self.target(abi: 1...2, digit: "3"), Self.target(abi: 1...3, digit: "4"), Self.target(abi: 5...9, digit: "5"),
      Self.target(machine: "aarch64", abi: 4...4, digit: "6"), Self.target("q", abi: 4...4, digit: "7"),
      Self.target(abi: 4...4, digit: "8", features: ["x", "y"]),
    ])
    let target = try Self.rules().target("p", of: release, for: Self.offer)
    #expect(target.sha256.first == "4")
  }

  @Test func `5_7: a release without a build that fits this machine is refused`() {
    for release in [
      Self.release(targets: []), Self.release(targets: [Self.target("q")]),
      Self.release(targets: [Self.target(machine: "aarch64")]), Self.release(targets: [Self.target(abi: 5...5)]),
      Self.release(targets: [Self.target(abi: 1...1)]), Self.release(targets: [Self.target(features: ["y"])]),
      Self.release(targets: [Self.target()], minimumABI: 5),
    ] {
      expect(.unsupported) { () throws(UpdateError) in
        _ = try Self.rules().target("p", of: release, for: Self.offer)
      }
    }
  }

  @Test func `5_7: a build that its own release revokes is refused`() {
    let release = Self.release(targets: [Self.target()], revoked: [Self.target().sha256])
    expect(.refused) { () throws(UpdateError) in _ = try Self.rules().target("p", of: release, for: Self.offer) }
  }

  // MARK: Names

  @Test(arguments: ["", "0", String(repeating: "A", count: 64), String(repeating: "g", count: 64), hash + "0"])
  func `a text that is not 64 lower-case hex digits is not a key id`(text: String) {
    #expect(KeyID(hex: text) == nil)
  }

  @Test func `the signed bytes contain the length of each part`() {
    let one = SignedDocument(payloadType: "a", payload: Array("1 b".utf8))
    let two = SignedDocument(payloadType: "a 3 1", payload: Array("b".utf8))
    #expect(String(decoding: one.signedBytes, as: UTF8.self) == "DSSEv1 1 a 3 1 b")
    #expect(one.signedBytes != two.signedBytes)
  }
}

/// A verifier whose signatures consist of the message and the key.
private struct StubVerifier: SignatureVerifier {
  static func signature(_ message: [UInt8], _ key: KeyID) -> [UInt8] { message + Array(key.hex.utf8) }

  func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) throws(UpdateError) -> Bool {
    signature == message + publicKey
  }
}

private struct BrokenVerifier: SignatureVerifier {
  func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) throws(UpdateError) -> Bool {
    throw UpdateError(.verifier, "libcrypto", "it is broken")
  }
}
