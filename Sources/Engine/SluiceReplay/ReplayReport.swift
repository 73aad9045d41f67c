package import SluicePluginHost

/// The result of a replay.
public struct ReplayReport: Sendable {
  package enum Side: String, Sendable, Hashable, CaseIterable {
    case old, new
  }

  /// A build that did not finish: it crashed, hung, ended its process, or could not be loaded.
  package struct Failure: Sendable, Hashable {
    package var side: Side
    package var error: PluginError
    /// Whether somebody else may have killed the process, such as a system without memory.
    package var isKill: Bool

    package init(_ side: Side, _ error: PluginError, isKill: Bool = false) {
      (self.side, self.error, self.isKill) = (side, error, isKill)
    }
  }

  /// An exchange that was not replayed.
  package struct Omission: Sendable, Hashable {
    /// The index in the given recordings.
    package var index: Int
    package var reason: String

    package init(index: Int, reason: String) {
      self.index = index
      self.reason = reason
    }
  }

  /// The comparison of every exchange that finished on both sides.
  package var comparisons: [ReplayComparison]
  package var failures: [Failure]
  package var omissions: [Omission]

  package init(comparisons: [ReplayComparison] = [], failures: [Failure] = [], omissions: [Omission] = []) {
    self.comparisons = comparisons
    self.failures = failures
    self.omissions = omissions
  }

  /// Whether every exchange was replayed and compared completely, without a difference.
  public var isSame: Bool { failures.isEmpty && omissions.isEmpty && comparisons.allSatisfy(\.isSame) }
}
