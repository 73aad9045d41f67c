package import SluiceMessages

/// Determines from the fields of a response's head where its body ends (RFC 9112 §6).
///
///     var framing = ResponseFraming()
///     framing.takeContentLength(value)       // for each field of that name
///     framing.takeTransferEncoding(value)    // for each field of that name
///     let body = try framing.body(status: 200, version: .http11, isAnswerToHead: false)
///
/// A length that two readers could understand differently is an error. Otherwise one of them would take the end of the
/// body for the next response.
package struct ResponseFraming: Sendable {
  /// What ends the body.
  package enum Body: Sendable, Hashable {
    /// The response ends with its head.
    case none
    case length(Int)
    /// The last chunk (RFC 9112 §7.1).
    case chunked
    /// The end of the connection.
    case close
    /// The end of the stream, in HTTP/2 and later.
    case stream
  }

  private var fields = FramingFields()

  package init() {}

  /// Forgets all fields.
  mutating func reset() { fields.reset() }

  /// Notes the value of a `Content-Length`. If there are several values, in one field or in several fields, they must
  /// be equal (RFC 9112 §6.3).
  package mutating func takeContentLength(_ value: Span<UInt8>) { fields.takeContentLength(value) }

  /// Notes the value of a `Transfer-Encoding`.
  package mutating func takeTransferEncoding(_ value: Span<UInt8>) { fields.takeTransferEncoding(value) }

  /// What ends the body of a final response.
  ///
  /// - Throws: if the fields contradict one another, or if one of them is not valid. If the status or the method allows
  ///   no body, the fields are ignored and nothing is thrown.
  package mutating func body(
    status: Int, version: HTTPVersion?, isAnswerToHead: Bool
  ) throws(FramingViolation) -> Body {
    if isAnswerToHead || (100..<200).contains(status) || status == 204 || status == 304 { return .none }
    // The function is mutating so that it works on the value in place. Otherwise, a caller that stores the value in an
    // object would copy it, and the copy would change reference counts.
    let bytes = try fields.length()
    let isMultiplexed = version == .http2 || version == .http3
    let coding = try fields.coding()
    switch coding {
    case .missing: return bytes.map { .length($0) } ?? (isMultiplexed ? .stream : .close)
    case .chunked, .other:
      if isMultiplexed { throw .codingInHTTP2 }
      if bytes != nil { throw .lengthBesideCoding }
      if case .chunked = coding { return .chunked }
      return .close
    }
  }

  /// Whether the connection must not be used again, because the response has a transfer coding in HTTP/1.0. HTTP/1.0
  /// has no transfer codings, so a proxy may have forwarded the framing without understanding it (RFC 9112 §6.1).
  package func mustClose(version: HTTPVersion?) -> Bool {
    guard version == .http10 else { return false }
    if case .missing = fields.foundCoding { return false }
    return true
  }
}
