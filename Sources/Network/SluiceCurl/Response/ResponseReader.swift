import Glibc
import SluiceContentCoding
import SluiceHTTP1
import SluiceMessages
import SluiceTransport

/// Puts a response head together from libcurl's header lines, for every version of HTTP.
struct ResponseReader {
  /// What a line has completed.
  enum Step {
    case more
    case informational
    case head
    case invalid(String)
  }

  private let limits: MessageLimits
  private(set) var status = 0
  private(set) var version: HTTPVersion?
  var headers = HeaderFields()
  var trailers = HeaderFields()
  private(set) var isHeadDone = false
  /// What ends the body; set with the final head.
  private(set) var body = ResponseFraming.Body.none
  /// Whether the connection must not be used again, even if the server allows it.
  private(set) var mustClose = false
  /// The codings that the final head lists; nil for most responses.
  private(set) var codings: ReceivedCodings?
  /// The size of the last response on this handle. The arrays get this capacity, so that they need not grow.
  private var expectedFields = 0
  private var expectedBytes = 0
  /// The number of bytes of the lines so far, including line ends. It counts the head first, and then the trailers.
  private var lineBytes = 0
  private var framing = ResponseFraming()
  private var isAnswerToHead = false
  /// Whether the last piece of a line had no line end.
  private var isWithinLine = false
  private var informationalCount = 0

  init(_ limits: MessageLimits) { self.limits = limits }

  /// Must be called when a request is sent. The following lines belong to its response.
  mutating func begin(isHead: Bool, expectedFields: Int, expectedBytes: Int) {
    if status != 0 { self = ResponseReader(limits) }
    isAnswerToHead = isHead
    self.expectedFields = expectedFields
    self.expectedBytes = expectedBytes
  }

  var hasBody: Bool { body != .none }

  /// `Content-Length` of the final head, if there is a body.
  var contentLength: Int? {
    if case .length(let count) = body { count } else { nil }
  }

  /// The numbers of fields and bytes of the head. They are set by ``takeHeaders()``.
  private(set) var fieldCount = 0
  private(set) var byteCount = 0

  /// Returns the fields of the head, and removes them from this value.
  mutating func takeHeaders() -> HeaderFields {
    fieldCount = headers.count
    byteCount = headers.lineByteCount
    var taken = HeaderFields()
    swap(&taken, &headers)
    return taken
  }

  /// Whether the head can continue with these bytes. It cannot if it has no field yet and the line begins with a space.
  /// A line can come in several pieces. The last piece has the line end.
  @inline(__always)
  mutating func canContinue(with piece: UnsafeRawBufferPointer) -> Bool {
    guard piece.count > 0 else { return true }
    let beginsLine = !isWithinLine
    isWithinLine = piece[piece.count - 1] != 0x0A
    return !beginsLine || !Self.isSpace(piece[0]) || !headers.isEmpty
  }

  /// Takes one line, including its end.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
    var count = line.count
    if count > 0, line[count - 1] == 0x0A { count -= 1 }
    if count > 0, line[count - 1] == 0x0D { count -= 1 }
    let bytes = line.assumingMemoryBound(to: UInt8.self).span.extracting(0..<count)
    lineBytes += line.count
    if isHeadDone { return takeTrailer(bytes) }
    guard lineBytes <= limits.headBytes else { return Self.refusal(.excess(ofBytes: limits, part: "head")) }
    if count == 0 { return endHead() }
    if Self.isStatusLine(bytes) { return takeStatusLine(bytes) }
    guard status != 0 else { return Self.headWithoutStatus }
    if Self.isSpace(bytes[0]) { return unfold(bytes) }
    guard let colon = Self.endOfName(in: bytes) else { return .invalid("a header line without a valid name") }
    let name = bytes.extracting(0..<colon)
    let value = bytes.extracting(Self.trimmed(bytes, from: colon + 1))
    guard Self.isValue(value) else { return Self.invalidValue(of: name) }
    note(name, value)
    guard headers.count < limits.fields else { return Self.refusal(.excess(ofFields: limits, part: "head")) }
    headers.append(name, value)
    return .more
  }

  private mutating func endHead() -> Step {
    guard status != 0 else { return Self.headWithoutStatus }
    if status < 200 { return endInformational() }
    do throws(FramingViolation) {
      body = try framing.body(status: status, version: version, isAnswerToHead: isAnswerToHead)
    } catch { return .invalid(error.reason + Self.advice) }
    mustClose = framing.contradictsNoBody || framing.mustClose(version: version)
    isHeadDone = true
    lineBytes = 0
    return .head
  }

  private mutating func endInformational() -> Step {
    guard status != 101 else { return .invalid("an upgrade that was not requested (101)") }
    informationalCount += 1
    guard informationalCount <= limits.informationalResponses else {
      return Self.refusal(.excess(ofInformational: limits))
    }
    lineBytes = 0
    return .informational
  }

  /// Handles a status line, such as `HTTP/1.1 200 OK` or `HTTP/2 200`, which begins a new head.
  private mutating func takeStatusLine(_ bytes: Span<UInt8>) -> Step {
    var index = 5
    while index < bytes.count, bytes[index] != 0x20 { index += 1 }
    version = Self.version(bytes.extracting(5..<index))
    while index < bytes.count, bytes[index] == 0x20 { index += 1 }
    var status = 0
    var digits = 0
    while index < bytes.count, digits < 3, bytes[index] >= 0x30, bytes[index] <= 0x39 {
      status = status * 10 + Int(bytes[index] - 0x30)
      digits += 1
      index += 1
    }
    guard digits == 3, status >= 100 else { return .invalid("a status line without a three-digit status") }
    self.status = status
    headers = HeaderFields(fieldCapacity: expectedFields, byteCapacity: expectedBytes)
    framing = ResponseFraming()
    codings = nil
    return .more
  }

  /// Handles a line that continues the previous line. One space replaces the line break (RFC 9112 §5.2).
  private mutating func unfold(_ bytes: Span<UInt8>) -> Step {
    guard !headers.isEmpty else { return .invalid(Self.foldWithoutField) }
    if let name = decidingName {
      return .invalid("a folded \(name) field, of which some readers see only the first line" + Self.advice)
    }
    let value = bytes.extracting(Self.trimmed(bytes, from: 0))
    guard Self.isValue(value) else { return .invalid("a folded line with a CR or NUL in it" + Self.advice) }
    headers.continueLast(with: value)
    return .more
  }

  /// The name of the last field, if libcurl uses that field to find the end of the body or its coding; otherwise nil.
  /// Libcurl only reads the first line of such a field.
  private var decidingName: String? {
    let name = headers.buffer.span.extracting(headers.nameRange(at: headers.count - 1))
    return ["Content-Length", "Transfer-Encoding", "Content-Encoding", "Connection"].first {
      FieldSyntax.equals(name, text: $0.lowercased())
    }
  }

  private mutating func takeTrailer(_ bytes: Span<UInt8>) -> Step {
    guard lineBytes <= limits.headBytes else { return Self.refusal(.excess(ofBytes: limits, part: "trailers")) }
    guard !bytes.isEmpty else { return .more }
    guard let colon = Self.endOfName(in: bytes) else { return .invalid("a trailer line without a valid name") }
    guard trailers.count < limits.fields else { return Self.refusal(.excess(ofFields: limits, part: "trailers")) }
    let value = bytes.extracting(Self.trimmed(bytes, from: colon + 1))
    guard Self.isValue(value) else { return Self.invalidValue(of: bytes.extracting(0..<colon)) }
    trailers.append(bytes.extracting(0..<colon), value)
    return .more
  }

  private static func refusal(_ violation: MessageViolation) -> Step { .invalid(violation.explanation) }

  private static let advice = "; only the server can fix it"
  static let foldWithoutField = "a first header line that begins with a space" + advice
  private static let headWithoutStatus = Step.invalid("a head without a status line" + advice)

  private static func invalidValue(of name: Span<UInt8>) -> Step {
    let name = name.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    return .invalid("the field \(PlainText.line(name, limitBytes: 80)) has a CR or NUL in its value\(advice)")
  }

  /// Whether a value contains neither CR nor NUL, which other readers may take for the end of the value (RFC 9110
  /// §5.5).
  private static func isValue(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] == 0x0D || bytes[index] == 0 { return false }
    return true
  }

  private mutating func note(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    if name.count == 14, FieldSyntax.equals(name, "content-length") {
      framing.takeContentLength(value)
    } else if name.count == 16, FieldSyntax.equals(name, "content-encoding") {
      note(value, as: \.content)
    } else if name.count == 17, FieldSyntax.equals(name, "transfer-encoding") {
      framing.takeTransferEncoding(value)
      if !FieldSyntax.equals(value, "chunked") { note(value, as: \.transfer) }
    }
  }

  private mutating func note(_ list: Span<UInt8>, as kind: ReferenceWritableKeyPath<ReceivedCodings, ContentCodings>) {
    let codings = codings ?? ReceivedCodings()
    codings[keyPath: kind].append(list.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
    self.codings = codings
  }

  private static func isStatusLine(_ bytes: Span<UInt8>) -> Bool {
    bytes.count > 5 && bytes[0] == 0x48 && bytes[1] == 0x54 && bytes[2] == 0x54 && bytes[3] == 0x50 && bytes[4] == 0x2F
  }

  private static func version(_ bytes: Span<UInt8>) -> HTTPVersion? {
    guard bytes.count > 0 else { return nil }
    switch bytes[0] {
    case 0x31: return bytes.count == 3 && bytes[2] == 0x30 ? .http10 : .http11
    case 0x32: return .http2
    case 0x33: return .http3
    default: return nil
    }
  }

  /// The index of the colon; nil if the text before the colon is not a token (RFC 9110 §5.6.2). Reads each byte once.
  private static func endOfName(in bytes: Span<UInt8>) -> Int? {
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let isToken =
        byte < 64 ? tokensBelow64 >> UInt64(byte) & 1 : byte < 128 ? tokensFrom64 >> UInt64(byte - 64) & 1 : 0
      if isToken == 0 { return byte == 0x3A && index > 0 ? index : nil }
      index += 1
    }
    return nil
  }

  /// A bit set of the characters that a token can contain.
  private static let tokensBelow64: UInt64 = 0x03FF_6CFA_0000_0000
  private static let tokensFrom64: UInt64 = 0x57FF_FFFF_C7FF_FFFE

  /// The value without the spaces around it (RFC 9112 §5).
  private static func trimmed(_ bytes: Span<UInt8>, from colon: Int) -> Range<Int> {
    var start = colon
    var end = bytes.count
    while start < end, isSpace(bytes[start]) { start += 1 }
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
