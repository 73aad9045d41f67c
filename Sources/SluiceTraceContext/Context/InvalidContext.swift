/// Why what a header says of a trace cannot be used.
public struct InvalidContext: Error, Hashable, CustomStringConvertible {
  /// In the spelling of its standard.
  public let header: String
  public let reason: String

  public init(_ header: String, _ reason: String) {
    self.header = header
    self.reason = reason
  }

  public var description: String { "\(header): \(reason)" }
}
