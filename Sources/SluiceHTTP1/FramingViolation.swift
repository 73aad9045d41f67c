/// Why the end of a message is ambiguous.
package struct FramingViolation: Error, Hashable, Sendable {
  /// What is wrong with the head, without a full stop.
  package let reason: String

  static let lengthBesideCoding = FramingViolation(
    reason: "both a Content-Length and a Transfer-Encoding, which may end the body in two places")
  static let codingInHTTP2 = FramingViolation(
    reason: "a Transfer-Encoding, which HTTP/1.1 alone has (RFC 9113 §8.2.2)")
}
