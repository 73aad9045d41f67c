import SluicePluginHost
public import SluicePluginImage

/// What came of a replay.
public struct ReplayReport: Sendable {
  public enum Side: String, Sendable, Hashable, CaseIterable {
    case old, new
  }

  /// A build that did not come through: it crashed, hung, ended its process, or could not be loaded.
  public struct Failure: Sendable, Hashable {
    public var side: Side
    public var error: PluginError

    public init(_ side: Side, _ error: PluginError) {
      self.side = side
      self.error = error
    }
  }

  /// An exchange that was not replayed.
  public struct Omission: Sendable, Hashable {
    /// The place in the recordings that were given.
    public var index: Int
    public var reason: String

    public init(index: Int, reason: String) {
      self.index = index
      self.reason = reason
    }
  }

  /// Of every exchange that came through on both sides.
  public var comparisons: [ReplayComparison]
  public var failures: [Failure]
  public var omissions: [Omission]

  public init(comparisons: [ReplayComparison] = [], failures: [Failure] = [], omissions: [Omission] = []) {
    self.comparisons = comparisons
    self.failures = failures
    self.omissions = omissions
  }

  /// Whether everything was replayed and nothing differs.
  public var isSame: Bool { failures.isEmpty && omissions.isEmpty && comparisons.allSatisfy(\.isSame) }
}
