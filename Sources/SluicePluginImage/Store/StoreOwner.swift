import Glibc
import SluiceSupport

/// This process as the owner of copies in one store: a locked file that each of its copies has a hard link to.
///
/// A lock (`flock`) is the inode's, so that the one descriptor here holds those of all copies, however many generations
/// stay mapped. It ends with the process, in whichever way that ends.
package final class StoreOwner: Sendable {
  static let prefix = ".owner-"
  /// The link in the folder of a copy.
  static let linkName = "owner"

  private struct Weak: Sendable {
    weak let owner: StoreOwner?
  }

  /// By the path of the store.
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

  /// Makes the copy in a folder this process's, before it gets its name.
  func own(_ folder: String) -> Bool { link(path, "\(folder)/\(Self.linkName)") == 0 }

  /// False where somebody removed the store, and maybe made a new one.
  private var isThere: Bool {
    var status = stat()
    guard let own = file.status(), lstat(path, &status) == 0 else { return false }
    return status.st_dev == own.st_dev && status.st_ino == own.st_ino
  }
}
