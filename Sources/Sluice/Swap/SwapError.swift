/// Why a swap published nothing; what served goes on.
public struct SwapError: Error, Sendable, CustomStringConvertible {
  /// What the engine's history has of it; ``SwapReport/outcome`` is the kind of failure.
  public let report: SwapReport
  /// What was wrong with a plugin or a configuration, where that was it.
  public let underlying: EngineError?

  public var description: String { report.description }
}
