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

  mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    if !FieldSyntax.isToken(name) {
      reason = "the field name \(PlainText.quote(name)) is not a token (RFC 9112 §5.1)"
    } else if !Self.isValue(value) {
      reason = "the field \(PlainText.quote(name)) has a CR, LF or NUL in its value (RFC 9110 §5.5)"
    } else if name.count == 4, FieldSyntax.equals(name, "host") {
      if hasHost { reason = "more than one Host (RFC 9112 §3.2)" }
      hasHost = true
    } else if Self.begins(name, "content-length") {
      name.count == 14 ? framing.takeContentLength(value) : refuseFolded(name)
    } else if Self.begins(name, "transfer-encoding") {
      name.count == 17 ? framing.takeTransferEncoding(value) : refuseFolded(name)
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

  private static func isValue(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] == 0x0D || bytes[index] == 0x0A || bytes[index] == 0 { return false }
    return true
  }
}
