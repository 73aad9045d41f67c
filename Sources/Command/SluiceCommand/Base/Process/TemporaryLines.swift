import Glibc
import SluiceMessages
import SluiceSupport

/// Lines that are written first and read later. They are in a file without a name, because they can be too many to keep
/// in memory.
struct TemporaryLines: ~Copyable {
  private static let blockBytes = 1 << 20

  private let descriptor: Int32
  private let folder: String
  private var buffer: [UInt8] = []

  init() throws(CommandError) {
    folder = TemporaryFiles.folder
    let path = "\(folder)/sluice-\(TemporaryFiles.randomName)"
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.unwritten(folder, errno) }
    unlink(path)
  }

  deinit { close(descriptor) }

  /// - Parameter line: the line without its line end; empty for a blank line.
  mutating func append(_ line: [UInt8]) throws(CommandError) {
    buffer += line
    buffer.append(0x0A)
    if buffer.count >= Self.blockBytes { try write() }
  }

  private mutating func write() throws(CommandError) {
    if let failure = buffer.withUnsafeBytes({ Descriptors.write($0, to: descriptor) }) {
      throw Self.unwritten(folder, failure)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// The lines, read from the first one.
  consuming func input(name: String, limitBytes: Int) throws(CommandError) -> InputLines {
    try write()
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0, lseek(copy, 0, SEEK_SET) == 0 else { throw Self.unwritten(folder, errno) }
    return InputLines(owning: copy, name: name, limitBytes: limitBytes)
  }

  private static func unwritten(_ folder: String, _ errorNumber: Int32) -> CommandError {
    CommandError(
      .failed,
      "cannot write a temporary file in \(PlainText.path(folder)): \(String(cString: strerror(errorNumber)));"
        + " make room there, or set TMPDIR")
  }
}
