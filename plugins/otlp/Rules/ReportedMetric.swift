public import SluiceMessages

/// A metric that the host reports, with its points.
public struct ReportedMetric: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// Grows only.
    case counter
    case upDownCounter
    case gauge
    /// With ascending upper bounds.
    case histogram(bounds: [Double])
  }

  public struct Point: Sendable, Hashable {
    public let attributes: [Attribute]
    /// For a histogram the sum of all values.
    public let value: Double
    /// For a histogram: one more than there are bounds.
    public let counts: [UInt64]

    public init(_ attributes: [Attribute], _ value: Double, counts: [UInt64] = []) {
      self.attributes = attributes
      self.value = value
      self.counts = counts
    }
  }

  public let name: String
  public let description: String
  /// UCUM.
  public let unit: String
  public let kind: Kind
  public let points: [Point]

  public init(_ name: String, _ description: String, unit: String, _ kind: Kind, _ points: [Point]) {
    self.name = name
    self.description = description
    self.unit = unit
    self.kind = kind
    self.points = points
  }
}
