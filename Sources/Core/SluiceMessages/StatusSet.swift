/// A set of status codes, given as codes and classes.
public struct StatusSet: Sendable, Hashable {
  /// The ranges as they were given: in any order, and they may overlap.
  package private(set) var ranges: [ClosedRange<Int>]

  /// The statuses that are in any of the ranges; none if there are no ranges.
  public init(_ ranges: [ClosedRange<Int>]) { self.ranges = ranges }

  /// Everything below 400.
  package static let notAnError = StatusSet([100...399])

  package var isEmpty: Bool { ranges.isEmpty }

  /// Whether any of the ranges has the status.
  package func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }
}
