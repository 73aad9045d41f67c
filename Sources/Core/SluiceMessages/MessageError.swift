/// Why a message, or a part of one, cannot be used.
public struct MessageError: DescribedError, Sendable, Hashable {
  /// The kind of the error, for programs.
  public var code: ErrorCode
  /// The part that is at fault, for instance `header "x-a"`; safe to show.
  public var subject: String
  /// What was found, and what was expected.
  public var reason: String

  /// Both texts are shown to people, so they must not hold a secret.
  package init(_ code: ErrorCode, _ subject: String, _ reason: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
  }

  /// `subject: reason`, without the code.
  public var description: String { "\(subject): \(reason)" }
}
