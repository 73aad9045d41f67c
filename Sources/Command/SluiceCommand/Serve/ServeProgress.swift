import Sluice
import SluiceAssembly
import SluicePipeline
import SluiceSupport

/// The line of `serve`: requests a second, failures, latencies, and the snapshot that serves.
struct ServeProgress: LiveText {
  private let engine: Engine
  private let terminal: Terminal
  private var last: (time: Duration, completed: UInt64)

  init(_ engine: Engine, _ terminal: Terminal) {
    self.engine = engine
    self.terminal = terminal
    last = (MonotonicClock.now, 0)
  }

  mutating func line() -> String {
    let metrics = engine.metrics()
    let now = MonotonicClock.now
    let rate = Double(metrics.completed &- last.completed) / max((now - last.time).inSeconds, 1e-3)
    last = (now, metrics.completed)
    let failed = metrics[.failed]
    let failures = "\(Figures.count(Int(clamping: failed))) failed"
    var parts = [
      "\(Figures.count(Int(rate)))/s", "\(Figures.count(Int(clamping: metrics.inFlight))) in flight",
      failed > 0 ? terminal.colored(failures, .red) : failures,
    ]
    if !metrics.duration.isEmpty {
      parts.append(
        "p50 \(Figures.time(nanoseconds: metrics.duration.p50)) p99 \(Figures.time(nanoseconds: metrics.duration.p99))")
    }
    parts.append("snapshot \(engine.snapshotNumber)")
    return parts.joined(separator: "  ")
  }
}
