import Glibc
import SluiceSupport

/// Identifies a regular file, whatever path or link was used to open it.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let inode: ino_t

  /// Returns nil if the descriptor is not open on a regular file.
  init?(of descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Returns nil if there is no regular file at the path.
  init?(at path: String) {
    guard let status = SystemPath.status(of: path) else { return nil }
    self.init(status)
  }

  /// - Parameter path: it ends with a NUL, and need not be UTF-8.
  init?(atPath path: [CChar]) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    device = status.st_dev
    inode = status.st_ino
  }
}
