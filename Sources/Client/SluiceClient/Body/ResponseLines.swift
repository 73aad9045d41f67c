import SluiceMessages
public import SluicePipeline

extension ResponseBytes {
  /// The maximum size of a line, and of an event, unless the caller sets another one.
  public static var defaultMaximumLineBytes: Int { 1 << 20 }

  /// The body as lines of UTF-8, each at most ``defaultMaximumLineBytes`` long.
  public var lines: ResponseLines { lines(maximumBytes: Self.defaultMaximumLineBytes) }

  /// The body as lines of UTF-8 that end with LF, CR LF or CR.
  ///
  /// Line ends are left out. Empty lines are kept. The last line need not have a line end. Bytes that are not UTF-8
  /// become U+FFFD.
  /// - Parameter maximumBytes: a longer line fails with `extraction`.
  public func lines(maximumBytes: Int) -> ResponseLines { ResponseLines(chunks: chunks, maximumBytes: maximumBytes) }
}

/// A response body as lines; see ``ResponseBytes/lines(maximumBytes:)``.
public struct ResponseLines: AsyncSequence, Sendable {
  /// One of the lines.
  public typealias Element = String
  /// Why the body did not arrive completely, or that a line is too long.
  public typealias Failure = TransactionError

  let chunks: ResponseChunks
  let maximumBytes: Int

  /// Reads the body. Only one task may use it.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var lines: LineIterator

    /// The next line; nil at the end.
    public mutating func next() async throws(TransactionError) -> String? { try await next(isolation: nil) }

    /// The next line; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransactionError) -> String? {
      guard let line = try await lines.next(isolation: actor) else { return nil }
      return String(decoding: line, as: UTF8.self)
    }
  }

  /// Begins or continues to read; all iterators of a body share its position.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lines: LineIterator(chunks, maximumBytes)) }
}

/// Reads the lines of a body as bytes.
struct LineIterator {
  private var chunks: ResponseChunks.AsyncIterator
  private var splitter: LineSplitter
  private var isOver = false
  /// Whether the last line had no end.
  private(set) var isUnfinished = false

  init(_ chunks: ResponseChunks, _ maximumBytes: Int) {
    self.chunks = chunks.makeAsyncIterator()
    splitter = LineSplitter(maximumBytes: maximumBytes)
  }

  mutating func next(isolation actor: isolated (any Actor)?) async throws(TransactionError) -> [UInt8]? {
    while !isOver {
      if let line = try nextWholeLine() { return line }
      guard let chunk = try await chunks.next(isolation: actor) else {
        isOver = true
        let last = splitter.finish()
        isUnfinished = last != nil
        return last
      }
      splitter.append(chunk)
    }
    return nil
  }

  private mutating func nextWholeLine() throws(TransactionError) -> [UInt8]? {
    do throws(LineSplitter.TooLong) { return try splitter.nextLine() } catch {
      isOver = true
      throw TransactionError(
        code: .extraction, message: "a line of the body is longer than \(splitter.maximumBytes) bytes")
    }
  }
}
