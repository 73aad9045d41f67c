import Glibc
import SluiceJSON
import SluiceMessages
import SluiceSupport
import SluiceUpdateRules

/// One line of the audit log: what happened to a release, and by whose signatures.
struct UpdateEvent: Sendable {
  enum Kind: String, Sendable {
    case root, accepted, staged, installed, passed, left, returned, refused, revoked, held, failed, none
  }

  var kind: Kind
  /// The release; nil if it is not known.
  var release: Int64?
  /// The plugin, if the event is about a plugin.
  var plugin: String?
  /// The SHA-256 of a build, or of the release's file.
  var hash: String?
  /// The keys whose signatures were valid.
  var keys: [KeyID] = []
  var message: String

  var line: String {
    let release = self.release.map { "release \($0) " } ?? ""
    let plugin = self.plugin.map { "\"\($0)\" " } ?? ""
    let hash = self.hash.map { "\($0.prefix(12)) " } ?? ""
    let keys = self.keys.isEmpty ? "" : " (signed by \(self.keys.sorted().map(\.description).joined(separator: ", ")))"
    return "update: \(release)\(plugin)\(hash)\(kind.rawValue): \(message)\(keys)"
  }

  func document(at moment: UpdateMoment) -> JSONValue {
    let document: JSONValue = [
      "at": JSONValue("\(moment)"), "event": JSONValue(kind.rawValue),
      "message": JSONValue(PlainText.line(message, limitBytes: 4096)),
    ]
    document["release"] = release.map { JSONValue($0) }
    document["plugin"] = plugin.map { JSONValue($0) }
    document["sha256"] = hash.map { JSONValue($0) }
    if !keys.isEmpty { document["keys"] = .array(of: keys.sorted().map(\.hex)) }
    return document
  }
}

/// The file with these lines. It is for people; no decision of an updater depends on it.
struct UpdateHistory: Sendable {
  static let limitBytes = 1 << 20
  let path: String

  /// Adds a line. If the file is then too long, it is renamed to `PATH.1`, which replaces an earlier file of that name.
  func append(_ event: UpdateEvent, at moment: UpdateMoment) {
    guard let file = FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
    else { return }
    _ = file.writeAll(DocumentText.bytes(event.document(at: moment)))
    if let status = file.status(), status.st_size > Self.limitBytes { rename(path, "\(path).1") }
  }

  /// The newest events, the oldest first.
  func newest(_ count: Int) -> [JSONValue] {
    let bytes = (try? DurableFile.readIfPresent(path, limitBytes: Self.limitBytes * 2)) ?? []
    return bytes.split(separator: UInt8(ascii: "\n")).suffix(count).compactMap { try? JSONValue(parsing: Array($0)) }
  }
}
