import Glibc
import SluiceSupport
package import SluiceUpdateRules

/// The folder that a publisher makes, and that mirrors serve as it is:
///
///     root.json                     the newest root
///     1.root.json, 2.root.json …    every root, so that a client can follow the changes of keys
///     CHANNEL/timestamp.json        names the newest release
///     CHANNEL/N.release.json        every release
///     targets/SHA256.so             every build, by content
///     drafts/                       what is not signed yet; clients do not read it
///
/// Files are written so that a mirror is never inconsistent: builds first, then the release, then the timestamp.
package struct Publication: Sendable {
  package let folder: String

  /// - Parameter folder: a folder that has a root; see ``create(_:root:signers:)``.
  package init(opening folder: String) throws(UpdateError) {
    self.folder = folder
    _ = try root()
  }

  private init(unchecked folder: String) { self.folder = folder }

  /// Creates a repository with its first root.
  /// - Parameter signers: at least as many signers as the role `root` needs.
  package static func create(
    _ folder: String, root: RootDocument, signers: [any DocumentSigner]
  ) throws(UpdateError) -> Publication {
    let publication = Publication(unchecked: folder)
    guard try DurableFile.readIfPresent(publication.rootPath, limitBytes: UpdateRole.root.limitBytes) == nil else {
      throw UpdateError(
        .usage, folder, "it is a repository already", advice: "change its keys with \"sluice publish rotate\"")
    }
    var document = SignedDocument(payloadType: UpdateRole.root.payloadType(channel: ""), payload: root.payload)
    try document.add(signers, of: root, .root)
    try document.requireComplete(.root, by: root, channel: "")
    try DurableFile.makeFolder(folder, mode: 0o755)
    try publication.publish(root, document)
    return publication
  }

  // MARK: Paths

  var rootPath: String { "\(folder)/root.json" }
  func rootPath(_ version: Int64) -> String { "\(folder)/\(version).root.json" }
  func timestampPath(_ channel: String) -> String { "\(folder)/\(channel)/timestamp.json" }
  func releasePath(_ channel: String, _ version: Int64) -> String { "\(folder)/\(channel)/\(version).release.json" }
  func targetPath(_ hash: String) -> String { "\(folder)/targets/\(hash).so" }
  func draftPath(_ name: String) -> String { "\(folder)/drafts/\(name).json" }

  // MARK: What is published

  /// The newest root.
  package func root() throws(UpdateError) -> RootDocument {
    let bytes = try read(rootPath, .root, advice: "begin a repository with \"sluice publish init\"")
    return try RootDocument(payload: SignedDocument(file: bytes, rootPath).payload)
  }

  /// A release of a channel; nil if there is no release with that version.
  package func release(_ version: Int64, of channel: String) throws(UpdateError) -> ReleaseDocument? {
    let path = releasePath(channel, version)
    guard let bytes = try DurableFile.readIfPresent(path, limitBytes: UpdateRole.release.limitBytes) else { return nil }
    return try ReleaseDocument(payload: SignedDocument(file: bytes, path).payload)
  }

  /// The highest version of a channel; 0 if it has no release.
  package func newestRelease(of channel: String) -> Int64 {
    FolderNumbers.highest(in: "\(folder)/\(channel)", suffix: ".release.json")
  }

  /// The timestamp of a channel; nil if none was published yet.
  package func timestamp(of channel: String) throws(UpdateError) -> TimestampDocument? {
    let path = timestampPath(channel)
    guard let bytes = try DurableFile.readIfPresent(path, limitBytes: UpdateRole.timestamp.limitBytes) else {
      return nil
    }
    return try TimestampDocument(payload: SignedDocument(file: bytes, path).payload)
  }

  /// The channels with a release or a draft.
  package var channels: [String] {
    let drafts = FolderListing.names(in: "\(folder)/drafts").compactMap { name in
      name.hasSuffix(".release.json") ? String(name.dropLast(".release.json".count)) : nil
    }
    let published = FolderNumbers.folders(in: folder).filter { newestRelease(of: $0) > 0 }
    return Set(drafts + published).filter(ChannelName.isValid).sorted()
  }

  func read(_ path: String, _ role: UpdateRole, advice: String) throws(UpdateError) -> [UInt8] {
    guard let bytes = try DurableFile.readIfPresent(path, limitBytes: role.limitBytes) else {
      throw UpdateError(.usage, path, "there is no such file", advice: advice)
    }
    return bytes
  }

  func publish(_ root: RootDocument, _ document: SignedDocument) throws(UpdateError) {
    try DurableFile.replace(rootPath(root.version), with: document.file, mode: 0o644)
    try DurableFile.replace(rootPath, with: document.file, mode: 0o644)
  }
}

/// Looks into a folder: finds its subfolders, and the highest number in the names of its files.
enum FolderNumbers {
  static func highest(in folder: String, suffix: String) -> Int64 {
    FolderListing.names(in: folder).compactMap { name in
      name.hasSuffix(suffix) ? Int64(name.dropLast(suffix.count)) : nil
    }.filter { $0 > 0 }.max() ?? 0
  }

  static func folders(in folder: String) -> [String] {
    FolderListing.names(in: folder).filter { name in
      var status = stat()
      return stat("\(folder)/\(name)", &status) == 0 && status.isDirectory
    }
  }
}

extension SignedDocument {
  /// Adds a signature of each signer. An earlier signature by the same key is replaced.
  mutating func add(
    _ signers: [any DocumentSigner], of root: RootDocument, _ role: UpdateRole
  ) throws(UpdateError) {
    let keys = root.keys.filter { root.keys(of: role).keys.contains($0.key) }
    try add(signers, for: keys)
  }

  mutating func add(_ signers: [any DocumentSigner], for keys: [KeyID: [UInt8]]) throws(UpdateError) {
    for signer in signers {
      let signature = try signer.sign(signedBytes, for: keys)
      signatures.removeAll { $0.key == signature.key }
      signatures.append(signature)
    }
  }

  /// Checks the signatures as a client does.
  func requireComplete(_ role: UpdateRole, by root: RootDocument, channel: String) throws(UpdateError) {
    let rules = UpdateRules(
      start: UpdateMoment(seconds: 0), channel: channel, built: UpdateMoment(seconds: 0),
      verifier: try Ed25519Verifier())
    _ = try rules.authenticated(self, as: role, by: root)
  }
}
