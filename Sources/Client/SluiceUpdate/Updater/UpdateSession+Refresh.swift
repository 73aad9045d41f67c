import SluiceAssembly
import SluicePluginHost
import SluiceUpdateRules

// Fetches and verifies the documents, by the client workflow of TUF (§5.3 to §5.6).
extension UpdateSession {
  /// Follows the roots, then the timestamp, then the release. When this returns or throws, all accepted documents are
  /// on disk.
  /// - Returns: the newest release that was accepted.
  func refresh(_ mirror: Mirror) async throws(UpdateError) -> ReleaseDocument {
    try rules.checkClock(state.floors)
    let root = try await followRoots(mirror)
    let timestamp = try await timestamp(mirror, root)
    if let accepted = state.accepted, accepted.hash == timestamp.releaseHash, isAccepted(accepted),
      let release = try? folder.release(accepted.version, hash: accepted.hash)
    {
      return release
    }
    if let accepted = state.accepted, isAccepted(accepted), accepted.version == timestamp.releaseVersion,
      accepted.hash != timestamp.releaseHash
    {
      throw UpdateError(
        .rollback, "release \(accepted.version)", "it was accepted before with other content",
        advice: "the publisher must give it a higher version")
    }
    return try await release(mirror, root, timestamp)
  }

  /// Whether a release that was accepted before is still accepted. It is not if the keys of the role have changed since
  /// then: it must then be verified again.
  func isAccepted(_ accepted: UpdateState.Accepted) -> Bool {
    state.floors.release?.version == accepted.version
  }

  private func followRoots(_ mirror: Mirror) async throws(UpdateError) -> RootDocument {
    var trusted = try root()
    for _ in 0..<UpdateRules.rootLimit {
      guard let version = trusted.nextVersion else { break }
      let name = "\(version).root.json"
      guard let bytes = try await document(mirror, name, UpdateRole.root.limitBytes) else { break }
      let document = try SignedDocument(file: bytes, name)
      let payload = try rules.authenticated(document, as: .root, by: trusted)
      let next = try RootDocument(payload: payload)
      _ = try rules.authenticated(document, as: .root, by: next)
      try rules.check(root: next, after: trusted)
      state.floors = rules.floors(state.floors, after: next, following: trusted)
      state.root = bytes
      try save()
      let keys = try rules.signers(of: document, as: .root, by: next)
      updater.note(
        UpdateEvent(
          kind: .root, hash: try ContentHash.hex(of: bytes), keys: Array(keys),
          message: "root \(next.version) takes the place of root \(trusted.version)"))
      trusted = next
    }
    try rules.checkExpiry(root: trusted)
    return trusted
  }

  private func timestamp(_ mirror: Mirror, _ root: RootDocument) async throws(UpdateError) -> TimestampDocument {
    let name = "\(updater.settings.channel)/timestamp.json"
    let bytes = try await required(mirror, name, UpdateRole.timestamp.limitBytes)
    let document = try SignedDocument(file: bytes, name)
    let payload = try rules.authenticated(document, as: .timestamp, by: root)
    let timestamp = try TimestampDocument(payload: payload)
    if try rules.isNew(timestamp, state.floors) {
      state.floors.timestamp = TrustFloors.Floor(version: timestamp.version, created: timestamp.created)
      state.floors.namedRelease = timestamp.releaseVersion
      try save()
    }
    return timestamp
  }

  private func release(
    _ mirror: Mirror, _ root: RootDocument, _ timestamp: TimestampDocument
  ) async throws(UpdateError) -> ReleaseDocument {
    let name = "\(updater.settings.channel)/\(timestamp.releaseVersion).release.json"
    let bytes = try await required(mirror, name, Int(timestamp.releaseLength))
    let hash = try ContentHash.hex(of: bytes)
    try UpdateRules.check(
      name, length: Int64(bytes.count), hash: hash, expectedLength: timestamp.releaseLength,
      expectedHash: timestamp.releaseHash)
    let document = try SignedDocument(file: bytes, name)
    let payload = try rules.authenticated(document, as: .release, by: root)
    let release = try ReleaseDocument(payload: payload)
    try rules.check(release, named: timestamp, state.floors)
    try folder.write(bytes, of: release.version)
    state.floors.release = TrustFloors.Floor(version: release.version, created: release.created)
    // After a change of keys, the publisher can use a version again. The new release with the version of the held one
    // has not failed, so it is not held.
    if state.accepted?.hash != hash, state.held?.release == release.version { state.held = nil }
    let keys = try rules.signers(of: document, as: .release, by: root).sorted()
    state.accepted = UpdateState.Accepted(version: release.version, hash: hash, keys: keys)
    let newlyRevoked = release.revoked.subtracting(state.revoked)
    state.revoked = release.revoked
    try save()
    updater.note(
      UpdateEvent(
        kind: .accepted, release: release.version, hash: hash, keys: keys,
        message: "its signatures are valid; it expires at \(release.expires)"))
    for hash in newlyRevoked.sorted() {
      updater.note(
        UpdateEvent(kind: .revoked, release: release.version, hash: hash, message: "this build must not serve"))
    }
    return release
  }

  private func required(
    _ mirror: Mirror, _ name: String, _ limitBytes: Int
  ) async throws(UpdateError) -> [UInt8] {
    guard let bytes = try await document(mirror, name, limitBytes) else {
      throw UpdateError(
        .network, "\(updater.settings.url)/\(name)", "the server does not have it",
        advice: "check update.url and update.channel; the publisher might not have made a timestamp yet")
    }
    return bytes
  }

  private func document(
    _ mirror: Mirror, _ name: String, _ limitBytes: Int
  ) async throws(UpdateError) -> [UInt8]? {
    try await unlocked { () throws(UpdateError) in try await mirror.document(name, limitBytes: limitBytes) }
  }
}
