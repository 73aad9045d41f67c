import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The open file of a request body. It is closed when its last user releases it.
final class UploadFile {
  private let file: FileDescriptor
  private let path: String

  init(_ body: FileBody) throws(TransportError) {
    path = body.path
    // O_NONBLOCK is needed in case the file was replaced by a FIFO: opening that would block the loop.
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY) else {
      throw TransportError(
        .bodyFile,
        "cannot open \(PlainText.path(path)) to send it: \(SystemError.text(errno))\(SystemError.advice(errno))",
        isBeforeSending: true)
    }
    guard file.status()?.isRegularFile == true else {
      throw TransportError(
        .bodyFile, "the body in \(PlainText.path(path)) is not a regular file", isBeforeSending: true)
    }
    self.file = file
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(TransportError) -> Int {
    while true {
      let count = pread(file.raw, buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      guard errno == EINTR else {
        throw TransportError(.bodyFile, "cannot read \(PlainText.path(path)): \(SystemError.text(errno))")
      }
    }
  }
}
