import Glibc
import SluiceLocks

/// Builds that did harm while they served, by their content: refused until somebody takes them off the list.
///
/// Kept in the store's folder `refused`, a file with the reason for each hash, so that a restart remembers. What cannot be
/// written there holds for the life of the process.
package final class RefusalList: Sendable {
  private static let longestReasonBytes = 4096

  private let folder: String
  private let reasons: Locked<[String: String]>

  package init(store: PluginStore) {
    folder = store.path + "/refused"
    var found: [String: String] = [:]
    for name in FolderListing.names(in: folder) where name.utf8.count == 64 {
      if let file = FileDescriptor(opening: "\(folder)/\(name)", O_RDONLY | O_NOFOLLOW),
        let bytes = file.readAll(capacity: Self.longestReasonBytes)
      {
        found[name] = String(decoding: bytes, as: UTF8.self)
      }
    }
    reasons = Locked(found)
  }

  /// SHA-256 in hex, and why.
  package var all: [String: String] { reasons.withLock { $0 } }

  /// Why that content is refused; nil where it is not.
  package func reason(for hash: ContentHash) -> String? { reasons.withLock { $0[hash.hex] } }

  package func add(_ hash: String, because reason: String) {
    reasons.withLock { $0[hash] = reason }
    mkdir(folder, 0o700)
    guard
      let file = FileDescriptor(opening: "\(folder)/\(hash)", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
    else { return }
    _ = file.writeAll(Array(reason.utf8.prefix(Self.longestReasonBytes)))
  }

  /// Takes one hash off the list; nil takes off all.
  package func clear(_ hash: String? = nil) {
    let cleared = reasons.withLock { reasons in
      let hashes = hash.map { reasons[$0] == nil ? [] : [$0] } ?? Array(reasons.keys)
      for hash in hashes { reasons[hash] = nil }
      return hashes
    }
    for hash in cleared { unlink("\(folder)/\(hash)") }
  }
}
