public import SluiceMessages

/// Why an update was refused, or could not be made.
public struct UpdateError: DescribedError, Sendable, Hashable {
  /// What kind of error it is. Later versions can add codes.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There are too few valid signatures by the keys that the root names (TUF §5: arbitrary software).
    case signature
    /// A document does not have the form of its role, or repeats a name.
    case malformed
    /// The hash, length, version or channel of a file is not the one that a signed document names.
    case mismatch
    /// A version is lower than a version that was accepted before.
    case rollback
    /// A document is out of date.
    case expired
    /// The clock of this machine cannot be right.
    case clock
    /// The release does not fit this machine or this host.
    case unsupported
    /// More bytes arrived than a document allows.
    case tooLarge = "too_large"
    /// A file of the repository could not be fetched.
    case network
    /// The local state is damaged, or a local file cannot be read or written.
    case state
    /// A build is on the list of refused or revoked builds.
    case refused
    /// Another process works on the same updates and did not end in time.
    case busy
    /// The system's crypto library cannot check signatures.
    case verifier
    /// A key, a draft or an option of the publisher is wrong.
    case usage
  }

  /// The kind of the error, for programs.
  public let code: Code
  /// The document, file or plugin.
  public let subject: String
  /// What is wrong, without the subject.
  public let reason: String
  /// What to do; nil if there is nothing to advise.
  public let advice: String?

  package init(_ code: Code, _ subject: String, _ reason: String, advice: String? = nil) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.advice = advice
  }

  /// `SUBJECT: REASON; ADVICE`
  public var description: String { "\(subject): \(reason)" + (advice.map { "; \($0)" } ?? "") }
}
