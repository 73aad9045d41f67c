import CNGHTTP2
import SluiceMessages
import SluicePipeline
import SluiceTransport

/// One exchange on a connection of HTTP/2. Confined to the loop.
final class HTTP2Stream {
  /// Set when the request is submitted.
  var id: Int32 = 0
  /// nil when nobody waits for the rest of the exchange.
  @exclusivity(unchecked) var transfer: WireTransfer?
  /// Whether other requests went over the connection before this one.
  let isReused: Bool
  /// Why this side has ended the stream.
  var failure: TransportError?
  /// nghttp2 has forgotten the stream.
  var isClosed = false

  // The request.
  @exclusivity(unchecked) private var body: [UInt8]
  private var bodyOffset = 0
  @exclusivity(unchecked) private var upload: Upload?
  /// The fields that follow a body in memory.
  @exclusivity(unchecked) private var trailers: HeaderFields?
  /// Whether the body waits for a 100 response.
  var waitsForContinue: Bool
  /// Whether nghttp2 asks for the body again only when it is told to.
  var isDeferred = false
  /// The head of the request was handed to the socket.
  var isHeadSent = false
  /// The last frame of the request was handed to the socket.
  var isRequestSent = false

  // The response.
  /// The fields of the head, or of the trailers, that is being received.
  @exclusivity(unchecked) var fields = HeaderFields()
  var fieldBytes = 0
  var status = 0
  var informationalCount = 0
  var hasHead = false
  /// The end of the response has come.
  var isWhole = false
  @exclusivity(unchecked) var receivedTrailers = HeaderFields()
  /// Received bytes that the transfer could not take yet, from `heldOffset` on. The window of the stream bounds them.
  @exclusivity(unchecked) var held: [UInt8] = []
  var heldOffset = 0

  init(_ transfer: WireTransfer, isReused: Bool, waitsForContinue: Bool) {
    self.transfer = transfer
    self.isReused = isReused
    self.waitsForContinue = waitsForContinue
    upload = transfer.upload
    body = transfer.plainBody
    if transfer.request.hasTrailers, !transfer.isHead, upload == nil { trailers = transfer.request.trailers }
  }

  /// Whether frames follow the head.
  var hasRequestBody: Bool { !body.isEmpty || upload != nil || trailers != nil }

  /// What a read of the request body gave.
  enum Piece {
    case bytes(Int, isLast: Bool, trailers: HeaderFields?)
    /// The producer has nothing for now, or the server has not asked for the body yet.
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
      // Without a length, the producer may have trailers, which it knows at its end.
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

  /// Releases the bytes that the transfer has taken, but not for each small piece of a large buffer.
  func trimHeld() {
    guard heldOffset > 65_536, heldOffset > held.count / 2 else { return }
    held.removeFirst(heldOffset)
    heldOffset = 0
  }

  /// Nothing more of the request is sent.
  func dropRequest() {
    body = []
    upload = nil
    trailers = nil
  }
}
