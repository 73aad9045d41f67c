/// Why a message, or a part of one, cannot be used.
public struct MessageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error; an extensible set.
  public struct Code: Sendable, Hashable {
    /// The code as results and documents spell it, such as `invalid_url`.
    public let text: String
    /// - Parameter text: lower-case words joined by `_`; it is not checked.
    public init(_ text: String) { self.text = text }

    /// A URL that is not absolute, or that readers could understand in different ways; or an invalid host pattern.
    public static let invalidURL = Code("invalid_url")
    /// An absolute URL whose scheme is neither `http` nor `https`.
    public static let unsupportedScheme = Code("unsupported_scheme")
    /// A method that is not a token, or `CONNECT`.
    public static let invalidMethod = Code("invalid_method")
    /// A field name or value that breaks RFC 9110 §5, or a wrong `Host`.
    public static let invalidHeader = Code("invalid_header")
    /// A body that is not accepted, for instance one larger than `transport.maxRequestBytes`.
    public static let invalidBody = Code("invalid_body")
    /// Not JSON, or JSON that is not the expected document.
    public static let invalidDocument = Code("invalid_document")
  }

  /// The kind of the error, for programs.
  public var code: Code
  /// The invalid part, for instance `header "x-a"`; safe to show.
  public var subject: String
  /// What was found, and what was expected.
  public var reason: String

  /// Both texts are shown to people, so they must not hold a secret.
  public init(_ code: Code, _ subject: String, _ reason: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
  }

  /// `subject: reason`, without the code.
  public var description: String { "\(subject): \(reason)" }
}
