import SluiceMessages
import SluicePluginFile
import SluicePluginHost
package import SluiceUpdateRules

// Releases. A draft collects changes, and signatures complete it.
extension Publication {
  /// Whether a document has enough signatures to be published.
  package enum Progress: Sendable, Hashable {
    /// The document is published under this version.
    case published(version: Int64)
    /// The document waits in `drafts` for more signatures.
    case waiting(signed: Int, needed: Int)
  }

  // MARK: The draft

  /// The draft of a channel. If there is no draft, the newest release, from which the next draft begins.
  package func draft(of channel: String) throws(UpdateError) -> ReleaseDocument? {
    try Self.checkChannel(channel)
    if let document = try draftDocument(of: channel) { return try ReleaseDocument(payload: document.payload) }
    return try release(newestRelease(of: channel), of: channel)
  }

  /// Changes the draft. The draft loses its signatures and gets the next version.
  /// - Parameters:
  ///   - life: how long clients can install the release.
  ///   - change: changes the targets, the revoked builds and the minimum ABI.
  @discardableResult
  package func edit(
    _ channel: String, at now: UpdateMoment, life: Duration,
    _ change: (inout ReleaseDocument) throws(UpdateError) -> Void
  ) throws(UpdateError) -> ReleaseDocument {
    let old = try draft(of: channel)
    var draft = ReleaseDocument(
      channel: channel, version: try Self.version(after: newestRelease(of: channel)), created: now, expires: now + life,
      minimumABI: old?.minimumABI ?? 1, targets: old?.targets ?? [], revoked: old?.revoked ?? [])
    try change(&draft)
    let revoked = draft.targets.filter { draft.revoked.contains($0.sha256) }
    guard revoked.isEmpty else {
      throw UpdateError(
        .usage, "release \(draft.version)",
        "the build of \"\(revoked[0].id)\" (\(revoked[0].sha256.prefix(12))) is both a target and revoked",
        advice: "add another build of it, or take the plugin out with --remove")
    }
    // The draft is parsed as clients parse it, so that nobody signs a draft that clients would refuse.
    let checked = try ReleaseDocument(payload: draft.payload)
    try writeDraft(
      SignedDocument(payloadType: UpdateRole.release.payloadType(channel: channel), payload: checked.payload),
      channel)
    return checked
  }

  /// Copies a library into the repository, and describes it.
  /// - Parameters:
  ///   - id: names the plugin in configurations.
  ///   - version: the plugin's version; nil takes the version in the library's note.
  package func target(
    _ library: String, id: String, version: String? = nil
  ) throws(UpdateError) -> ReleaseTarget {
    guard ReleaseTarget.isID(id) else {
      throw UpdateError(
        .usage, "id \"\(id)\"", "expected \(PortableName.description(limit: 128))")
    }
    let facts: LibraryFacts, image: LibraryImage
    do {
      image = try LibraryImage(reading: library, sizeLimitBytes: Int(ReleaseTarget.limitBytes))
      facts = try Preflight.facts(of: image, for: HostOffer().allowing(Set(LibraryHazard.allCases)))
    } catch {
      throw UpdateError(
        .usage, library, "cannot be published: \(error.reason)", advice: error.code == .notFound ? nil : error.advice)
    }
    guard let note = facts.note else {
      throw UpdateError(
        .usage, library, "has no note, so its ABI range is not known",
        advice: "declare the plugin with SLUICE_PLUGIN (docs/abi.md)")
    }
    let path = targetPath(image.hash.hex)
    try DurableFile.makeFolder(DurableFile.folder(of: path), mode: 0o755)
    try DurableFile.replace(path, with: image.bytes, mode: 0o644)
    return ReleaseTarget(
      id: id, version: version ?? note.version ?? "", architecture: facts.machine, abi: note.abi,
      sha256: image.hash.hex, length: Int64(facts.sizeBytes), features: facts.requiredFeatures.names)
  }

  // MARK: Signatures

  /// Adds signatures to the draft. When enough keys have signed, it is published.
  package func sign(
    _ channel: String, _ signers: [any DocumentSigner]
  ) throws(UpdateError) -> Progress {
    try Self.checkChannel(channel)
    guard var document = try draftDocument(of: channel) else {
      throw UpdateError(
        .usage, "channel \"\(channel)\"", "it has no draft", advice: "begin one with \"sluice publish add\"")
    }
    let root = try root()
    let draft = try ReleaseDocument(payload: document.payload)
    try document.add(signers, of: root, .release)
    try writeDraft(document, channel)
    let signed = try self.signers(of: document, .release, by: root, channel)
    let needed = root.keys(of: .release).threshold
    guard signed >= needed else { return .waiting(signed: signed, needed: needed) }
    let path = releasePath(channel, draft.version)
    try DurableFile.makeFolder(DurableFile.folder(of: path), mode: 0o755)
    try DurableFile.create(document.file, at: path, mode: 0o644)
    try removeDraft(channel)
    return .published(version: draft.version)
  }

  /// Publishes a timestamp for the newest release.
  /// - Parameter life: how long the timestamp is valid, at most 72 hours.
  package func stamp(
    _ channel: String, _ signers: [any DocumentSigner], at now: UpdateMoment, life: Duration
  ) throws(UpdateError) -> TimestampDocument {
    try Self.checkChannel(channel)
    guard life <= TimestampDocument.longestLife else {
      throw UpdateError(.usage, "timestamp", "it can be valid for at most 72 hours")
    }
    let version = newestRelease(of: channel)
    guard version > 0 else {
      throw UpdateError(
        .usage, "channel \"\(channel)\"", "it has no signed release", advice: "sign one with \"sluice publish sign\"")
    }
    let path = releasePath(channel, version)
    let bytes = try read(path, .release, advice: "sign a release first: sluice publish sign")
    let root = try root()
    let release = try SignedDocument(file: bytes, path)
    try release.requireComplete(.release, by: root, channel: channel)
    let timestamp = TimestampDocument(
      channel: channel, version: try Self.version(after: try self.timestamp(of: channel)?.version ?? 0), created: now,
      expires: now + life, releaseVersion: version, releaseHash: try ContentHash.hex(of: bytes),
      releaseLength: Int64(bytes.count))
    var document = SignedDocument(
      payloadType: UpdateRole.timestamp.payloadType(channel: channel), payload: timestamp.payload)
    try document.add(signers, of: root, .timestamp)
    try document.requireComplete(.timestamp, by: root, channel: channel)
    try DurableFile.replace(timestampPath(channel), with: document.file, mode: 0o644)
    return timestamp
  }

  func signers(
    of document: SignedDocument, _ role: UpdateRole, by root: RootDocument, _ channel: String
  ) throws(UpdateError) -> Int {
    let rules = UpdateRules(
      start: UpdateMoment(seconds: 0), channel: channel, built: UpdateMoment(seconds: 0),
      verifier: try Ed25519Verifier())
    return try rules.signers(of: document, as: role, by: root).count
  }

  static func version(after version: Int64) throws(UpdateError) -> Int64 {
    guard version < .max else { throw UpdateError(.usage, "version \(version)", "there is no higher version") }
    return version + 1
  }

  private static func checkChannel(_ channel: String) throws(UpdateError) {
    guard ChannelName.isValid(channel), !["targets", "drafts"].contains(channel) else {
      throw UpdateError(
        .usage, "channel \"\(channel)\"",
        "expected \(PortableName.description(limit: 64)), and neither \"targets\" nor \"drafts\"")
    }
  }

  private func draftDocument(of channel: String) throws(UpdateError) -> SignedDocument? {
    let path = draftPath("\(channel).release")
    guard let bytes = try DurableFile.readIfPresent(path, limitBytes: UpdateRole.release.limitBytes) else { return nil }
    return try SignedDocument(file: bytes, path)
  }

  private func writeDraft(_ document: SignedDocument, _ channel: String) throws(UpdateError) {
    let path = draftPath("\(channel).release")
    try DurableFile.makeFolder(DurableFile.folder(of: path), mode: 0o755)
    try DurableFile.replace(path, with: document.file, mode: 0o644)
  }

  private func removeDraft(_ channel: String) throws(UpdateError) {
    try DurableFile.remove(draftPath("\(channel).release"))
  }
}
