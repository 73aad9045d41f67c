import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules

// Writes documents that `sluice publish` does not write: an attacker or another program could write them.
extension ReleaseServer {
  var now: UpdateMoment { Updater.now() }

  /// Returns a document with this payload and a signature of each key. The keys need not belong to the role.
  static func signed(
    _ payload: [UInt8], _ role: UpdateRole, channel: String = "stable", by keys: [SigningKey]
  ) throws -> SignedDocument {
    var document = SignedDocument(payloadType: role.payloadType(channel: channel), payload: payload)
    for key in keys {
      document.signatures.append(try key.sign(document.signedBytes, for: [key.id: key.publicKey]))
    }
    return document
  }

  /// Returns the SHA-256 of the bytes in hex, as in the id of a key.
  static func hash(_ bytes: [UInt8]) throws -> String { try KeyID(of: bytes).hex }

  func put(_ bytes: [UInt8], at name: String) throws {
    try files.write(bytes, to: "repository/\(name)")
  }

  func put(_ document: SignedDocument, at name: String) throws { try put(document.file, at: name) }

  func read(_ name: String) throws -> [UInt8] { try FileTree.read(path(name)) }

  /// Signs the next root and writes it into the repository.
  @discardableResult
  func putRoot(by keys: [SigningKey]? = nil, _ change: (inout RootDocument) throws -> Void = { _ in }) throws
    -> RootDocument
  {
    var root = try publication.root()
    root.version &+= 1
    root.created = now
    try change(&root)
    let document = try Self.signed(root.payload, .root, by: keys ?? Array(rootKeys.prefix(2)))
    try put(document, at: Self.rootPath(root.version))
    try put(document, at: "root.json")
    return root
  }

  /// Signs the next timestamp and writes it into the repository.
  @discardableResult
  func putTimestamp(
    by keys: [SigningKey]? = nil, _ change: (inout TimestampDocument) throws -> Void = { _ in }
  ) throws -> TimestampDocument {
    guard var timestamp = try publication.timestamp(of: "stable") else { throw TestKitError("there is no timestamp") }
    timestamp.version &+= 1
    timestamp.created = now
    timestamp.expires = now + .seconds(3600)
    try change(&timestamp)
    try put(Self.signed(timestamp.payload, .timestamp, by: keys ?? [timestampKey]), at: Self.timestampPath)
    return timestamp
  }

  /// Signs the next release and a timestamp for it, and writes both into the repository.
  @discardableResult
  func putRelease(
    by keys: [SigningKey]? = nil, _ change: (inout ReleaseDocument) throws -> Void = { _ in }
  ) throws -> ReleaseDocument {
    guard var release = try publication.draft(of: "stable") else { throw TestKitError("there is no release") }
    release.version &+= 1
    release.created = now
    release.expires = now + .seconds(86400)
    try change(&release)
    try putRelease(
      Self.signed(release.payload, .release, by: keys ?? Array(releaseKeys.prefix(2))).file, release.version)
    return release
  }

  /// Writes this file as a release into the repository, with a timestamp for it.
  func putRelease(_ file: [UInt8], _ version: Int64) throws {
    try put(file, at: Self.releasePath(version))
    try putTimestamp { timestamp in
      timestamp.releaseVersion = version
      timestamp.releaseLength = Int64(file.count)
      timestamp.releaseHash = try Self.hash(file)
    }
  }
}

extension RootDocument {
  /// Gives a role these keys and no others.
  mutating func setKeys(_ keys: [SigningKey], of role: UpdateRole, threshold: Int) {
    for key in keys { self.keys[key.id] = key.publicKey }
    roles[role] = RoleKeys(keys: Set(keys.map(\.id)), threshold: threshold)
    let used = roles.values.reduce(into: Set()) { $0.formUnion($1.keys) }
    self.keys = self.keys.filter { used.contains($0.key) }
  }
}

extension [UInt8] {
  /// Returns the bytes with one bit changed.
  func flipped(at index: Int) -> [UInt8] {
    var bytes = self
    bytes[index] ^= 1
    return bytes
  }
}
