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
  /// Whether the response has no body, but fields that frame one. A server that sends this body anyway would send it as
  /// the response to the next request, so the connection should not be used again.
  package private(set) var contradictsNoBody = false
  /// Whether there is a length beside the coding `identity`.
  private var hasObsoleteCoding = false

  package init() {}

  /// Forgets all fields.
  mutating func reset() {
    fields.reset()
    contradictsNoBody = false
    hasObsoleteCoding = false
  }

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
    let isMultiplexed = version == .http2 || version == .http3
    if isAnswerToHead || (100..<200).contains(status) || status == 204 || status == 304 {
      contradictsNoBody = !isMultiplexed && framesBody(status: status)
      return .none
    }
    // The function is mutating so that it works on the value in place. Otherwise, a caller that stores the value in an
    // object would copy it, and the copy would change reference counts.
    let bytes = try fields.length()
    let coding = try fields.coding()
    switch coding {
    case .missing: return bytes.map { .length($0) } ?? (isMultiplexed ? .stream : .close)
    case .identity where !isMultiplexed:
      hasObsoleteCoding = bytes != nil
      return bytes.map { .length($0) } ?? .close
    case .identity, .chunked, .other:
      if isMultiplexed { throw .codingInHTTP2 }
      if bytes != nil { throw .lengthBesideCoding }
      if case .chunked = coding { return .chunked }
      return .close
    }
  }

  /// Whether a response without a body has fields from which another reader could conclude that a body follows. A
  /// response with 204 can have neither of the fields (RFC 9110 §8.6, RFC 9112 §6.1). To HEAD, and with 304, each of
  /// them describes the body that is left out.
  private func framesBody(status: Int) -> Bool {
    if fields.isInvalid { return true }
    let length = try? fields.length()
    if status == 204 { return hasCoding || (length ?? 0) > 0 }
    return hasCoding && length != nil
  }

  private var hasCoding: Bool { if case .missing = fields.foundCoding { false } else { true } }

  /// Whether the connection must not be used again, because another reader may find the end of the body elsewhere. In
  /// HTTP/1.0 there are no transfer codings, so a proxy may have forwarded the framing without understanding it (RFC
  /// 9112 §6.1). The coding `identity` is obsolete, so it may be unknown.
  package func mustClose(version: HTTPVersion?) -> Bool {
    if hasObsoleteCoding { return true }
    guard version == .http10 else { return false }
    return hasCoding
  }
}
