import SluiceHTTP1
import SluiceMessages

/// The head of a request as its fields arrive, and its check. nghttp2 has checked that the pseudo fields are complete,
/// that names are in lower case, and that no field belongs to a connection (RFC 9113 §8.2, §8.3).
///
/// A server behind this one can get the request in HTTP/1.1, so the parts pass the same checks as there.
struct HTTP2ServerRequest {
  private var method = ""
  private var path = ""
  private var authority: String?
  private var host: String?
  private var cookie: [UInt8] = []
  private var fields = HeaderFields()
  private var byteCount = 0
  /// Why the request is refused; nil if nothing is wrong.
  private(set) var violation: RequestViolation?

  /// Notes that a field is not valid.
  mutating func refuse() { violation = violation ?? RequestViolation(400, "a field that is not valid") }

  var isHead: Bool { method == "HEAD" }

  /// Takes a field. Returns false if the head is so much too large that it must not be read to its end: a short head can
  /// repeat a long field many times (RFC 7541 §7.3).
  mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: MessageLimits) -> Bool {
    // RFC 9113 §6.5.2 counts 32 bytes for each field.
    byteCount += name.count + value.count + 32
    guard byteCount <= limits.headBytes, fields.count < limits.fields else {
      violation = violation ?? RequestViolation(431, "a head that is too large")
      return byteCount <= 2 * limits.headBytes
    }
    if violation == nil { note(name, value, limits) }
    return true
  }

  private mutating func note(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: MessageLimits) {
    if name.count > 0, name[0] == UInt8(ascii: ":") { return takePseudo(name, value, limits) }
    guard FieldSyntax.isToken(name), FieldSyntax.isFieldValue(value) else { return refuse() }
    switch name.count {
    case 4 where FieldSyntax.equals(name, "host"):
      guard host == nil else { return refuse() }
      host = String(copying: value)
    case 6 where FieldSyntax.equals(name, "cookie"):
      // A client can split the field; for HTTP/1.1 it must be one again (RFC 9113 §8.2.3).
      if !cookie.isEmpty { cookie.append("; ") }
      cookie.append(copying: value)
    default: fields.append(name, value)
    }
  }

  private mutating func takePseudo(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: MessageLimits) {
    if FieldSyntax.equals(name, ":method") {
      method = String(copying: value)
    } else if FieldSyntax.equals(name, ":path") {
      guard value.count <= limits.targetBytes else {
        return violation = RequestViolation(414, "a target of more than \(limits.targetBytes) bytes")
      }
      path = String(copying: value)
    } else if FieldSyntax.equals(name, ":authority") {
      authority = String(copying: value)
    }
  }

  /// Whether the client waits for the status 100 before it sends the body.
  private(set) var expectsContinue = false

  /// Checks the complete head.
  /// - Parameter hasBody: whether the stream goes on after the head.
  mutating func head(hasBody: Bool) throws(RequestViolation) -> ServerRequestHead {
    if let violation { throw violation }
    guard FieldSyntax.isToken(method.utf8.span) else { throw RequestViolation(400, "a method that is not a token") }
    if FieldSyntax.equals(method.utf8.span, "connect") { throw RequestViolation(501, "the method CONNECT") }
    let form = try RequestTarget.check(path.utf8.span, method: method.utf8.span)
    guard form == .origin || form == .asterisk else {
      throw RequestViolation(400, "a path that does not begin with a slash (RFC 9113 §8.3.1)")
    }
    var all = HeaderFields(fieldCapacity: fields.count + 2, byteCapacity: byteCount)
    let name = try checkedHost()
    all.append("Host".utf8.span, name.utf8.span)
    for index in fields.indices {
      let bytes = fields.buffer.span
      all.append(bytes.extracting(fields.nameRange(at: index)), bytes.extracting(fields.valueRange(at: index)))
    }
    if !cookie.isEmpty { all.append("cookie".utf8.span, cookie.span) }
    try readExpectation(hasBody: hasBody)
    let body: RequestFraming.Body = !hasBody ? .none : fields.contentLength.map { .length($0) } ?? .chunked
    return ServerRequestHead(
      method: method, target: path, form: form, version: .http2, host: name, fields: all, body: body, hasUpgrade: false)
  }

  /// The authority, which must not differ from `Host` (RFC 9113 §8.3.1).
  private func checkedHost() throws(RequestViolation) -> String {
    guard let name = authority ?? host else { throw RequestViolation(400, "neither :authority nor Host") }
    if let host, host != name { throw RequestViolation(400, "a Host that differs from :authority") }
    do { try HeaderFields.checkHost(name.utf8.span) } catch {
      throw RequestViolation(400, "a host that is not valid: \(error.reason)")
    }
    return name
  }

  private mutating func readExpectation(hasBody: Bool) throws(RequestViolation) {
    var expectation = ReceivedRequestHead.Expectation.none
    for value in fields[values: "expect"] { expectation.take(value.utf8.span) }
    guard expectation != .other else {
      throw RequestViolation(417, "an expectation other than 100-continue (RFC 9110 §10.1.1)")
    }
    expectsContinue = hasBody && expectation == .continue
  }
}
