public import SluiceMessages

/// Where the body of a response ends, from the fields of its head (RFC 9112 §6).
///
///     var framing = ResponseFraming()
///     framing.takeContentLength(value)       // for each field of that name
///     framing.takeTransferEncoding(value)    // for each field of that name
///     let body = try framing.body(status: 200, version: .http11, isAnswerToHead: false)
///
/// A length that two readers could understand in two ways is an error: what one of them takes for the end of the body is
/// the next response for the other.
public struct ResponseFraming: Sendable {
  /// What ends the body.
  public enum Body: Sendable, Hashable {
    /// The response ends with its head.
    case none
    case length(Int)
    /// The last chunk (RFC 9112 §7.1).
    case chunked
    /// The end of the connection.
    case close
    /// The stream, in HTTP/2 and later.
    case stream
  }

  public struct Violation: Error, Hashable, Sendable {
    /// What is wrong with the head, without a full stop.
    public let reason: String
  }

  private enum Length: Sendable {
    case missing
    case bytes(Int)
    case invalid(String)
  }

  private enum Coding: Sendable {
    case missing
    /// `chunked`, once and last.
    case chunked
    /// Other codings only.
    case other
    case invalid(String)
  }

  private var length = Length.missing
  private var coding = Coding.missing

  public init() {}

  /// Notes the value of a `Content-Length`. Several values, in one field or in several, must be equal (RFC 9112 §6.3).
  public mutating func takeContentLength(_ value: Span<UInt8>) {
    var start = 0
    for index in 0...value.count where index == value.count || value[index] == 0x2C {
      takeLength(value.extracting(Self.trimmed(value, start..<index)))
      start = index + 1
    }
  }

  /// Notes the value of a `Transfer-Encoding`.
  public mutating func takeTransferEncoding(_ value: Span<UInt8>) {
    var start = 0
    for index in 0...value.count where index == value.count || value[index] == 0x2C {
      takeCoding(value.extracting(Self.trimmed(value, start..<index)))
      start = index + 1
    }
  }

  /// What ends the body of a final response.
  ///
  /// - Throws: where the fields contradict one another, or one of them is not valid. They are not looked at where the
  ///   status or the method says that there is no body.
  public func body(
    status: Int, version: HTTPVersion?, isAnswerToHead: Bool
  ) throws(Violation) -> Body {
    if isAnswerToHead || (100..<200).contains(status) || status == 204 || status == 304 { return .none }
    let bytes = try checkedLength()
    let isMultiplexed = version == .http2 || version == .http3
    switch coding {
    case .invalid(let reason): throw Violation(reason: reason)
    case .missing: return bytes.map { .length($0) } ?? (isMultiplexed ? .stream : .close)
    case .chunked, .other:
      if isMultiplexed { throw Violation(reason: "a Transfer-Encoding, which HTTP/1.1 alone has (RFC 9113 §8.2.2)") }
      if bytes != nil {
        throw Violation(reason: "both a Content-Length and a Transfer-Encoding, which may end the body in two places")
      }
      if case .chunked = coding { return .chunked }
      return .close
    }
  }

  /// Whether the connection must not be used again: HTTP/1.0 does not know transfer codings, so that somebody in between may
  /// have passed on the framing without knowing it (RFC 9112 §6.1).
  public func mustClose(version: HTTPVersion?) -> Bool {
    guard version == .http10 else { return false }
    if case .missing = coding { return false }
    return true
  }

  private func checkedLength() throws(Violation) -> Int? {
    switch length {
    case .missing: return nil
    case .bytes(let count): return count
    case .invalid(let reason): throw Violation(reason: reason)
    }
  }

  private mutating func takeLength(_ digits: Span<UInt8>) {
    guard let count = Self.number(digits) else {
      length = .invalid("a Content-Length that is not a number of bytes: \(Self.quoted(digits))")
      return
    }
    switch length {
    case .missing: length = .bytes(count)
    case .bytes(let first) where first != count:
      length = .invalid("two values of Content-Length that differ: \(first) and \(count)")
    case .bytes, .invalid: break
    }
  }

  private mutating func takeCoding(_ name: Span<UInt8>) {
    let isChunked = FieldSyntax.equals(name, "chunked")
    switch coding {
    case .missing, .other: coding = isChunked ? .chunked : .other
    case .chunked:
      coding = .invalid(
        isChunked
          ? "a Transfer-Encoding that names chunked twice"
          : "a Transfer-Encoding with \(Self.quoted(name)) after chunked, so that nothing says where the body ends")
    case .invalid: break
    }
  }

  /// Digits alone, as many as an `Int` has room for.
  private static func number(_ digits: Span<UInt8>) -> Int? {
    guard !digits.isEmpty else { return nil }
    var number = 0
    for index in digits.indices {
      guard digits[index] >= 0x30, digits[index] <= 0x39 else { return nil }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = product.addingReportingOverflow(Int(digits[index] - 0x30))
      guard !isTooLarge, !isStillTooLarge else { return nil }
      number = sum
    }
    return number
  }

  private static func quoted(_ bytes: Span<UInt8>) -> String {
    let text = bytes.indices.reduce(into: [UInt8]()) { $0.append(bytes[$1]) }
    return "\"" + PlainText.line(String(decoding: text, as: UTF8.self), limitBytes: 40) + "\""
  }

  /// The part of a range without the spaces at its ends.
  private static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var range = range
    while let first = range.first, isSpace(bytes[first]) { range = first + 1..<range.upperBound }
    while let last = range.last, isSpace(bytes[last]) { range = range.lowerBound..<last }
    return range
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
