public import SluiceMessages

/// Why a trace header cannot be used.
public struct InvalidContext: DescribedError, Hashable {
  /// The header's name, spelled as in its standard.
  public let header: String
  /// What is wrong with the value, for people. The text does not name the header.
  public let reason: String

  /// - Parameter reason: a clause that can follow the header's name and a colon. Explanations show it.
  public init(_ header: String, _ reason: String) {
    self.header = header
    self.reason = reason
  }

  /// `header: reason`.
  public var description: String { "\(header): \(reason)" }
}
