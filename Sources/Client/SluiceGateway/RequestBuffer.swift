import SluiceHTTP1
import SluiceMessages
import SluiceServer

/// The body of a client's request, on its way to the transaction. It takes more from the client only while the transaction
/// takes bytes, so it holds at most ``limit`` bytes and one read.
///
/// Unchecked, because only the loop uses it.
final class RequestBuffer: @unchecked Sendable {
  private let stream: ServerStream
  private let limit: Int
  private var bytes: [UInt8] = []
  private var offset = 0
  private var isComplete = false
  private var trailers = HeaderFields()
  /// Whether the transaction has got no byte yet.
  private var isUnread = true
  private var isStarved = false
  /// The reader keeps this buffer.
  private weak var reader: BodyStream?

  private init(_ stream: ServerStream, _ limit: Int) {
    self.stream = stream
    self.limit = limit
  }

  /// Makes a buffer for the body of a request, and the body for the request of the transaction.
  static func make(_ stream: ServerStream, limit: Int) -> (buffer: RequestBuffer, body: Body) {
    let buffer = RequestBuffer(stream, limit)
    var byteCount: Int?
    var trailers: (@Sendable () -> HeaderFields)?
    if case .length(let count) = stream.head.body { byteCount = count } else { trailers = { buffer.trailers } }
    let reader = BodyStream(
      byteCount: byteCount, trailers: trailers, isUnread: { buffer.isUnread }, read: { buffer.read($0) })
    buffer.reader = reader
    return (buffer, .stream(reader))
  }

  func append(_ piece: Span<UInt8>) {
    bytes.append(copying: piece)
    if bytes.count - offset >= limit { stream.pause() }
    wake()
  }

  func end(_ trailers: HeaderFields) {
    self.trailers = trailers
    isComplete = true
    wake()
  }

  private func wake() {
    guard isStarved else { return }
    isStarved = false
    reader?.wake()
  }

  private func read(_ maximum: Int) -> [UInt8]? {
    let piece = Array(bytes[offset..<min(offset + maximum, bytes.count)])
    offset += piece.count
    if offset == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      offset = 0
    } else if offset >= bytes.count / 2 {
      bytes.removeFirst(offset)
      offset = 0
    }
    if !piece.isEmpty { isUnread = false }
    if isComplete { return piece.isEmpty ? nil : piece }
    isStarved = piece.isEmpty
    if bytes.count - offset <= limit / 2 { stream.readBody() }
    return piece
  }
}
