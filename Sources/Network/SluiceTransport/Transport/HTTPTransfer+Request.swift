import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline

extension HTTPTransfer {
  /// Whether the request is a GET or HEAD. These methods only read (RFC 9110 §9.2.1), so the request can be repeated.
  var isSafe: Bool { isHead || request.method == "GET" }

  /// How the body is framed.
  var framing: RequestHead.Framing {
    // The body of a HEAD request is not sent.
    if isHead { return .none }
    if hasTrailers { return .chunked }
    switch request.body {
    case .empty: return Request.expectsBody(request.method) ? .length(0) : .none
    case .bytes(let bytes):
      return bytes.isEmpty && !Request.expectsBody(request.method) ? .none : .length(bytes.count)
    case .file(let file): return .length(file.byteCount)
    case .stream(let stream): return stream.byteCount.map { .length($0) } ?? .chunked
    }
  }
}

extension HTTPTransfer {
  /// The body that is sent from memory, without framing.
  var plainBody: [UInt8] {
    guard case .bytes(let bytes) = request.body, !isHead else { return [] }
    return bytes
  }

  /// The body that is sent from memory. If there are trailers, it is framed as one chunk, followed by the last chunk
  /// and the trailers.
  var heldBody: [UInt8] {
    guard case .bytes(let bytes) = request.body, !isHead else { return [] }
    return hasTrailers ? chunked(bytes) : bytes
  }

  private func chunked(_ bytes: [UInt8]) -> [UInt8] {
    var framed: [UInt8] = []
    framed.reserveCapacity(bytes.count + request.trailers.wireByteCount + 32)
    if !bytes.isEmpty {
      ChunkEncoder.append(to: &framed, dataBytes: bytes.count)
      framed += bytes
      framed += ChunkEncoder.lineEnd
    }
    ChunkEncoder.appendEnd(to: &framed, trailers: request.trailers)
    return framed
  }
}

extension HTTPTransfer: LoopTimerTarget {
  /// How long a body waits for a 100 response. A server that does not support 100 never sends one (RFC 9110 §10.1.1).
  /// No bytes are sent or received during this wait, so it is shorter than the idle timeout.
  private var continueLimit: Duration { min(.seconds(1), (request.options.idleTimeout ?? .seconds(2)) / 2) }

  /// The size in bytes; if a request's body is larger, the transport adds `Expect`.
  static let patientBytes = 1 << 20

  func waitForContinue() {
    let timer = LoopTimer()
    continueTimer = timer
    transport.loop.arm(timer, at: Loop.now + continueLimit, for: self)
  }

  func timerDidFire(_ timer: LoopTimer) {
    guard case .running(let connection) = phase else { return }
    if addsExpectation { connection.pool.takesExpectations = false }
    connection.sendBody(of: self)
  }
}
