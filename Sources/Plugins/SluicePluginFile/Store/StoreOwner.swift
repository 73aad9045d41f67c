import Glibc
import SluicePluginHost
import SluiceSupport

/// A file that marks this process as the owner of its copies in one store. The file is locked, and each copy has a hard
/// link to it.
///
/// A lock (`flock`) belongs to the inode, so this single descriptor locks all copies, for any number of mapped
/// generations. The lock ends with the process, even if the process crashes.
package final class StoreOwner: Sendable {
  static let prefix = ".owner-"
  /// The name of the hard link in the folder of a copy.
  static let linkName = "owner"

  private struct Weak: Sendable {
    weak let owner: StoreOwner?
  }

  /// The owners by the path of their store.
  private static let all = Locked<[String: Weak]>([:])

  private let path: String
  private let file: FileDescriptor

  /// The owner of a store, created on first use.
  static func current(in store: String) throws(PluginError) -> StoreOwner {
    try all.withLock { owners throws(PluginError) in
      if let owner = owners[store]?.owner, owner.isThere { return owner }
      let owner = try StoreOwner(in: store)
      owners[store] = Weak(owner: owner)
      return owner
    }
  }

  private init(in store: String) throws(PluginError) {
    path = "\(store)/\(Self.prefix)\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    guard let file = FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600) else {
      throw StoreFolder.error(store, "cannot be written to")
    }
    guard flock(file.raw, LOCK_SH | LOCK_NB) == 0 else { throw StoreFolder.error(store, "a file cannot be locked") }
    self.file = file
  }

  deinit { unlink(path) }

  /// Marks the copy in a folder as owned by this process, before the folder gets its name.
  func own(_ folder: String) -> Bool { link(path, "\(folder)/\(Self.linkName)") == 0 }

  /// Whether the owner's file still has its path. It does not if the store was removed, even if it was created again.
  private var isThere: Bool {
    var status = stat()
    guard let own = file.status(), lstat(path, &status) == 0 else { return false }
    return status.st_dev == own.st_dev && status.st_ino == own.st_ino
  }
}
