public import SluiceAssembly

/// Why a swap published nothing; the current builds continue to serve.
public struct SwapError: Error, Sendable, CustomStringConvertible {
  /// The report, as in the engine's history; ``SwapReport/outcome`` is the kind of failure.
  public let report: SwapReport
  /// The error of a plugin or a configuration, if that was the reason.
  public let underlying: EngineError?

  /// The report on one line: the request, its number, its outcome, and the reason.
  public var description: String { report.description }
}
