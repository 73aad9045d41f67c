/// Why received bytes are not a valid HTTP/1.1 message.
package struct MessageViolation: Error, Hashable, Sendable {
  /// Which rule the bytes break.
  package enum Kind: Sendable, Hashable {
    /// The bytes do not begin like an HTTP message.
    case notHTTP
    /// A head, a field, a chunk or the framing is not valid.
    case invalid
    /// The message is valid so far, but exceeds this limit.
    case tooLong(MessageLimits.Limit)
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
    MessageViolation(.tooLong(.headBytes), "\(part) of more than \(limits.headBytes) bytes")
  }

  package static func excess(ofFields limits: MessageLimits, part: String) -> Self {
    MessageViolation(.tooLong(.fields), "\(part) with more than \(limits.fields) fields")
  }

  package static func excess(ofInformational limits: MessageLimits) -> Self {
    MessageViolation(
      .tooLong(.informationalResponses), "more than \(limits.informationalResponses) informational responses")
  }
}

/// The limits for a message.
package struct MessageLimits: Sendable, Hashable {
  /// The name of one of the limits.
  package enum Limit: Sendable, Hashable { case headBytes, fields, informationalResponses, chunkExtensionBytes }

  /// The maximum number of bytes of a head, including its line ends. It also applies to the trailers of a message.
  package var headBytes = 256 << 10
  /// The maximum number of bytes of a request target that a server takes.
  package var targetBytes = 64 << 10
  /// The maximum number of fields of a head. It also applies to the trailers of a message.
  package var fields = 4096
  /// The maximum number of informational responses (1xx) before the final response.
  package var informationalResponses = 100
  /// The maximum number of bytes of all chunk extensions in a body.
  package var chunkExtensionBytes = 16 << 10

  package init() {}
}
