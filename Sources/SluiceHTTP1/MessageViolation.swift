/// Why received bytes are not the HTTP/1.1 message that they should be.
package struct MessageViolation: Error, Hashable, Sendable {
  /// Which rule the bytes break.
  package enum Kind: Sendable, Hashable {
    /// The bytes do not begin like HTTP at all.
    case notHTTP
    /// A head, a field, a chunk or the framing that is not valid.
    case invalid
    /// Valid so far, but more than the limit.
    case tooLong
  }

  package let kind: Kind
  /// What is wrong, without a full stop.
  package let reason: String

  package init(_ kind: Kind = .invalid, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }

  /// - Parameter part: the head, or the trailers.
  package static func excess(ofBytes limits: MessageLimits, part: String) -> Self {
    MessageViolation(.tooLong, "\(part) of more than \(limits.headBytes) bytes")
  }

  package static func excess(ofFields limits: MessageLimits, part: String) -> Self {
    MessageViolation(.tooLong, "\(part) with more than \(limits.fields) fields")
  }

  package static func excess(ofInformational limits: MessageLimits) -> Self {
    MessageViolation(.tooLong, "more than \(limits.informationalResponses) informational responses")
  }
}

/// How much of a message is accepted.
package struct MessageLimits: Sendable, Hashable {
  /// Bytes of one head, including its line ends; also of the trailers of one message.
  package var headBytes = 256 << 10
  /// Fields of one head; also of the trailers of one message.
  package var fields = 4096
  /// Informational responses (1xx) before the final response.
  package var informationalResponses = 100
  /// Bytes of all chunk extensions of one body.
  package var chunkExtensionBytes = 16 << 10

  package init() {}
}
