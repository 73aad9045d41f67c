import SluiceMessages
public import SluicePipeline

extension ResponseBytes {
  /// The body as server-sent events, with lines and events of at most ``defaultMaximumLineBytes``.
  public var events: ResponseEvents { events(maximumBytes: Self.defaultMaximumLineBytes) }

  /// The body as server-sent events (WHATWG HTML §9.2.6). An event that is incomplete at the end of the stream is left
  /// out.
  ///
  /// Check the response first: its status must be 200 and its media type `text/event-stream` (§9.2.3). The caller must
  /// connect again if the stream ends.
  /// - Parameter maximumBytes: a longer line, or an event with more data, fails with `extraction`.
  public func events(maximumBytes: Int) -> ResponseEvents { ResponseEvents(chunks: chunks, maximumBytes: maximumBytes) }
}

/// A response body as server-sent events; see ``ResponseBytes/events(maximumBytes:)``.
public struct ResponseEvents: AsyncSequence, Sendable {
  /// One of the events.
  public typealias Element = ServerSentEvent
  /// Why the body did not arrive completely, or that a line or an event is too long.
  public typealias Failure = TransactionError

  let chunks: ResponseChunks
  let maximumBytes: Int

  /// Reads the body. Only one task may use it.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var lines: LineIterator
    var parser: EventStreamParser

    /// The next event; nil at the end.
    public mutating func next() async throws(TransactionError) -> ServerSentEvent? { try await next(isolation: nil) }

    /// The next event; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(TransactionError) -> ServerSentEvent? {
      while let line = try await lines.next(isolation: actor), !lines.isUnfinished {
        do throws(EventStreamParser.TooLarge) {
          if let event = try parser.take(line) { return event }
        } catch {
          throw TransactionError(
            code: .extraction, message: "an event of the stream has more than \(parser.maximumBytes) bytes of data")
        }
      }
      return nil
    }
  }

  /// Begins or continues to read; all iterators of a body share its position.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      lines: LineIterator(chunks, maximumBytes), parser: EventStreamParser(maximumBytes: maximumBytes))
  }
}
