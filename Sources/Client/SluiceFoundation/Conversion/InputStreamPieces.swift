import Dispatch
import Foundation

/// The content of an `InputStream`. It is read on a dispatch queue, because reading blocks until the stream has bytes.
///
/// Unchecked: this is safe because only one task reads it, one piece after the other.
struct InputStreamPieces: AsyncSequence, @unchecked Sendable {
  private static let pieceBytes = 1 << 16

  private let stream: InputStream

  init(_ stream: InputStream) { self.stream = stream }

  /// Opens the stream, and closes it at its end.
  struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let pieces: InputStreamPieces
    private let queue = DispatchQueue(label: "sluice-input-stream")

    fileprivate init(_ pieces: InputStreamPieces) { self.pieces = pieces }

    mutating func next() async throws -> [UInt8]? {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [pieces] in continuation.resume(with: Result { try pieces.read() }) }
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  private func read() throws -> [UInt8]? {
    if stream.streamStatus == .notOpen { stream.open() }
    var buffer = [UInt8](repeating: 0, count: Self.pieceBytes)
    let count = stream.read(&buffer, maxLength: buffer.count)
    guard count > 0 else {
      // `streamError` is not read: if there is no error, its getter in swift-corelibs-foundation ends the process.
      stream.close()
      if count < 0 { throw CocoaError(.fileReadUnknown) }
      return nil
    }
    return Array(buffer[..<count])
  }
}
