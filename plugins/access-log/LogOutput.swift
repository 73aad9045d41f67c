import Glibc
import SluiceSupport

/// The output for lines: standard error, or a file that is opened again after it was rotated. Only one thread at a time
/// may use it.
struct LogOutput: Sendable {
  private static var lineBreak: UInt8 { UInt8(ascii: "\n") }

  /// Nil for standard error.
  private let path: String?
  private var descriptor: CInt = -1
  private var device: dev_t = 0
  private var inode: ino_t = 0
  /// Whether the output ends in the middle of a line, because a failure cut off the last write.
  private var isMidLine = false

  /// The path "-" means standard error. A relative path is resolved now, because another plugin could change the current
  /// folder later.
  init(path: String) {
    self.path = path == "-" ? nil : SystemPath.fromCurrentFolder(path)
  }

  /// A failure of the file, for the log of the host.
  struct Failure: Error, CustomStringConvertible {
    var description: String
    /// How many lines were written completely before the failure.
    var writtenLines: Int

    init(_ verb: String, _ path: String?, _ number: CInt, writtenLines: Int = 0) {
      self.writtenLines = writtenLines
      description = "cannot \(verb) \(path ?? "standard error"): \(Self.reason(path, number))"
    }

    private static func reason(_ path: String?, _ number: CInt) -> String {
      guard number == ENXIO, let path else { return String(cString: strerror(number)) }
      if OutputTarget(at: path) == .socket { return "it is a socket; name a file" }
      guard OutputTarget.isPipe(at: path) else { return String(cString: strerror(number)) }
      return "no process has opened the pipe for reading; start its reader first"
    }
  }

  /// Opens the file to append to it; only its owner can read a new file. A FIFO must have a reader already.
  mutating func open() throws(Failure) {
    guard let path else {
      descriptor = STDERR_FILENO
      return
    }
    close()
    let opened = OutputTarget.open(path, O_WRONLY | O_APPEND | O_CREAT, mode: 0o600, limit: .zero)
    guard opened >= 0 else { throw Failure("open", path, errno) }
    descriptor = opened
    isMidLine = false
    var facts = stat()
    guard fstat(opened, &facts) == 0 else { return }
    device = facts.st_dev
    inode = facts.st_ino
  }

  /// Writes whole lines. First opens the file again if it was renamed or removed. If a failure cut off the previous
  /// line, begins on a new line.
  mutating func write(_ lines: [UInt8]) throws(Failure) {
    if descriptor < 0 || wasRotated { try open() }
    if isMidLine { try writeAll([Self.lineBreak]) }
    try writeAll(lines)
  }

  private mutating func writeAll(_ bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { ThreadWatcher.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 {
        rest = rest.dropFirst(written)
        isMidLine = bytes[rest.startIndex - 1] != Self.lineBreak
      } else if errno == EAGAIN {
        // Standard error can be a pipe that another process has made non-blocking.
        ThreadWatcher.waitUntilWritable(descriptor, milliseconds: 1000)
      } else if errno != EINTR {
        let number = errno
        throw Failure("write to", path, number, writtenLines: bytes[..<rest.startIndex].count { $0 == Self.lineBreak })
      }
    }
  }

  mutating func close() {
    if path != nil, descriptor >= 0 { _ = Glibc.close(descriptor) }
    descriptor = -1
  }

  private var wasRotated: Bool {
    guard let path else { return false }
    var facts = stat()
    return stat(path, &facts) != 0 || facts.st_ino != inode || facts.st_dev != device
  }
}
