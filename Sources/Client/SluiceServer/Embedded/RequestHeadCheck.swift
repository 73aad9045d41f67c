import SluiceHTTP1
import SluiceMessages

/// Checks whether the fields of a head allow only one reading of the message.
///
/// libmicrohttpd 0.9.75 takes the first of several lengths, prefers a transfer coding to any length, and treats a name
/// that is followed by a space as another field. It drops the bytes of a value after a NUL, so a NUL cannot be detected
/// here.
struct RequestHeadCheck {
  private var framing = RequestFraming()
  private var reason: String?
  private var hasHost = false
  private var hasTransferCoding = false
  private var firstLength: LengthForm?

  /// How libmicrohttpd reads the value of a `Content-Length`.
  private enum LengthForm { case number, tooLarge, malformed }

  mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    if !FieldSyntax.isToken(name) {
      reason = "the field name \(PlainText.quote(name)) is not a token (RFC 9112 §5.1)"
    } else if !Self.isValue(value) {
      reason = "the field \(PlainText.quote(name)) has a CR, LF or NUL in its value (RFC 9110 §5.5)"
    } else if name.count == 4, FieldSyntax.equals(name, "host") {
      if hasHost { reason = "more than one Host (RFC 9112 §3.2)" }
      hasHost = true
    } else if Self.begins(name, "content-length") {
      guard name.count == 14 else { return refuseFolded(name) }
      framing.takeContentLength(value)
      if firstLength == nil { firstLength = Self.form(of: value) }
    } else if Self.begins(name, "transfer-encoding") {
      guard name.count == 17 else { return refuseFolded(name) }
      framing.takeTransferEncoding(value)
      hasTransferCoding = true
    }
  }

  /// libmicrohttpd 0.9.75 appends the second line of a folded field (RFC 9112 §5.2) to the field's name. This would
  /// hide a `Content-Length` or a `Transfer-Encoding`.
  private mutating func refuseFolded(_ name: Span<UInt8>) {
    reason = "the field name \(PlainText.quote(name)) looks like a folded Content-Length or Transfer-Encoding"
  }

  private static func begins(_ name: Span<UInt8>, _ lowercase: StaticString) -> Bool {
    let count = lowercase.utf8CodeUnitCount
    return name.count >= count && FieldSyntax.equals(name.extracting(0..<count), lowercase)
  }

  /// - Parameter version: the version in the request line.
  func fault(version: String) -> HeadFault? {
    if let reason { return HeadFault(status: 400, reason: reason) }
    do throws(FramingViolation) {
      guard try framing.body(version: version == "HTTP/1.0" ? .http10 : .http11) == .codedChunks else { return nil }
      return HeadFault(
        status: 501, reason: "the Transfer-Encoding has a coding other than chunked, which this server does not know")
    } catch { return HeadFault(status: 400, reason: error.reason) }
  }

  /// Why libmicrohttpd refuses the head before this server can look at it.
  enum LengthFault { case none, tooLarge, malformed(HeadFault) }

  /// The fault of the length, if libmicrohttpd reads the length and cannot.
  var lengthFault: LengthFault {
    switch hasTransferCoding ? .number : firstLength ?? .number {
    case .number: .none
    case .tooLarge: .tooLarge
    case .malformed:
      .malformed(fault(version: "") ?? HeadFault(status: 400, reason: "a Content-Length that is not one number"))
    }
  }

  private static func form(of value: Span<UInt8>) -> LengthForm {
    guard !value.isEmpty else { return .malformed }
    var number: UInt64 = 0
    var isTooLarge = false
    for index in value.indices {
      guard (0x30...0x39).contains(value[index]) else { return .malformed }
      let (product, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(value[index] - 0x30))
      isTooLarge = isTooLarge || overflow || carry
      number = sum
    }
    return isTooLarge ? .tooLarge : .number
  }

  private static func isValue(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] == 0x0D || bytes[index] == 0x0A || bytes[index] == 0 { return false }
    return true
  }
}
