import CCurl
import SluiceMessages
import SluicePipeline
import SluiceTransport

// Errors of a stream and of a connection in HTTP/2 (RFC 9113 §5.4). For a stream, libcurl reports the error code (§7),
// but not whether the client or the server has found the error.
extension CurlFailure {
  /// A stream ended with an error code, or libcurl closed the connection.
  var streamFailure: TransportError {
    if Self.ruleNames.contains(where: { detail.contains($0) }) { return ruleFailure(detail) }
    let wantsLess = detail.contains("ENHANCE_YOUR_CALM")
    let advice = wantsLess ? "the server wants fewer requests" : "the server's log might say why"
    let what = code == CURLE_HTTP2_STREAM ? "the server reset the stream" : "the HTTP/2 connection broke"
    return make(.connectionLost, "\(what) \(moment): \(words("without a reason")); \(advice)")
  }

  /// This side ended the connection because the data on it is not HTTP/2, or breaks its rules. Libcurl 7.88 only
  /// reports that no response arrived, or takes the end of the connection as the end of the body.
  var brokenHTTP2: TransportError { ruleFailure("the server sent invalid HTTP/2 \(moment)") }

  private func ruleFailure(_ reason: String) -> TransportError { .brokenHTTP2(reason, url, names) }

  private static let ruleNames = [
    "PROTOCOL_ERROR", "FLOW_CONTROL_ERROR", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR",
  ]
}
