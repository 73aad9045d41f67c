import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Reads a file piece by piece: a response body that the engine collected in a file, or a part of a form.
final class HeldFile: Sendable {
  private static let pieceBytes = 1 << 18

  private let body: FileBody
  private let position = Locked((descriptor: CInt(-1), offset: 0))

  init(_ body: FileBody) { self.body = body }

  deinit {
    let descriptor = position.withLock { $0.descriptor }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Reads the whole file.
  static func readAll(_ body: FileBody) async throws(TransactionError) -> [UInt8] {
    let file = HeldFile(body)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(body.byteCount)
    while let piece = try await file.next() { bytes += piece }
    return bytes
  }

  /// The next piece; nil at the end.
  func next() async throws(TransactionError) -> [UInt8]? {
    try await FileThreads.run { self.read() }.get()
  }

  private func read() -> Result<[UInt8]?, TransactionError> {
    position.withLock { position in
      let count = min(Self.pieceBytes, body.byteCount - position.offset)
      guard count > 0 else { return .success(nil) }
      // The path can now lead to a pipe. Opening a pipe without O_NONBLOCK would block.
      if position.descriptor < 0 {
        position.descriptor = SharedState.keepingStreams(
          open(SystemPath.of(body.path), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
      }
      guard position.descriptor >= 0 else { return .failure(failure("open", SystemError.text(errno))) }
      var status = 0
      let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        repeat {
          status = pread(position.descriptor, buffer.baseAddress, count, off_t(position.offset))
        } while status < 0 && errno == EINTR
        filled = max(status, 0)
      }
      guard status > 0 else {
        return .failure(failure("read", status < 0 ? SystemError.text(errno) : "it is too short"))
      }
      position.offset += status
      return .success(piece)
    }
  }

  private func failure(_ verb: String, _ reason: String) -> TransactionError {
    TransactionError(code: .bodyFile, message: "cannot \(verb) \(PlainText.path(body.path)): \(reason)")
  }
}
