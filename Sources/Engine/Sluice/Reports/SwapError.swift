public import SluiceMessages
public import SluiceAssembly

/// The error of a swap that has published nothing. The current builds continue to serve.
public struct SwapError: DescribedError, Sendable {
  /// The report, as in the engine's history; ``SwapReport/outcome`` is the kind of failure.
  public let report: SwapReport
  /// The error of a plugin or a configuration, if such an error was the reason; otherwise nil.
  public let underlying: EngineError?

  /// The report on one line: the request, its number, its outcome, and the reason.
  public var description: String { report.description }
}

extension SwapError {
  /// The error of a reload that was refused before it became a request of the engine.
  package init(reload reason: String, snapshot: Int) {
    var report = SwapReport(id: 0, trigger: .reload, began: .zero, outcome: .refused, snapshot: snapshot)
    report.reason = reason
    self.init(report: report, underlying: nil)
  }
}
