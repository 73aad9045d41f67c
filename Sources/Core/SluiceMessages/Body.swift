import Synchronization

/// The body of a message.
public enum Body: Sendable {
  case empty
  case bytes([UInt8])
  /// Content in a file: an upload, or a response that was too large for memory.
  case file(FileBody)
  /// Content produced piece by piece, usually only once; it can then not be sent a second time.
  case stream(BodyStream)

  /// Text as UTF-8.
  public static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }

  /// The number of bytes, if it is known before sending.
  public var byteCount: Int? {
    switch self {
    case .empty: 0
    case .bytes(let bytes): bytes.count
    case .file(let file): file.byteCount
    case .stream(let stream): stream.byteCount
    }
  }

  /// Whether the length is known to be 0; false for a stream of unknown length, even if it will produce nothing.
  public var isEmpty: Bool { byteCount == 0 }

  /// The bytes of a body in memory, and no bytes for an empty body; nil for a file or a stream.
  public var bytes: [UInt8]? {
    switch self {
    case .empty: []
    case .bytes(let bytes): bytes
    case .file, .stream: nil
    }
  }

  /// Whether the body can be sent again: by a retry, or by a redirect that keeps the method.
  package var isReplayable: Bool {
    if case .stream(let stream) = self { stream.renewed != nil || stream.isUnread?() == true } else { true }
  }
}

/// A file that holds a body.
public final class FileBody: Sendable {
  /// The file is opened when the body is sent or read, not before.
  public let path: String
  /// The size of the body. A shorter file fails the request with `body_file`; bytes beyond the size are not sent.
  public let byteCount: Int
  private let onRelease: (@Sendable () -> Void)?

  /// - Parameter onRelease: runs when the last message that refers to the file is released. For a spilled body, it
  ///   removes the file.
  public init(path: String, byteCount: Int, onRelease: (@Sendable () -> Void)? = nil) {
    self.path = path
    self.byteCount = byteCount
    self.onRelease = onRelease
  }

  deinit { onRelease?() }
}

/// A request body that is produced while it is sent.
///
/// A producer that has no data yet returns an empty piece, and calls ``wake()`` when it has more, has reached its end,
/// or has failed. The reader does not ask again before that.
public final class BodyStream: Sendable {
  /// The total size, if the producer knows it; if it is nil, the request is sent in chunks.
  public let byteCount: Int?
  /// Returns the next piece of at most `maximum` bytes; an empty piece if no data is available yet, `nil` at the end.
  /// Called on the loop of the transaction; must not block.
  package let read: @Sendable (_ maximum: Int) throws -> [UInt8]?
  /// Returns the trailers that replace the request's trailers; nil keeps the request's trailers. Called on the loop,
  /// once, after the last piece.
  package let trailers: (@Sendable () -> HeaderFields)?
  /// Makes another stream with the same content, from its beginning; nil if the content can be produced only once.
  package let renewed: (@Sendable () -> BodyStream)?
  /// Whether nothing was read yet, so that a stream which can be produced only once can still be sent from its beginning;
  /// nil if the stream does not say so. Called on the loop.
  package let isUnread: (@Sendable () -> Bool)?
  private let reader = Mutex<Reader?>(nil)
  private let isTaken = Mutex(false)

  /// Wraps the function in a structure, because Swift would wrap a function that is directly in a generic container
  /// once more on each access.
  private struct Reader {
    let wake: @Sendable () -> Void
  }

  /// If a stream throws, ends before `byteCount` or returns more bytes than that, its request fails with `body_file`.
  public convenience init(byteCount: Int? = nil, read: @escaping @Sendable (_ maximum: Int) throws -> [UInt8]?) {
    self.init(byteCount: byteCount, renewed: nil, read: read)
  }

  /// A stream whose content can be produced again, whose trailers are known only at its end, or that says whether it is
  /// unread.
  package init(
    byteCount: Int? = nil, renewed: (@Sendable () -> BodyStream)? = nil,
    trailers: (@Sendable () -> HeaderFields)? = nil, isUnread: (@Sendable () -> Bool)? = nil,
    read: @escaping @Sendable (_ maximum: Int) throws -> [UInt8]?
  ) {
    self.byteCount = byteCount
    self.renewed = renewed
    self.trailers = trailers
    self.isUnread = isUnread
    self.read = read
  }

  /// The stream that a reader reads: this one, or from the second call on a new one, if there can be one.
  package func taken() -> BodyStream {
    guard let renewed else { return self }
    let wasTaken = isTaken.withLock { isTaken in
      defer { isTaken = true }
      return isTaken
    }
    return wasTaken ? renewed() : self
  }

  /// Makes the reader of the stream ask again. May be called on any thread, and also by the function that reads. Does
  /// nothing when the stream has no reader.
  public func wake() { reader.withLock { $0 }?.wake() }

  /// Sets the function that ``wake()`` calls, on any thread; nil removes it. Must be set before the first piece is
  /// read.
  package func onWake(_ body: (@Sendable () -> Void)?) {
    let new = body.map { Reader(wake: $0) }
    reader.withLock { $0 = new }
  }

  /// Creates a stream that reads this stream through `read`. When this stream is woken, the new stream is woken too. If
  /// the content is produced again, it is not read through `read`.
  package func mapped(
    _ read: @escaping @Sendable (_ maximum: Int) throws -> [UInt8]?
  ) -> BodyStream {
    let outer = BodyStream(
      byteCount: byteCount, renewed: renewed, trailers: trailers, isUnread: isUnread, read: read)
    onWake { [weak outer] in outer?.wake() }
    return outer
  }
}
