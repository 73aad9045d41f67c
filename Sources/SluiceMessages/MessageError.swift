/// Why a message, or a part of one, cannot be used.
public struct MessageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error; an extensible set.
  public struct Code: Sendable, Hashable {
    public let text: String
    public init(_ text: String) { self.text = text }

    public static let invalidURL = Code("invalid_url")
    public static let unsupportedScheme = Code("unsupported_scheme")
    public static let invalidMethod = Code("invalid_method")
    public static let invalidHeader = Code("invalid_header")
    public static let invalidBody = Code("invalid_body")
    public static let invalidDocument = Code("invalid_document")
  }

  public var code: Code
  /// The part that is at fault, for instance `header "x-a"`; safe to show.
  public var subject: String
  /// What was found, and what was expected.
  public var reason: String

  public init(_ code: Code, _ subject: String, _ reason: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
  }

  public var description: String { "\(subject): \(reason)" }
}
