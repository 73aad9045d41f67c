import CNGHTTP2
import SluiceMessages
import SluicePipeline

/// One exchange on a connection of HTTP/2. Only the loop uses it.
final class HTTP2Stream {
  /// The number of the stream, which is set when the request is submitted.
  var id: Int32 = 0
  /// The transfer of this exchange; nil after the transfer has ended or has given up the exchange.
  @exclusivity(unchecked) var transfer: HTTPTransfer?
  /// Whether other requests went over the connection before this one.
  let isReused: Bool
  /// Why this side has ended the stream.
  var failure: TransportError?
  /// Whether nghttp2 has closed the stream.
  var isClosed = false

  // The request.
  @exclusivity(unchecked) private var body: [UInt8]
  private var bodyOffset = 0
  @exclusivity(unchecked) private var upload: Upload?
  /// The fields that follow a body in memory.
  @exclusivity(unchecked) private var trailers: HeaderFields?
  /// Whether the body waits for a 100 response.
  var waitsForContinue: Bool
  /// Whether nghttp2 must be told when it can ask for the body again.
  var isDeferred = false
  /// Whether the head of the request was handed to the socket.
  var isHeadSent = false
  /// Whether the last frame of the request was handed to the socket.
  var isRequestSent = false

  // The response.
  /// The received fields of the head or of the trailers, until all of them have arrived.
  @exclusivity(unchecked) var fields = HeaderFields()
  var fieldBytes = 0
  var status = 0
  var informationalCount = 0
  var hasHead = false
  /// Whether the end of the response has arrived.
  var isWhole = false
  @exclusivity(unchecked) var receivedTrailers = HeaderFields()
  /// Received bytes that the transfer could not take yet. They begin at `heldOffset`. The window of the stream limits
  /// their number.
  @exclusivity(unchecked) var held: [UInt8] = []
  var heldOffset = 0

  init(_ transfer: HTTPTransfer, isReused: Bool, waitsForContinue: Bool) {
    self.transfer = transfer
    self.isReused = isReused
    self.waitsForContinue = waitsForContinue
    upload = transfer.upload
    body = transfer.plainBody
    if transfer.request.hasTrailers, !transfer.isHead, upload == nil { trailers = transfer.request.trailers }
  }

  /// Whether the request has frames after its head.
  var hasRequestBody: Bool { !body.isEmpty || upload != nil || trailers != nil }

  /// The result of a read of the request body.
  enum Piece {
    case bytes(Int, isLast: Bool, trailers: HeaderFields?)
    /// The producer has no data for now, or the server has not asked for the body yet.
    case later
    case failed(TransportError)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    if waitsForContinue {
      isDeferred = true
      return .later
    }
    if let upload { return read(upload, into: buffer) }
    let count = min(buffer.count, body.count - bodyOffset)
    body.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[bodyOffset..<bodyOffset + count]))
    }
    bodyOffset += count
    let isLast = bodyOffset == body.count
    if isLast { body = [] }
    return .bytes(count, isLast: isLast, trailers: isLast ? trailers : nil)
  }

  private func read(_ upload: Upload, into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    do throws(TransportError) {
      guard let count = try upload.read(into: buffer) else {
        isDeferred = true
        return .later
      }
      // If the length is not announced, it is not known which piece is the last. A later read then returns the end,
      // perhaps with trailers.
      guard count == 0 || upload.deliveredBytes == upload.byteCount else {
        return .bytes(count, isLast: false, trailers: nil)
      }
      self.upload = nil
      return .bytes(count, isLast: true, trailers: upload.trailers)
    } catch { return .failed(error) }
  }

  func dropHeld() {
    held = []
    heldOffset = 0
  }

  /// Frees the bytes that the transfer has taken. A large buffer is moved only when most of it was taken, not for each
  /// small piece.
  func trimHeld() {
    guard heldOffset > 65_536, heldOffset > held.count / 2 else { return }
    held.removeFirst(heldOffset)
    heldOffset = 0
  }

  /// Drops the rest of the request, which is not sent any more.
  func dropRequest() {
    body = []
    upload = nil
    trailers = nil
  }
}
