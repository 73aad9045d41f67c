import CNGHTTP2
import SluiceMessages
import SluicePipeline

/// Errors of HTTP/2 that say what failed, why, and what to do (RFC 9113 §7).
struct HTTP2Failure {
  static let invalid = "the server sent invalid HTTP/2"
  static let flood = "the server sent a flood of frames that carry no part of a response"

  let request: Request
  let names: SettingNames

  init(_ transfer: HTTPTransfer) {
    request = transfer.request
    names = transfer.transport.settings.names
  }

  /// The error for a stream that ended with an error code before the response was whole.
  func reset(_ stream: HTTP2Stream, _ code: UInt32) -> TransportError {
    switch nghttp2_error_code(code) {
    case NGHTTP2_NO_ERROR: return .cutShort(request)
    case NGHTTP2_REFUSED_STREAM where !stream.hasHead: return .notProcessed(request)
    case NGHTTP2_HTTP_1_1_REQUIRED: return .downgraded(request, names)
    default: break
    }
    let name = nghttp2_http2_strerror(code).map { String(cString: $0) } ?? "unknown"
    let reason = "HTTP/2 stream \(stream.id) was not closed cleanly: \(name) (err \(code))"
    switch nghttp2_error_code(code) {
    case NGHTTP2_PROTOCOL_ERROR, NGHTTP2_FLOW_CONTROL_ERROR, NGHTTP2_STREAM_CLOSED, NGHTTP2_FRAME_SIZE_ERROR,
      NGHTTP2_COMPRESSION_ERROR:
      return broken(reason)
    default: break
    }
    let advice =
      nghttp2_error_code(code) == NGHTTP2_ENHANCE_YOUR_CALM
      ? "the server wants fewer requests" : "the server's log might say why"
    return TransportError(
      .connectionLost, "the server reset the stream \(moment(stream)): \(reason); \(advice)", to: request.url)
  }

  /// The error for a server that has sent a GOAWAY with its reason and then closed the connection.
  func closed(_ stream: HTTP2Stream, _ farewell: HTTP2Farewell) -> TransportError {
    TransportError(
      .connectionLost,
      "the server closed the connection \(moment(stream)): \(farewell); the server's log might say more",
      to: request.url)
  }

  /// The error for received bytes that are not HTTP/2, or that break a rule of HTTP/2.
  func brokenConnection(_ stream: HTTP2Stream) -> TransportError {
    broken("\(Self.invalid) \(moment(stream))")
  }

  func broken(_ reason: String) -> TransportError { .brokenHTTP2(reason, request.url, names) }

  private func moment(_ stream: HTTP2Stream) -> String {
    stream.hasHead ? "in the middle of the response" : "before the response"
  }
}
