import Glibc

/// A private copy of one generation of a library. As long as this lives the copy is locked; then it is removed.
package final class StoredPlugin: Sendable {
  package let path: String
  package let hash: ContentHash
  /// Counted per content; no two copies that exist at the same time share one, whatever their process.
  package let generation: Int
  /// Device and inode of the copy, as its file system tells them.
  let device: dev_t
  let inode: ino_t
  private let file: FileDescriptor
  private let folder: String

  init(_ file: consuming FileDescriptor, _ status: stat, folder: String, hash: ContentHash, generation: Int) {
    self.file = file
    self.folder = folder
    self.hash = hash
    self.generation = generation
    device = status.st_dev
    inode = status.st_ino
    path = "\(folder)/\(StagingFolder.fileName)"
  }

  deinit {
    unlink(path)
    rmdir(folder)
    rmdir(LibraryPermissions.folder(of: folder))
  }

  /// The descriptor that holds the lock, for the length of a call.
  func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result { body(file.raw) }
}
