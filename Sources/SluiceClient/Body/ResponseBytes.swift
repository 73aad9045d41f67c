public import SluiceMessages
public import SluicePipeline

/// A response body as it arrives: bytes, or ``chunks``, ``lines`` and ``events``.
///
/// At most 1 MiB waits to be read; then the socket is paused until 256 KiB are left. The body can be read once, by one
/// task at a time. When the last copy of the sequence and of its iterators is released, or the task that reads is
/// cancelled, the transfer ends. An error of the transfer is thrown after the bytes that arrived before it.
public struct ResponseBytes: AsyncSequence, Sendable {
  /// A byte of the decoded body.
  public typealias Element = UInt8
  /// Why the body did not arrive whole.
  public typealias Failure = TransactionError

  /// The body in the pieces in which it arrived; none is empty.
  public let chunks: ResponseChunks

  init(_ source: BodySource) { chunks = ResponseChunks(source: source) }

  /// The fields after the body (RFC 9110 §6.5), once all of it was read; nil before.
  public var trailers: HeaderFields? { chunks.source.pipe.trailers }

  /// Takes the bytes from the chunk that arrived last, without a switch of threads.
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

  /// Begins or continues to read: all iterators of a body share it.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks.makeAsyncIterator()) }
}

/// A response body in the pieces in which it arrived: see ``ResponseBytes``.
public struct ResponseChunks: AsyncSequence, Sendable {
  /// A chunk; not empty.
  public typealias Element = [UInt8]
  /// Why the body did not arrive whole.
  public typealias Failure = TransactionError

  let source: BodySource

  /// Reads the body; for one task.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: BodySource

    /// The next chunk, which is not empty; nil at the end.
    public mutating func next() async throws(TransactionError) -> [UInt8]? { try await source.pipe.nextChunk() }

    /// The next chunk, which is not empty; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransactionError) -> [UInt8]? {
      try await source.pipe.nextChunk()
    }
  }

  /// Begins or continues to read: all iterators of a body share it.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// Ends the transfer when nobody can read its body any more.
final class BodySource: Sendable {
  let pipe: BodyPipe

  init(_ pipe: BodyPipe) { self.pipe = pipe }

  deinit { pipe.cancel() }
}
