import SluiceHTTP1
import SluiceMessages
import SluicePipeline

/// The part of one request that is not sent yet.
struct HTTP1Sender {
  enum Progress {
    /// Everything was sent.
    case done
    /// The socket is full, or the producer of the body has no data for now.
    case waiting
    /// The socket takes more, but other connections should have their turn.
    case more
    case failed(Int32)
    case bodyFailed(TransportError)
  }

  /// A body in memory of at most this size is sent in one buffer with the head.
  static let copiedBytes = 16_384
  /// The size of the pieces in which a body is read from a file or a producer.
  private static let pieceBytes = 65_536
  /// The bytes that one connection sends before other connections have their turn.
  private static let bytesPerTurn = 1 << 20

  /// The bytes that are sent next, beginning at `offset`. After them, `body` is sent, beginning at `bodyOffset`.
  private var bytes: [UInt8] = []
  private var offset = 0
  private var body: [UInt8] = []
  private var bodyOffset = 0
  private var upload: Upload?
  private var isChunked = false
  /// Whether the producer of the body has no data for now. It is not asked again until it reports that it has more.
  var waitsForProducer = false
  /// Whether the body waits for a 100 response.
  var waitsForContinue = false
  private(set) var isDone = true
  /// Whether the last bytes of the request were sent later than the first.
  private(set) var hasBodyLeftLater = false
  private(set) var sentBytes = 0
  /// The number of bytes that the system has not taken yet. They belong to the head, to a body in memory, or to the
  /// current piece of another body.
  var unsentBytes: Int { max(0, bytes.count - offset) + max(0, body.count - bodyOffset) }

  /// Begins a new request.
  ///
  /// - Parameter body: a body in memory.
  mutating func begin(_ body: [UInt8], _ upload: Upload?, isChunked: Bool, _ waitsForContinue: Bool) {
    reset()
    if !body.isEmpty { self.body = body }
    if let upload { self.upload = upload }
    self.isChunked = isChunked
    self.waitsForContinue = waitsForContinue
    isDone = false
  }

  /// Forgets the request. For speed, a member is assigned only if it has changed, because most requests leave the
  /// members unchanged.
  mutating func reset() {
    if !bytes.isEmpty { bytes = [] }
    if !body.isEmpty { body = [] }
    if upload != nil { upload = nil }
    offset = 0
    bodyOffset = 0
    isChunked = false
    waitsForProducer = false
    waitsForContinue = false
    isDone = true
    isStopped = false
    hasBodyLeftLater = false
    sentBytes = 0
  }

  /// Stops sending. The connection can be used again only if the whole request was sent.
  mutating func stop() {
    guard !isDone else { return }
    bytes = []
    body = []
    upload = nil
    isStopped = true
    waitsForContinue = false
  }

  private var isStopped = false

  /// Sends the head, together with a body that is in memory.
  mutating func sendHead(_ head: inout [UInt8], through channel: Channel) -> Progress {
    if !waitsForContinue, !body.isEmpty, body.count <= Self.copiedBytes {
      head.append(contentsOf: body)
      body = []
    }
    let sendsBody = !waitsForContinue
    let outcome = head.withUnsafeBytes { head in
      body.withUnsafeBytes { channel.send(head, sendsBody ? $0 : UnsafeRawBufferPointer(rebasing: $0[..<0])) }
    }
    switch outcome {
    case .bytes(let count):
      sentBytes = count
      if count < head.count {
        bytes = Array(head[count...])
      } else {
        bodyOffset = count - head.count
      }
    case .wouldBlock: bytes = head
    case .end: return .failed(0)
    case .failed(let code): return .failed(code)
    }
    if bytes.isEmpty, bodyOffset == body.count, upload == nil {
      body = []
      isDone = true
      return .done
    }
    hasBodyLeftLater = true
    return sendOn(through: channel)
  }

  mutating func sendOn(through channel: Channel) -> Progress {
    var count = 0
    while !isStopped {
      let hasBody = bodyOffset < body.count && !waitsForContinue
      if offset < bytes.count || hasBody {
        if count >= Self.bytesPerTurn { return .more }
        switch send(hasBody, through: channel) {
        case .bytes(let sent):
          count += sent
          advance(sent)
        case .wouldBlock: return .waiting
        case .end: return .failed(0)
        case .failed(let code): return .failed(code)
        }
        continue
      }
      if waitsForContinue || waitsForProducer { return .waiting }
      do throws(TransportError) {
        guard try fill() else { return isDone ? .done : .waiting }
      } catch { return .bodyFailed(error) }
    }
    return .waiting
  }

  private func send(_ hasBody: Bool, through channel: Channel) -> StreamSocket.Outcome {
    bytes.withUnsafeBytes { bytes in
      body.withUnsafeBytes { body in
        channel.send(
          UnsafeRawBufferPointer(rebasing: bytes[offset...]),
          UnsafeRawBufferPointer(rebasing: hasBody ? body[bodyOffset...] : body[..<0]))
      }
    }
  }

  private mutating func advance(_ count: Int) {
    sentBytes += count
    let own = min(count, bytes.count - offset)
    offset += own
    bodyOffset += count - own
  }

  /// Reads the next piece of the body. Returns false if there is no piece now; if there will be none later either,
  /// ``isDone`` is true.
  private mutating func fill() throws(TransportError) -> Bool {
    bytes = []
    offset = 0
    body = []
    bodyOffset = 0
    guard let upload else {
      isDone = true
      return false
    }
    var count: Int?
    var failure: TransportError?
    let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, filled in
      do throws(TransportError) {
        count = try upload.read(into: UnsafeMutableRawBufferPointer(buffer))
        filled = count ?? 0
      } catch { failure = error }
    }
    if let failure { throw failure }
    guard let count else {
      waitsForProducer = true
      return false
    }
    if isChunked {
      if count > 0 { ChunkEncoder.append(to: &bytes, dataBytes: count) }
      bytes += piece
      if count == 0, let trailers = upload.trailers {
        ChunkEncoder.appendEnd(to: &bytes, trailers: trailers)
      } else {
        bytes += count > 0 ? ChunkEncoder.lineEnd : ChunkEncoder.end
      }
    } else {
      bytes = piece
    }
    if count == 0 || !isChunked && upload.deliveredBytes == upload.byteCount { self.upload = nil }
    if bytes.isEmpty { isDone = true }
    return !isDone
  }
}
