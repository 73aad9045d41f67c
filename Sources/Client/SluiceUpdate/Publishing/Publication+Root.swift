package import SluiceUpdateRules

// Changes of keys: a new root needs the signatures of enough keys of the old root and of the new one.
extension Publication {
  /// What a rotation changes in one role.
  package struct Rotation: Sendable {
    package var role: UpdateRole
    /// Public keys to add.
    package var added: [[UInt8]] = []
    package var removed: [KeyID] = []
    /// The new threshold; nil keeps the old one.
    package var threshold: Int?

    package init(_ role: UpdateRole) { self.role = role }
  }

  /// The next root, which does not have enough signatures yet; nil if there is none.
  package func draftRoot() throws(UpdateError) -> RootDocument? {
    try draftRootDocument().map { document throws(UpdateError) in try RootDocument(payload: document.payload) }
  }

  /// Begins the next root. If there are no rotations, the next root differs only in version and expiry.
  /// - Throws: an error if another root waits for signatures, because the changes in it would be lost.
  @discardableResult
  package func rotate(
    _ rotations: [Rotation], at now: UpdateMoment, life: Duration
  ) throws(UpdateError) -> RootDocument {
    if let waiting = try draftRoot() {
      throw UpdateError(
        .usage, "root \(waiting.version)", "it waits for signatures, and its changes would be lost",
        advice: "sign it without other options; or remove \(draftPath("root")), and begin again")
    }
    var next = try root()
    next.version = try Self.version(after: next.version)
    (next.created, next.expires) = (now, now + life)
    for rotation in rotations {
      var role = next.keys(of: rotation.role)
      for key in rotation.removed {
        guard role.keys.remove(key) != nil else {
          throw UpdateError(.usage, "key \(key)", "role \(rotation.role.rawValue) does not have it")
        }
      }
      for bytes in rotation.added {
        let id = try KeyID(of: bytes)
        next.keys[id] = bytes
        guard role.keys.insert(id).inserted else {
          throw UpdateError(.usage, "key \(id)", "role \(rotation.role.rawValue) has it already")
        }
      }
      role.threshold = rotation.threshold ?? role.threshold
      guard (1...max(role.keys.count, 1)).contains(role.threshold), !role.keys.isEmpty else {
        throw UpdateError(
          .usage, "role \(rotation.role.rawValue)",
          "\(role.threshold) signatures are needed, and there would be \(role.keys.count) keys",
          advice: "add keys, or set another --threshold")
      }
      next.roles[rotation.role] = role
    }
    let used = next.roles.values.reduce(into: Set()) { $0.formUnion($1.keys) }
    next.keys = next.keys.filter { used.contains($0.key) }
    let checked = try RootDocument(payload: next.payload)
    try writeDraftRoot(
      SignedDocument(payloadType: UpdateRole.root.payloadType(channel: ""), payload: checked.payload))
    return checked
  }

  /// Adds signatures to the next root. When enough keys of the old and of the new root have signed, it is published.
  package func signRoot(_ signers: [any DocumentSigner]) throws(UpdateError) -> Progress {
    guard var document = try draftRootDocument() else {
      throw UpdateError(
        .usage, "root", "there is no new root to sign", advice: "begin one with \"sluice publish rotate\"")
    }
    let (old, next) = (try root(), try RootDocument(payload: document.payload))
    guard next.version == old.nextVersion else {
      throw UpdateError(
        .usage, "root", "the draft has version \(next.version), the newest root has \(old.version)",
        advice: "begin it again with \"sluice publish rotate\"")
    }
    let allowed = old.keys(of: .root).keys.union(next.keys(of: .root).keys)
    let keys = old.keys.merging(next.keys) { $1 }.filter { allowed.contains($0.key) }
    try document.add(signers, for: keys)
    try writeDraftRoot(document)
    for root in [old, next] {
      let signed = try self.signers(of: document, .root, by: root, "")
      let needed = root.keys(of: .root).threshold
      guard signed >= needed else { return .waiting(signed: signed, needed: needed) }
    }
    try publish(next, document)
    try DurableFile.remove(draftPath("root"))
    return .published(version: next.version)
  }

  private func draftRootDocument() throws(UpdateError) -> SignedDocument? {
    let path = draftPath("root")
    guard let bytes = try DurableFile.readIfPresent(path, limitBytes: UpdateRole.root.limitBytes) else { return nil }
    return try SignedDocument(file: bytes, path)
  }

  private func writeDraftRoot(_ document: SignedDocument) throws(UpdateError) {
    let path = draftPath("root")
    try DurableFile.makeFolder(DurableFile.folder(of: path), mode: 0o755)
    try DurableFile.replace(path, with: document.file, mode: 0o644)
  }
}
