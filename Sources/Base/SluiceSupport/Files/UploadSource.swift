import Glibc

/// What is sent of a file.
package enum UploadSource: Sendable {
  /// A file of this many bytes, which can be read later.
  case file(byteCount: Int)
  /// The content of a file whose size the system does not know before it is read, as in `/proc` and `/sys`.
  case content([UInt8])

  /// Why a file cannot be sent.
  package enum Failure: Error, Sendable {
    /// An error number of the system.
    case system(CInt)
    case notRegular
    case tooLarge(limitBytes: Int)

    package var text: String {
      switch self {
      case .system(let number): SystemError.text(number) + SystemError.advice(number)
      case .notRegular: "it is not a regular file"
      case .tooLarge(let limitBytes): "its size is unknown, and it has more than \(limitBytes) bytes"
      }
    }
  }

  /// The limit for a content whose size is unknown.
  package static let limitBytes = 64 << 20

  /// Examines a regular file. Reads it only if stat(2) does not tell its size.
  package init(at path: String, limitBytes: Int = Self.limitBytes) throws(Failure) {
    guard let status = SystemPath.status(of: path) else { throw .system(errno) }
    guard status.isRegularFile else { throw .notRegular }
    guard !Self.isSizeCertain(status) else {
      self = .file(byteCount: Int(status.st_size))
      return
    }
    // O_NONBLOCK, because reading the messages of the kernel would wait for the next one.
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY) else { throw .system(errno) }
    guard file.status()?.isRegularFile == true else { throw .notRegular }
    guard let bytes = file.readAll(capacity: limitBytes + 1) else { throw .system(errno) }
    guard bytes.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
    self = .content(bytes)
  }

  /// A file of `/proc` has the size 0, and one of `/sys` the size of a page. Neither has blocks on a disk. A small file
  /// with blocks in another place, such as a sparse file, is read too, which does no harm.
  private static func isSizeCertain(_ status: stat) -> Bool {
    status.st_size > 0 && (status.st_blocks > 0 || Int(status.st_size) > sysconf(CInt(_SC_PAGESIZE)))
  }
}
