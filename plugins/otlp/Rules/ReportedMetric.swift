package import SluiceMessages

/// A metric that the host reports, with its points.
package struct ReportedMetric: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// A value that only increases.
    case counter
    case upDownCounter
    case gauge
    /// A histogram; its upper bounds are ascending.
    case histogram(bounds: [Double])
  }

  package struct Point: Sendable, Hashable {
    package let attributes: [Attribute]
    /// The value; for a histogram, the sum of all values.
    package let value: Double
    /// For a histogram, the counts of the buckets, one more than there are bounds.
    package let counts: [UInt64]

    package init(_ attributes: [Attribute], _ value: Double, counts: [UInt64] = []) {
      self.attributes = attributes
      self.value = value
      self.counts = counts
    }
  }

  package let name: String
  package let description: String
  /// The unit in UCUM notation.
  package let unit: String
  package let kind: Kind
  package let points: [Point]

  /// Whether anything was counted or measured.
  package var hasHappened: Bool { points.contains { $0.value != 0 || $0.counts.contains { $0 != 0 } } }

  package init(_ name: String, _ description: String, unit: String, _ kind: Kind, _ points: [Point]) {
    self.name = name
    self.description = description
    self.unit = unit
    self.kind = kind
    self.points = points
  }
}
