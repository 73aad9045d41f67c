import SluiceMessages

/// Collects, field by field, what the head of a request or response says about the body (RFC 9112 §6).
struct FramingFields: Sendable {
  enum Coding: Sendable {
    case missing
    /// Only `identity`, which means no coding (RFC 2616 §3.6; RFC 7230 has removed it).
    case identity
    /// The last coding is `chunked`, and no other coding is `chunked`.
    case chunked(isAlone: Bool)
    /// There are only codings other than `chunked`.
    case other
  }

  private(set) var foundCoding = Coding.missing
  /// The reason of an error. It is in a class to save space, because almost no message has one.
  private final class Fault: Sendable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// Why the fields of one kind contradict each other or are not valid; nil if there is no fault.
  private var codingFault: Fault?
  private var lengthFault: Fault?
  private var contentLength: Int?

  /// Forgets all fields.
  mutating func reset() {
    foundCoding = .missing
    codingFault = nil
    lengthFault = nil
    contentLength = nil
  }

  /// Adds the value of a `Content-Length`. If there are several values, in one field or in several fields, they must be
  /// equal (RFC 9112 §6.3).
  mutating func takeContentLength(_ value: Span<UInt8>) {
    // Usually there is only one value.
    if contentLength == nil, lengthFault == nil, let count = FieldSyntax.number(value) { return contentLength = count }
    FieldLine.forEachMember(of: value) { takeLength($0) }
  }

  mutating func takeTransferEncoding(_ value: Span<UInt8>) {
    FieldLine.forEachMember(of: value) { takeCoding($0) }
  }

  /// Whether ``length()`` or ``coding()`` throws.
  var isInvalid: Bool { codingFault != nil || lengthFault != nil }

  /// The length of the body in bytes; nil without a `Content-Length`.
  func length() throws(FramingViolation) -> Int? {
    if let lengthFault { throw FramingViolation(reason: lengthFault.reason) }
    return contentLength
  }

  func coding() throws(FramingViolation) -> Coding {
    if let codingFault { throw FramingViolation(reason: codingFault.reason) }
    return foundCoding
  }

  private mutating func takeLength(_ digits: Span<UInt8>) {
    guard lengthFault == nil else { return }
    guard let count = FieldSyntax.number(digits) else {
      lengthFault = Fault("a Content-Length that is not a number of bytes: \(Self.quoted(digits))")
      return
    }
    if let first = contentLength, first != count {
      lengthFault = Fault("two values of Content-Length that differ: \(first) and \(count)")
    }
    contentLength = count
  }

  private mutating func takeCoding(_ name: Span<UInt8>) {
    let isChunked = FieldSyntax.equals(name, "chunked")
    switch foundCoding {
    case .missing where FieldSyntax.equals(name, "identity"): foundCoding = .identity
    case .missing: foundCoding = isChunked ? .chunked(isAlone: true) : .other
    case .identity where FieldSyntax.equals(name, "identity"): return
    case .identity, .other: foundCoding = isChunked ? .chunked(isAlone: false) : .other
    case .chunked:
      guard codingFault == nil else { return }
      codingFault = Fault(
        isChunked
          ? "a Transfer-Encoding that names chunked twice"
          : "a Transfer-Encoding with \(Self.quoted(name)) after chunked, so nothing says where the body ends")
    }
  }

  private static func quoted(_ bytes: Span<UInt8>) -> String {
    let text = bytes.indices.reduce(into: [UInt8]()) { $0.append(bytes[$1]) }
    return "\"" + PlainText.line(String(decoding: text, as: UTF8.self), limitBytes: 40) + "\""
  }
}
