package import SluiceMessages

/// Determines from the fields of a request's head where its body ends (RFC 9112 §6.3).
///
///     var framing = RequestFraming()
///     framing.takeContentLength(value)       // for each field of that name
///     framing.takeTransferEncoding(value)    // for each field of that name
///     let body = try framing.body(version: .http11)
///
/// If the server and the client or a proxy disagree about the end of the body, the server can take a part of the body
/// for the next request. Each case in which two readers can disagree is therefore an error. The server must answer it
/// with 400 and close the connection.
package struct RequestFraming: Sendable {
  /// What ends the body.
  package enum Body: Sendable, Hashable {
    /// The request ends with its head.
    case none
    case length(Int)
    /// The last chunk (RFC 9112 §7.1).
    case chunked
    /// The last chunk (RFC 9112 §7.1); the body has other transfer codings besides `chunked`. A server that does not
    /// know these codings answers 501 (RFC 9112 §6.1).
    case codedChunks
  }

  private var fields = FramingFields()

  package init() {}

  /// Notes the value of a `Content-Length`. If there are several values, in one field or in several fields, they must
  /// be equal.
  package mutating func takeContentLength(_ value: Span<UInt8>) { fields.takeContentLength(value) }

  /// Notes the value of a `Transfer-Encoding`.
  package mutating func takeTransferEncoding(_ value: Span<UInt8>) { fields.takeTransferEncoding(value) }

  /// What ends the body.
  ///
  /// - Throws: if the fields contradict one another, or if one of them is not valid. In HTTP/1.0, a transfer coding is
  ///   not valid, because a proxy may have forwarded it without understanding it.
  package func body(version: HTTPVersion?) throws(FramingViolation) -> Body {
    let bytes = try fields.length()
    switch try fields.coding() {
    case .missing: return bytes.map { .length($0) } ?? .none
    case .identity, .other:
      throw FramingViolation(
        reason: "a Transfer-Encoding whose last coding is not chunked, so nothing says where the body ends")
    case .chunked(let isAlone):
      if version == .http2 || version == .http3 { throw .codingInHTTP2 }
      if version == .http10 {
        throw FramingViolation(reason: "a Transfer-Encoding in HTTP/1.0, which does not have it (RFC 9112 §6.1)")
      }
      if bytes != nil { throw .lengthBesideCoding }
      return isAlone ? .chunked : .codedChunks
    }
  }
}
