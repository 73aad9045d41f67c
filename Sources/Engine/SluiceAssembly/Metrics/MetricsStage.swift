import SluiceMessages
import SluicePipeline

/// The built-in `metrics`: counts transactions as they happen, separately on each loop. docs/metrics.md describes the
/// counts.
package final class MetricsStage: Tracer {
  private let loops: [LoopMetrics]

  /// - Parameter loops: the number of the engine's loops.
  init(loops: Int) { self.loops = (0..<loops).map { _ in LoopMetrics() } }

  let interests = TraceInterests(.didIssue, .didReceive, .didComplete)

  func record(_ event: TraceEvent) {
    // The array keeps the object alive, so it is not retained for each event.
    Unmanaged.passUnretained(loops[event.exchange.loop.index])._withUnsafeGuaranteedRef { $0.record(event) }
  }

  /// The counts so far. From any thread.
  package func report() -> MetricsReport {
    var report = MetricsReport()
    for loop in loops { loop.add(to: &report) }
    return report
  }
}
