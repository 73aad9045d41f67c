package import SluiceMessages
import SluiceTestKit

/// A request body that comes in the given pieces. An empty piece means that no data is available yet. The stream then
/// wakes its reader at once, and the reader asks again in a later turn of its loop.
package enum PieceStream {
  /// - Parameter count: the length that is announced; nil announces no length.
  package static func make(_ pieces: [[UInt8]], announcing count: Int? = nil) -> BodyStream {
    let rest = Watched(pieces[...])
    let itself = WeakStream()
    let made = BodyStream(byteCount: count) { _ in
      let piece = rest.update { $0.popFirst() }
      if piece?.isEmpty == true { itself.stream?.wake() }
      return piece
    }
    itself.stream = made
    return made
  }
}

/// `@unchecked Sendable`: `stream` is set once, before the stream is read.
private final class WeakStream: @unchecked Sendable {
  weak var stream: BodyStream?
}
