public import SluiceMessages
public import SluicePipeline

/// A response body that is read while it arrives, as bytes or as ``chunks``, ``lines`` and ``events``.
///
/// At most 1 MiB waits to be read; the socket is then paused until only 256 KiB are left. The body can be read once, by
/// one task at a time. The transfer ends when the task that reads is cancelled, or when the last copy of the sequence
/// and its iterators is released. An error of the transfer is thrown after the bytes that arrived before it.
public struct ResponseBytes: AsyncSequence, Sendable {
  /// A byte of the decoded body.
  public typealias Element = UInt8
  /// Why the body did not arrive completely.
  public typealias Failure = TransactionError

  /// The body in the pieces in which it arrived; no piece is empty.
  public let chunks: ResponseChunks

  init(_ source: BodySource) { chunks = ResponseChunks(source: source) }

  /// The fields after the body (RFC 9110 §6.5); nil before the whole body has been read.
  public var trailers: HeaderFields? { chunks.source.pipe.trailers }

  /// Takes the bytes from the last chunk that arrived, without a thread switch.
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline var chunks: ResponseChunks.AsyncIterator
    @usableFromInline var chunk: [UInt8] = []
    @usableFromInline var position = 0

    init(_ chunks: ResponseChunks.AsyncIterator) { self.chunks = chunks }

    /// The next byte; nil at the end.
    @inlinable public mutating func next() async throws(TransactionError) -> UInt8? {
      try await next(isolation: nil)
    }

    /// The next byte; nil at the end.
    @inlinable public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(TransactionError) -> UInt8? {
      while position == chunk.count {
        guard let next = try await chunks.next(isolation: actor) else { return nil }
        chunk = next
        position = 0
      }
      defer { position &+= 1 }
      return chunk[position]
    }
  }

  /// Begins or continues to read; all iterators of a body share its position.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks.makeAsyncIterator()) }
}

/// A response body in the pieces in which it arrived; see ``ResponseBytes``.
public struct ResponseChunks: AsyncSequence, Sendable {
  /// A chunk; not empty.
  public typealias Element = [UInt8]
  /// Why the body did not arrive completely.
  public typealias Failure = TransactionError

  let source: BodySource

  /// Reads the body. Only one task may use it.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: BodySource

    /// The next chunk, which is not empty; nil at the end.
    public mutating func next() async throws(TransactionError) -> [UInt8]? { try await source.pipe.nextChunk() }

    /// The next chunk, which is not empty; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransactionError) -> [UInt8]? {
      try await source.pipe.nextChunk()
    }
  }

  /// Begins or continues to read; all iterators of a body share its position.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// Ends the transfer when nobody can read its body any more.
final class BodySource: Sendable {
  let pipe: BodyPipe

  init(_ pipe: BodyPipe) { self.pipe = pipe }

  deinit { pipe.cancel() }
}
