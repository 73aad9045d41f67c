import CNGHTTP2

/// The content of a server's last GOAWAY, which says why the server ends the connection (RFC 9113 §6.8).
struct HTTP2Farewell: CustomStringConvertible {
  /// An error quotes at most this many bytes of the server's text.
  private static let quotedBytes = 120

  private let errorCode: UInt32
  private let text: String

  init(_ frame: nghttp2_goaway) {
    errorCode = frame.error_code
    let bytes = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
    text = String(
      decoding: bytes.prefix(Self.quotedBytes).map { (0x20...0x7E).contains($0) ? $0 : 0x2E }, as: UTF8.self)
  }

  var isGraceful: Bool { errorCode == NGHTTP2_NO_ERROR.rawValue }
  var demandsHTTP1: Bool { errorCode == NGHTTP2_HTTP_1_1_REQUIRED.rawValue }

  /// The error code to report for a stream. If the stream was refused and the GOAWAY demands HTTP/1.1, this is the code
  /// of that demand.
  func code(instead code: UInt32) -> UInt32 {
    code == NGHTTP2_REFUSED_STREAM.rawValue && demandsHTTP1 ? errorCode : code
  }

  var description: String {
    let name = nghttp2_http2_strerror(errorCode).map { String(cString: $0) } ?? "unknown"
    return "\(name) (err \(errorCode))" + (text.isEmpty ? "" : ", \"\(text)\"")
  }
}
