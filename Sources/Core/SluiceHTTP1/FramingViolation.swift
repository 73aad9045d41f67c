/// Why the end of a message is ambiguous.
package struct FramingViolation: Error, Hashable, Sendable {
  /// What is wrong with the head, as a phrase without a full stop.
  package let reason: String

  static let lengthBesideCoding = FramingViolation(
    reason: "both a Content-Length and a Transfer-Encoding, which can end the body in two different places")
  static let codingInHTTP2 = FramingViolation(
    reason: "a Transfer-Encoding, which only HTTP/1.1 has (RFC 9113 §8.2.2)")
}
