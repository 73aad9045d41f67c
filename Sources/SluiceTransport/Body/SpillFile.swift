import Glibc
import SluiceMessages
import SluicePipeline

/// A temporary file that takes a response body too large for memory; removed unless it becomes a ``FileBody``.
final class SpillFile {
  private let descriptor: Int32
  private let path: String
  private var byteCount = 0
  private var isHandedOver = false

  /// Made in `TMPDIR`, or `/tmp`; readable by the owner alone.
  init() throws(TransportError) {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    let name = String(UInt64.random(in: 0 ... .max), radix: 36)
    let path = "\(folder.isEmpty ? "/tmp" : folder)/sluice-body-\(name)"
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("make", path) }
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    close(descriptor)
    if !isHandedOver { unlink(path) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(TransportError) {
    var offset = 0
    while offset < bytes.count {
      let written = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw Self.failure("write", path) }
      offset += written
    }
    byteCount += bytes.count
  }

  /// Hands the file over; it is removed when the last message that refers to it is gone.
  func finish() -> FileBody {
    isHandedOver = true
    return FileBody(path: path, byteCount: byteCount) { [path] in unlink(path) }
  }

  private static func failure(_ verb: String, _ path: String) -> TransportError {
    TransportError(
      .bodyFile, "cannot \(verb) \(path) for a response body: \(SystemError.text(errno))\(SystemError.advice(errno))")
  }
}
