package import Glibc
import SluiceSupport

/// A private copy of one generation of a library. The copy is locked as long as this object exists, and is removed
/// afterwards.
package final class StoredPlugin: Sendable {
  package let path: String
  package let hash: ContentHash
  /// Counted per content; two copies that exist at the same time never have the same number, even in different
  /// processes.
  package let generation: Int
  /// Device and inode of the copy, as its file system reports them.
  let device: dev_t
  let inode: ino_t
  private let folder: String
  /// Kept alive for its lock; nil in tests.
  private let owner: StoreOwner?
  /// False if another process made the copy and will remove it.
  private let isOwn: Bool

  package init(
    _ status: stat, folder: String, hash: ContentHash, generation: Int, owner: StoreOwner? = nil, isOwn: Bool = true
  ) {
    self.owner = owner
    self.isOwn = isOwn
    self.folder = folder
    self.hash = hash
    self.generation = generation
    device = status.st_dev
    inode = status.st_ino
    path = "\(folder)/\(StagingFolder.fileName)"
  }

  /// A copy that another process has made, holds, and will remove.
  package static func borrowed(_ image: LibraryImage) throws(PluginError) -> StoredPlugin {
    let folder = LibraryPermissions.folder(of: image.realPath)
    guard let file = FileDescriptor(opening: image.realPath, O_RDONLY | O_NOFOLLOW), let status = file.status() else {
      throw PluginError(.unreadable, .plugin(name: nil, path: image.path), "cannot be read: \(SystemError.text())")
    }
    let generation = folder.split(separator: "/").last.flatMap { Int($0) } ?? 1
    return StoredPlugin(status, folder: folder, hash: image.hash, generation: generation, isOwn: false)
  }

  deinit {
    guard isOwn else { return }
    unlink(path)
    unlink("\(folder)/\(StoreOwner.linkName)")
    rmdir(folder)
    rmdir(LibraryPermissions.folder(of: folder))
  }

  /// Opens the copy while the body runs. Returns nil if it cannot be opened, or if another file is at its path now.
  func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW), let status = file.status(),
      status.st_dev == device, status.st_ino == inode
    else { return nil }
    return body(file.raw)
  }
}
