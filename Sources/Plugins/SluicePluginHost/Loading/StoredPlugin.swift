package import Glibc
import SluiceSupport

/// A private copy of one generation of a library.
package final class StoredPlugin: Sendable {
  package let path: String
  package let hash: ContentHash
  /// The number of the copy among all copies with the same content. Two copies that exist at the same time never have
  /// the same number, even in different processes.
  package let generation: Int
  /// Device and inode of the copy, as its file system reports them.
  let device: dev_t
  let inode: ino_t
  /// The object that removes the copy when the object is released. Nil if another process has made the copy, holds it,
  /// and will remove it.
  private let keeper: (any AnyObject & Sendable)?

  /// - Parameter keeper: an object that lives as long as this one, and removes the copy when it is released.
  package init(
    at path: String, _ status: stat, hash: ContentHash, generation: Int, keeper: (any AnyObject & Sendable)?
  ) {
    self.path = path
    self.hash = hash
    self.generation = generation
    self.keeper = keeper
    device = status.st_dev
    inode = status.st_ino
  }

  /// A copy that another process has made, holds, and will remove. Its content is not read.
  ///
  /// - Parameters:
  ///   - hash: the hash of the content, as that process computed it.
  ///   - name: the library's name in messages; by default the path.
  package convenience init(borrowing path: String, hash: ContentHash, as name: String? = nil) throws(PluginError) {
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW), let status = file.status() else {
      throw PluginError(.unreadable, .plugin(name: nil, path: name ?? path), "cannot be read: \(SystemError.text())")
    }
    // The store names the folder of a copy after its generation.
    let generation = path.split(separator: "/").dropLast().last.flatMap { Int($0) } ?? 1
    self.init(at: path, status, hash: hash, generation: generation, keeper: nil)
  }

  /// Opens the copy while the body runs. Returns nil if the copy cannot be opened, or if another file is at its path
  /// now.
  func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW), let status = file.status(),
      status.st_dev == device, status.st_ino == inode
    else { return nil }
    return body(file.raw)
  }
}
