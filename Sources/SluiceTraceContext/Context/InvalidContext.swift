/// Why what a header says of a trace cannot be used.
public struct InvalidContext: Error, Hashable, CustomStringConvertible {
  /// In the spelling of its standard.
  public let header: String
  /// What is wrong with the value, for people; does not name the header.
  public let reason: String

  /// - Parameter reason: a clause that can follow the header's name and a colon; explanations show it.
  public init(_ header: String, _ reason: String) {
    self.header = header
    self.reason = reason
  }

  /// `header: reason`.
  public var description: String { "\(header): \(reason)" }
}
