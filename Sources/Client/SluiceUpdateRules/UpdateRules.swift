import SluiceMessages

/// Decides which documents a client can accept, given the documents that it has accepted before. The steps are those of
/// the client workflow of TUF (specification 1.0.34, section 5). Each function names its step.
///
/// A caller uses a document in this order: it checks the signatures over its bytes (``authenticated(_:as:by:)``), then
/// parses it, then makes the checks of its role. The functions here have no side effects.
package struct UpdateRules: Sendable {
  /// How far the publisher's clock may be ahead of this machine's clock.
  package static let clockTolerance = Duration.seconds(60)
  /// The maximum number of new roots that a client accepts in one update. If there are more roots, the next update
  /// accepts them.
  package static let rootLimit = 32

  /// The time at which the update began; every expiry is compared with it (§5.1).
  package let start: UpdateMoment
  package let channel: String
  /// The time at which this program was built. A clock that shows an earlier time is wrong.
  package let built: UpdateMoment
  package let verifier: any SignatureVerifier

  package init(start: UpdateMoment, channel: String, built: UpdateMoment, verifier: any SignatureVerifier) {
    self.start = start
    self.channel = channel
    self.built = built
    self.verifier = verifier
  }

  // MARK: Clock

  /// Fails if the clock shows a time that is certainly in the past.
  package func checkClock(_ floors: TrustFloors) throws(UpdateError) {
    if start < built { throw clockError("before this version of Sluice was made (\(built))") }
    if let newest = floors.newestCreated, start + Self.clockTolerance < newest {
      throw clockError("before the newest signed document was made (\(newest))")
    }
  }

  private func clockError(_ reason: String) -> UpdateError {
    UpdateError(
      .clock, "the clock", "\(start) is \(reason); nothing is installed",
      advice: "set the clock; the plugins in use continue to serve")
  }

  // MARK: Signatures

  /// Checks that enough different keys of the role have signed, and returns the payload. Keys that the role does not
  /// have do not count, and each key counts once (§5.3.4, §5.4.2, §5.5.3).
  package func authenticated(
    _ document: SignedDocument, as role: UpdateRole, by root: RootDocument
  ) throws(UpdateError) -> [UInt8] {
    let expected = role.payloadType(channel: channel)
    guard document.payloadType == expected else {
      throw UpdateError(
        .mismatch, role.rawValue, "its type is \(Self.quoted(document.payloadType)), expected \"\(expected)\"",
        advice: "a document of another role or channel was put in its place")
    }
    let signers = try self.signers(of: document, as: role, by: root)
    let needed = root.keys(of: role).threshold
    guard signers.count >= needed else {
      throw UpdateError(
        .signature, role.rawValue,
        "\(signers.count) of the \(root.keys(of: role).keys.count) keys that root \(root.version) names have signed, "
          + "\(needed) must",
        advice:
          "the mirror lacks a newer root, update.root belongs to another publisher, or somebody has changed the file")
    }
    return document.payload
  }

  /// Returns the keys of the role whose signatures of the document are valid.
  package func signers(
    of document: SignedDocument, as role: UpdateRole, by root: RootDocument
  ) throws(UpdateError) -> Set<KeyID> {
    let keys = root.keys(of: role).keys
    let message = document.signedBytes
    var valid: Set<KeyID> = []
    for signature in document.signatures where keys.contains(signature.key) && !valid.contains(signature.key) {
      guard let key = root.keys[signature.key] else { continue }
      if try verifier.isValid(signature.bytes, of: message, by: key) { valid.insert(signature.key) }
    }
    return valid
  }

  // MARK: Root

  /// Checks the next root after a trusted one (§5.3.4, §5.3.5). Its expiry does not matter yet (§5.3.6). The keys of
  /// both roots must have signed it: call ``authenticated(_:as:by:)`` with each of them.
  package func check(root next: RootDocument, after trusted: RootDocument) throws(UpdateError) {
    guard next.version == trusted.nextVersion else {
      throw UpdateError(
        next.version > trusted.version ? .mismatch : .rollback, "root",
        "its version is \(next.version), and the root before it has \(trusted.version)")
    }
    try checkCreated(next.created, UpdateRole.root)
  }

  /// Checks the expiry of the last root of the chain (§5.3.10).
  package func checkExpiry(root: RootDocument) throws(UpdateError) {
    try checkExpiry(root.expires, .root, "the publisher must rotate it; see docs/updates.md")
  }

  /// Returns the floors (lowest accepted versions) that hold once a new root is trusted. A role whose keys were changed
  /// begins without a floor, so that a holder of the old keys cannot block updates with a high version (§5.3.11).
  package func floors(
    _ floors: TrustFloors, after next: RootDocument, following trusted: RootDocument
  ) -> TrustFloors {
    var floors = floors
    floors.root = TrustFloors.Floor(version: next.version, created: next.created)
    let isReleaseChanged = next.keys(of: .release) != trusted.keys(of: .release)
    if isReleaseChanged { floors.release = nil }
    // A timestamp names a version of the release. If the release has lost its floor, the timestamp must lose its floor
    // too.
    if isReleaseChanged || next.keys(of: .timestamp) != trusted.keys(of: .timestamp) {
      (floors.timestamp, floors.namedRelease) = (nil, nil)
    }
    return floors
  }

  // MARK: Timestamp

  /// Checks a timestamp, and returns whether it is new (§5.4.3, §5.4.4). An equal version means that there is no
  /// update.
  package func isNew(_ timestamp: TimestampDocument, _ floors: TrustFloors) throws(UpdateError) -> Bool {
    try checkChannel(timestamp.channel, .timestamp)
    if let floor = floors.timestamp, timestamp.version < floor.version {
      throw rollback(.timestamp, timestamp.version, floor.version)
    }
    let named = max(floors.release?.version ?? 0, floors.namedRelease ?? 0)
    if timestamp.releaseVersion < named {
      throw UpdateError(
        .rollback, "timestamp", "it names release \(timestamp.releaseVersion), but release \(named) was named before",
        advice: "the mirror is out of date, or replays an old file")
    }
    try checkCreated(timestamp.created, .timestamp)
    guard timestamp.expires.seconds - timestamp.created.seconds <= TimestampDocument.longestLife.components.seconds
    else {
      throw UpdateError(
        .malformed, "timestamp",
        "it is valid from \(timestamp.created) to \(timestamp.expires), which is longer than 72 hours")
    }
    try checkExpiry(
      timestamp.expires, .timestamp, "the mirror is out of date, or withholds newer files; ask its owner")
    return floors.timestamp.map { timestamp.version > $0.version } ?? true
  }

  // MARK: Release

  /// Checks the release that a trusted timestamp names (§5.5.2 to §5.5.6, §5.6.2 to §5.6.5). Before this call, the
  /// caller must compare the release's hash and length with
  package func check(
    _ release: ReleaseDocument, named timestamp: TimestampDocument, _ floors: TrustFloors
  ) throws(UpdateError) {
    try checkChannel(release.channel, .release)
    guard release.version == timestamp.releaseVersion else {
      throw UpdateError(
        .mismatch, "release", "its version is \(release.version), but the timestamp names \(timestamp.releaseVersion)")
    }
    if let floor = floors.release, release.version < floor.version {
      throw rollback(.release, release.version, floor.version)
    }
    try checkCreated(release.created, .release)
    try checkExpiry(release)
  }

  /// A release can be installed only while it is valid; an installed release continues to serve (§5.6.5).
  package func checkExpiry(_ release: ReleaseDocument) throws(UpdateError) {
    try checkExpiry(release.expires, .release, "the publisher must sign a newer release")
  }

  /// Compares the length and hash of a file with those in a signed document (§5.5.2, §5.7.2).
  package static func check(
    _ subject: String, length: Int64, hash: String, expectedLength: Int64, expectedHash: String
  ) throws(UpdateError) {
    guard length == expectedLength else {
      throw UpdateError(.mismatch, subject, "it has \(length) bytes, expected \(expectedLength)")
    }
    guard hash == expectedHash else {
      throw UpdateError(
        .mismatch, subject, "its SHA-256 is \(hash.prefix(12))…, expected \(expectedHash.prefix(12))…")
    }
  }

  /// The build of a plugin for this machine. If several builds fit, it is the build with the highest ABI revision.
  package func target(
    _ id: String, of release: ReleaseDocument, for offer: UpdateOffer
  ) throws(UpdateError) -> ReleaseTarget {
    guard release.minimumABI <= offer.abi.upperBound else {
      throw unsupported(
        release, "it needs a host with ABI \(release.minimumABI), this host has \(offer.abi.upperBound)",
        "install a newer version of Sluice")
    }
    let builds = release.targets.filter { $0.id == id }
    guard !builds.isEmpty else { throw unsupported(release, "it has no plugin \"\(id)\"") }
    let native = builds.filter { $0.architecture == offer.architecture }
    guard !native.isEmpty else {
      let machines = Set(builds.map(\.architecture)).sorted().joined(separator: ", ")
      throw unsupported(release, "plugin \"\(id)\" has builds for \(machines), this machine is \(offer.architecture)")
    }
    let usable = native.filter { $0.abi.overlaps(offer.abi) }
    guard !usable.isEmpty else {
      let ranges = native.map { "\($0.abi.lowerBound) to \($0.abi.upperBound)" }.joined(separator: ", ")
      throw unsupported(
        release,
        "plugin \"\(id)\" is built for ABI \(ranges), this host has \(offer.abi.lowerBound) to \(offer.abi.upperBound)")
    }
    let complete = usable.filter { Set($0.features).isSubset(of: offer.features) }
    guard let best = complete.max(by: { $0.abi.upperBound < $1.abi.upperBound }) else {
      let missing = Set(usable.flatMap(\.features)).subtracting(offer.features).sorted().joined(separator: ", ")
      throw unsupported(release, "plugin \"\(id)\" requires \(missing), which this host does not offer")
    }
    guard !release.revoked.contains(best.sha256) else {
      throw UpdateError(
        .refused, "release \(release.version)",
        "it revokes the build of \"\(id)\" that it names (\(best.sha256.prefix(12)))")
    }
    return best
  }

  // MARK: Common

  private func checkChannel(_ channel: String, _ role: UpdateRole) throws(UpdateError) {
    guard channel == self.channel else {
      throw UpdateError(
        .mismatch, role.rawValue, "it belongs to channel \(Self.quoted(channel)), expected \"\(self.channel)\"")
    }
  }

  private func checkExpiry(_ expires: UpdateMoment, _ role: UpdateRole, _ advice: String) throws(UpdateError) {
    guard start < expires else {
      throw UpdateError(.expired, role.rawValue, "it expired at \(expires)", advice: advice)
    }
  }

  /// Fails if the document's creation time is in the future, because this machine's clock is then behind.
  private func checkCreated(_ created: UpdateMoment, _ role: UpdateRole) throws(UpdateError) {
    guard created <= start + Self.clockTolerance else {
      throw clockError("before the \(role.rawValue) was made (\(created))")
    }
  }

  private func rollback(_ role: UpdateRole, _ version: Int64, _ floor: Int64) -> UpdateError {
    UpdateError(
      .rollback, role.rawValue, "its version is \(version), but version \(floor) was accepted before",
      advice: "the mirror is out of date, or replays an old file")
  }

  private func unsupported(_ release: ReleaseDocument, _ reason: String, _ advice: String? = nil) -> UpdateError {
    UpdateError(.unsupported, "release \(release.version)", reason, advice: advice)
  }

  private static func quoted(_ text: String) -> String { PlainText.quote(text) }
}
