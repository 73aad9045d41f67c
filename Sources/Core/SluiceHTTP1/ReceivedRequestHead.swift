package import SluiceMessages

/// Reads the head of a request as its bytes arrive (RFC 9112 §3, §5).
///
///     let head = ReceivedRequestHead()
///     while true {
///       // `bytes` begin with the head, and grow from call to call.
///       guard try head.read(bytes.span) else { …; continue }
///       let fields = head.takeFields(from: bytes.span)
///       bytes.removeFirst(head.byteCount)
///       …                          // the body
///       head.begin()
///     }
///
/// A server behind this one reads the same head again. If it reads it in another way, it takes a part of one request for
/// the next one. So there is no leniency: lines end with CRLF, no line continues a field, and every framing that could be
/// understood differently is refused. Only one empty line before the head is skipped (RFC 9112 §2.2).
///
/// It is a class, because a connection uses one object for all its requests.
package final class ReceivedRequestHead {
  /// What the client wants before it sends the body (RFC 9110 §10.1.1).
  package enum Expectation: Sendable, Hashable {
    case none
    /// The status 100
    case `continue`
    /// Something that no server knows; the answer is 417.
    case other

    /// Takes the value of a field `Expect`. Several fields count as one list. An empty list would be no expectation, but a
    /// field without one is a mistake.
    package mutating func take(_ value: Span<UInt8>) {
      var (taken, isEmpty) = (self, true)
      FieldLine.forEachMember(of: value) { member in
        if member.isEmpty { return }
        isEmpty = false
        guard taken != .other else { return }
        taken = FieldSyntax.equals(member, "100-continue") ? .continue : .other
      }
      self = isEmpty ? .other : taken
    }
  }

  private let limits: MessageLimits
  private var lines = LineReader(needsCR: true)
  private var section: FieldSection
  private var framing = RequestFraming()
  private var hasRequestLine = false
  private var hasSkippedLine = false
  private var closes = false
  private var keepsAlive = false
  /// Where the parts of the head are in the bytes.
  package private(set) var (method, target) = (0..<0, 0..<0)
  /// The last valid host.
  private var checkedHost: [UInt8] = []
  /// Nil without a `Host`.
  package private(set) var host: Range<Int>?

  package private(set) var form = RequestTarget.Form.origin
  package private(set) var version = HTTPVersion.http11
  /// What ends the body; set when the head is complete.
  package private(set) var body = RequestFraming.Body.none
  package private(set) var expectation = Expectation.none
  /// Whether the client wants another protocol on this connection (RFC 9110 §7.8). Bytes that follow such a head can
  /// belong to that protocol.
  package private(set) var hasUpgrade = false

  package init(_ limits: MessageLimits = MessageLimits()) {
    self.limits = limits
    section = FieldSection(limits, part: "head", isStrict: true)
  }

  /// Begins the head of the next request.
  package func begin() {
    lines = LineReader(needsCR: true)
    section.begin()
    framing = RequestFraming()
    (hasRequestLine, hasSkippedLine, closes, keepsAlive) = (false, false, false, false)
    (method, target, host) = (0..<0, 0..<0, nil)
    (form, version, body, expectation, hasUpgrade) = (.origin, .http11, .none, .none, false)
  }

  /// The number of bytes of the head, including the empty line after it. Valid when ``read(_:)`` has returned true.
  package var byteCount: Int { section.position }

  /// Whether the connection ends with this request (RFC 9112 §9.3).
  package var endsConnection: Bool { closes || (version == .http10 && !keepsAlive) }

  /// Reads the head as far as it has arrived.
  ///
  /// - Parameter bytes: all bytes of the head so far: the bytes of the last call, and the bytes received since. Bytes
  ///   after the head are not read.
  /// - Returns: whether the head is complete.
  package func read(_ bytes: Span<UInt8>) throws(RequestViolation) -> Bool {
    if !hasRequestLine {
      guard try readRequestLine(bytes) else { return false }
    }
    while true {
      switch try nextField(in: bytes) {
      case .more: return false
      case .field(let field): try note(field, in: bytes)
      case .continued: break
      case .end:
        try finish()
        return true
      }
    }
  }

  /// Returns the fields of a complete head, and removes them from this object.
  package func takeFields(from bytes: Span<UInt8>) -> HeaderFields {
    section.takeFields(from: bytes.extracting(0..<byteCount))
  }

  private func nextField(in bytes: Span<UInt8>) throws(RequestViolation) -> FieldSection.Step {
    do throws(MessageViolation) { return try section.next(in: bytes) } catch { throw RequestViolation(error) }
  }

  private func nextLine(in bytes: Span<UInt8>) throws(RequestViolation) -> Range<Int>? {
    do throws(MessageViolation) { return try lines.next(in: bytes) } catch { throw RequestViolation(error) }
  }
}

// The request line (RFC 9112 §3).
extension ReceivedRequestHead {
  private func readRequestLine(_ bytes: Span<UInt8>) throws(RequestViolation) -> Bool {
    try checkStart(bytes)
    var found = try nextLine(in: bytes)
    if found?.isEmpty == true, !hasSkippedLine {
      hasSkippedLine = true
      try checkStart(bytes)
      found = try nextLine(in: bytes)
    }
    guard let line = found else {
      // A CR that has arrived is not a part of the line.
      try checkLength(lines.position..<max(lines.position, bytes.count - 1))
      return false
    }
    try checkLength(line)
    hasRequestLine = true
    let end = Self.end(of: line, in: bytes)
    method = line.lowerBound..<end
    let rest = min(end + 1, line.upperBound)..<line.upperBound
    target = rest.lowerBound..<Self.end(of: rest, in: bytes)
    guard !method.isEmpty, FieldSyntax.isToken(bytes.extracting(method)), !target.isEmpty,
      target.upperBound < line.upperBound
    else { throw Self.violation(ofLine: line, in: bytes) }
    try readVersion(bytes.extracting(target.upperBound + 1..<line.upperBound), line, in: bytes)
    form = try RequestTarget.check(bytes.extracting(target), method: bytes.extracting(method))
    section.begin(after: lines)
    return true
  }

  /// Refuses bytes that are not HTTP, such as those of TLS, before a whole line has arrived.
  private func checkStart(_ bytes: Span<UInt8>) throws(RequestViolation) {
    let start = lines.position
    guard start < bytes.count, !FieldSyntax.isTokenCharacter(bytes[start]) else { return }
    if bytes[start] == 0x0D, !hasSkippedLine { return }
    throw RequestViolation(
      400,
      "the request begins with \(PlainText.quote(bytes.extracting(start..<min(bytes.count, start + 40)))) and not with a method"
    )
  }

  /// Of the request line, only the target can be long.
  private func checkLength(_ line: Range<Int>) throws(RequestViolation) {
    guard line.count > limits.targetBytes + Self.otherBytes else { return }
    throw RequestViolation(414, "a request line with a target of more than \(limits.targetBytes) bytes")
  }

  /// The room for the method, the version and two spaces.
  private static let otherBytes = 64

  private func readVersion(
    _ text: Span<UInt8>, _ line: Range<Int>, in bytes: Span<UInt8>
  ) throws(RequestViolation) {
    guard text.count == 8, text.extracting(0..<5).isIdenticalInContent(to: "HTTP/".utf8.span),
      text[6] == UInt8(ascii: "."),
      Self.isDigit(text[5]), Self.isDigit(text[7])
    else { throw Self.violation(ofLine: line, in: bytes) }
    guard text[5] == UInt8(ascii: "1") else {
      throw RequestViolation(505, "the version \(PlainText.excerpt(text)), where HTTP/1.1 is expected")
    }
    // A higher minor version is answered as the highest that this server knows (RFC 9110 §2.5).
    version = text[7] == UInt8(ascii: "0") ? .http10 : .http11
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  /// The position of the first space in a range, or its end.
  private static func end(of range: Range<Int>, in bytes: Span<UInt8>) -> Int {
    range.first { bytes[$0] == UInt8(ascii: " ") } ?? range.upperBound
  }

  private static func violation(ofLine line: Range<Int>, in bytes: Span<UInt8>) -> RequestViolation {
    RequestViolation(
      400,
      "a request line that is not a method, a target and a version with one space between them: "
        + PlainText.quote(bytes.extracting(line)))
  }
}

// The fields.
extension ReceivedRequestHead {
  private func note(_ field: FieldLine, in bytes: Span<UInt8>) throws(RequestViolation) {
    let (name, value) = (bytes.extracting(field.name), bytes.extracting(field.value))
    switch name.count {
    case 4 where FieldSyntax.equals(name, "host"): try takeHost(field, in: bytes)
    case 6 where FieldSyntax.equals(name, "expect"): expectation.take(value)
    case 7 where FieldSyntax.equals(name, "upgrade"): hasUpgrade = true
    case 10 where FieldSyntax.equals(name, "connection"): takeConnection(value)
    case 14 where FieldSyntax.equals(name, "content-length"): framing.takeContentLength(value)
    case 17 where FieldSyntax.equals(name, "transfer-encoding"): framing.takeTransferEncoding(value)
    default: break
    }
  }

  private func takeHost(_ field: FieldLine, in bytes: Span<UInt8>) throws(RequestViolation) {
    guard host == nil else { throw RequestViolation(400, "more than one Host (RFC 9112 §3.2)") }
    host = field.value
    let value = bytes.extracting(field.value)
    // Most requests of a connection name the same host.
    let known = checkedHost
    if !value.isEmpty, value.isIdenticalInContent(to: known.span) { return }
    do { try HeaderFields.checkHost(value) } catch {
      throw RequestViolation(400, "a Host that is not valid: \(error.reason)")
    }
    checkedHost = [UInt8](copying: value)
  }

  private func takeConnection(_ value: Span<UInt8>) {
    FieldLine.forEachMember(of: value) { option in
      if FieldSyntax.equals(option, "close") { closes = true }
      if FieldSyntax.equals(option, "keep-alive") { keepsAlive = true }
    }
  }

  private func finish() throws(RequestViolation) {
    guard host != nil || version == .http10 else { throw RequestViolation(400, "no Host (RFC 9112 §3.2)") }
    do throws(FramingViolation) { body = try framing.body(version: version) } catch {
      throw RequestViolation(400, error.reason)
    }
    if body == .codedChunks {
      throw RequestViolation(501, "a Transfer-Encoding with a coding other than chunked (RFC 9112 §6.1)")
    }
    // HTTP/1.0 has no upgrades (RFC 9110 §7.8) and no expectations (§10.1.1).
    if version == .http10 { (hasUpgrade, expectation) = (false, .none) }
    if expectation == .other {
      throw RequestViolation(417, "an expectation other than 100-continue (RFC 9110 §10.1.1)")
    }
    // Without a body nothing is held back.
    if body == .none || body == .length(0) { expectation = .none }
  }
}
