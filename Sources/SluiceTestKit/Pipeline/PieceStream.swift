public import SluiceMessages

/// A request body that comes in given pieces. After an empty one there is nothing until the stream wakes its reader, which it
/// does at once: the reader asks again in a later turn of its loop.
public enum PieceStream {
  /// - Parameter count: the length that is announced; nil for none.
  public static func make(_ pieces: [[UInt8]], announcing count: Int? = nil) -> BodyStream {
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

/// Sendable: set once, before the stream is read.
private final class WeakStream: @unchecked Sendable {
  weak var stream: BodyStream?
}
