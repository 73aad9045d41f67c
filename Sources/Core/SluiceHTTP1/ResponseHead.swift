package import SluiceMessages

/// Reads the heads of a response, informational and final, as their bytes arrive (RFC 9112 §4, §5).
///
///     let head = ResponseHead()
///     head.begin(isAnswerToHead: false)
///     while true {
///       // `bytes` begin with the head, and grow from call to call.
///       guard try head.read(bytes.span) else { …; continue }
///       let fields = head.takeFields(from: bytes.span)
///       bytes.removeFirst(head.byteCount)
///       if !head.isInformational { break }
///       head.beginNext()
///     }
///
/// Refuses all syntax that two readers could understand differently, because one of them would take a part of this
/// response for the next response. Accepts a LF alone as a line end, and lines that continue a field (RFC 9112 §2.2,
/// §5.2).
///
/// It is a class, because a connection uses one object for all its responses.
package final class ResponseHead {
  private let limits: MessageLimits
  private var isAnswerToHead = false
  private var isAnswerToConnect = false
  private var statusLine = LineReader()
  private var section: FieldSection
  private var framing = ResponseFraming()
  private var informationalCount = 0
  private var closes = false
  private var keepsAlive = false
  /// How many seconds the server keeps the connection open without a request, if it says so (`Keep-Alive: timeout=5`,
  /// RFC 2068 §19.7.1.1).
  package private(set) var keepAliveSeconds: Int?

  /// The status code; 0 until the status line is complete.
  package private(set) var status = 0
  package private(set) var version = HTTPVersion.http11
  /// What ends the body of a final response; set when the head is complete.
  package private(set) var body = ResponseFraming.Body.none
  /// Whether the head has a `Content-Encoding`.
  package private(set) var hasContentCoding = false
  /// Whether a `Transfer-Encoding` names another coding besides `chunked`.
  package private(set) var hasTransferCoding = false

  package init(_ limits: MessageLimits = MessageLimits()) {
    self.limits = limits
    section = FieldSection(limits, part: "head")
  }

  /// Must be called when a request is sent. The following bytes belong to its response.
  ///
  /// - Parameters:
  ///   - isAnswerToHead: whether the request is a HEAD, whose response has no body.
  ///   - isAnswerToConnect: whether the request is a CONNECT, whose 2xx response has no body, whatever its fields say
  ///     (RFC 9110 §9.3.6).
  package func begin(isAnswerToHead: Bool, isAnswerToConnect: Bool = false) {
    self.isAnswerToHead = isAnswerToHead
    self.isAnswerToConnect = isAnswerToConnect
    informationalCount = 0
    beginNext()
  }

  package var isInformational: Bool { status < 200 }

  /// The number of bytes of the head, including the empty line after it. Valid when ``read(_:)`` has returned true.
  package var byteCount: Int { section.position }
  /// The number of fields so far.
  package var fieldCount: Int { section.count }

  /// Whether the connection cannot carry another request: the server closes it, or RFC 9112 §9.3 forbids using it
  /// again.
  package var endsConnection: Bool {
    if closes || body == .close || framing.mustClose(version: version) { return true }
    return version == .http10 && !keepsAlive
  }

  /// Whether the response has no body, but fields that frame one (``ResponseFraming/contradictsNoBody``).
  package var contradictsNoBody: Bool { framing.contradictsNoBody }

  /// Reads the head as far as it has arrived.
  ///
  /// - Parameter bytes: all bytes of the head so far: the bytes of the last call, and the bytes received since. Bytes
  ///   after the head are not read.
  /// - Returns: whether the head is complete.
  package func read(_ bytes: Span<UInt8>) throws(MessageViolation) -> Bool {
    if status == 0 {
      guard try readStatusLine(bytes) else { return false }
    }
    while true {
      switch try section.next(in: bytes) {
      case .more: return false
      case .field(let field): note(field, in: bytes)
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

  /// Begins the next head after an informational head.
  package func beginNext() {
    status = 0
    statusLine = LineReader()
    section.begin()
    framing.reset()
    closes = false
    keepsAlive = false
    keepAliveSeconds = nil
    hasContentCoding = false
    hasTransferCoding = false
    body = .none
  }

  /// Reads a status line, such as `HTTP/1.1 200 OK`. The reason phrase can be missing. The space before it can then be
  /// missing too.
  private func readStatusLine(_ bytes: Span<UInt8>) throws(MessageViolation) -> Bool {
    try checkStart(bytes)
    guard let line = try statusLine.next(in: bytes) else {
      guard bytes.count <= limits.headBytes else {
        throw MessageViolation(.tooLong(.headBytes), "a status line of more than \(limits.headBytes) bytes")
      }
      return false
    }
    guard line.count >= 12, bytes[8] == UInt8(ascii: " "), line.count == 12 || bytes[12] == UInt8(ascii: " "),
      let first = Self.digit(bytes[9]), let second = Self.digit(bytes[10]), let third = Self.digit(bytes[11]),
      first >= 1
    else {
      let text = PlainText.quote(bytes.extracting(line))
      throw MessageViolation(
        .invalid, "a status line that is not \"HTTP/1.1\", a status of three digits and a reason: \(text)")
    }
    version = bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
    status = first * 100 + second * 10 + third
    section.begin(after: statusLine)
    return true
  }

  /// Refuses bytes that are not HTTP as soon as the first bytes show it, before a whole line has arrived.
  private func checkStart(_ bytes: Span<UInt8>) throws(MessageViolation) {
    // The seven bytes of "HTTP/1." as a number, with the first byte in the lowest bits.
    let start: UInt64 = 0x2E_31_2F_50_54_54_48
    if let word = bytes.word(at: 0), word & 0xFF_FFFF_FFFF_FFFF == start, Self.digit(bytes[7]) != nil { return }
    for index in 0..<min(bytes.count, 7) where bytes[index] != UInt8(truncatingIfNeeded: start >> (8 * index)) {
      let text = PlainText.quote(bytes.extracting(0..<min(bytes.count, 40)))
      throw MessageViolation(.notHTTP, "the answer begins with \(text) and not with \"HTTP/1.\"")
    }
    guard bytes.count > 7, Self.digit(bytes[7]) == nil else { return }
    throw MessageViolation(.notHTTP, "the answer has no version of HTTP")
  }

  @inline(__always)
  private func note(_ field: FieldLine, in bytes: Span<UInt8>) {
    // Comparing only the length is fast, and most field names have a length that excludes them.
    if DecidingFields.hasLength(field.name.count) { noteDeciding(field, in: bytes) }
  }

  private func noteDeciding(_ field: FieldLine, in bytes: Span<UInt8>) {
    let name = bytes.extracting(field.name)
    switch name.count {
    case 10 where FieldSyntax.equals(name, "connection"): noteConnection(bytes.extracting(field.value))
    case 10 where FieldSyntax.equals(name, "keep-alive"): noteKeepAlive(bytes.extracting(field.value))
    case 14 where FieldSyntax.equals(name, "content-length"): framing.takeContentLength(bytes.extracting(field.value))
    case 16 where FieldSyntax.equals(name, "content-encoding"): hasContentCoding = true
    case 17 where FieldSyntax.equals(name, "transfer-encoding"):
      let value = bytes.extracting(field.value)
      framing.takeTransferEncoding(value)
      if !FieldSyntax.equals(value, "chunked") { hasTransferCoding = true }
    default: break
    }
  }

  /// Reads the list of options in a `Connection` field (RFC 9110 §7.6.1).
  private func noteConnection(_ value: Span<UInt8>) {
    // Usually there is only one option.
    if FieldSyntax.equals(value, "keep-alive") { return keepsAlive = true }
    FieldLine.forEachMember(of: value) { option in
      if FieldSyntax.equals(option, "close") { closes = true }
      if FieldSyntax.equals(option, "keep-alive") { keepsAlive = true }
    }
  }

  /// Reads the parameter `timeout` of a `Keep-Alive` field. If it occurs several times, the smallest value counts.
  private func noteKeepAlive(_ value: Span<UInt8>) {
    let name = "timeout=".utf8.span
    FieldLine.forEachMember(of: value) { parameter in
      guard parameter.count > name.count, FieldSyntax.equals(parameter.extracting(0..<name.count), "timeout="),
        let seconds = FieldSyntax.number(parameter.extracting(name.count..<parameter.count))
      else { return }
      keepAliveSeconds = min(seconds, keepAliveSeconds ?? .max)
    }
  }

  private func finish() throws(MessageViolation) {
    if isInformational {
      guard status != 101 else { throw MessageViolation(.invalid, "an upgrade that was not requested (101)") }
      informationalCount += 1
      guard informationalCount <= limits.informationalResponses else {
        throw .excess(ofInformational: limits)
      }
      return
    }
    if isAnswerToConnect, status < 300 { return }
    do throws(FramingViolation) {
      body = try framing.body(status: status, version: version, isAnswerToHead: isAnswerToHead)
    } catch { throw MessageViolation(.invalid, error.reason) }
  }

  private static func digit(_ byte: UInt8) -> Int? {
    byte >= 0x30 && byte <= 0x39 ? Int(byte - 0x30) : nil
  }
}
