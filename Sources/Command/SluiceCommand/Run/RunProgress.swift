import Glibc
import Sluice
import SluiceAssembly
import SluicePipeline
import SluiceSupport

/// The line of a run: count, rate, errors and latencies, and the remaining time if the size of the input is known.
struct RunProgress: LiveText {
  private let session: RunSession
  private let engine: Engine
  private let input: InputLines
  private var view: ProgressView

  init(_ session: RunSession, _ engine: Engine, _ input: InputLines, _ terminal: Terminal) {
    self.session = session
    self.engine = engine
    self.input = input
    view = ProgressView(terminal: terminal, totalBytes: input.totalBytes)
  }

  mutating func line() -> String {
    let skipped = session.skippedBytes
    let read = (consumed: max(input.consumedBytes, skipped), skipped: skipped)
    return view.line(session.counts, session.inFlight, engine.metrics().duration, read)
  }
}

/// The text of the line.
struct ProgressView {
  /// The latencies are shown only if the window is at least this wide.
  private static let latencyColumns = 120

  let terminal: Terminal
  let totalBytes: Int?
  private let started = MonotonicClock.now
  private var last = (time: MonotonicClock.now, completed: 0)

  init(terminal: Terminal, totalBytes: Int?) {
    self.terminal = terminal
    self.totalBytes = totalBytes
  }

  /// - Parameter bytes: the bytes of the lines that were read, and the bytes of the lines that were skipped because
  ///   they already had a result.
  mutating func line(
    _ counts: RunCounts, _ inFlight: Int, _ latency: LatencySnapshot, _ bytes: (consumed: Int, skipped: Int)
  ) -> String {
    let now = MonotonicClock.now
    let rate = Double(counts.completed - last.completed) / max((now - last.time).inSeconds, 1e-3)
    last = (now, counts.completed)
    var parts = [
      "\(Figures.count(counts.completed)) done", "\(Figures.count(Int(rate)))/s",
      "\(Figures.count(inFlight)) in flight",
    ]
    let errors = "\(Figures.count(counts.failed)) failed"
    parts.append(counts.failed > 0 ? terminal.colored(errors, .red) : errors)
    if !latency.isEmpty, terminal.columns >= Self.latencyColumns { parts.append(Self.text(latency)) }
    guard let totalBytes, totalBytes > 0 else { return parts.joined(separator: "  ") }
    let fraction = min(1, Double(bytes.consumed) / Double(totalBytes))
    let sent = bytes.consumed - bytes.skipped
    let left = (now - started).inSeconds * Double(max(0, totalBytes - bytes.consumed)) / Double(max(sent, 1))
    if sent > 0 { parts.append("\(Figures.remaining(left)) left") }
    return bar(fraction) + parts.joined(separator: "  ")
  }

  private static func text(_ latency: LatencySnapshot) -> String {
    let times = [("p50", latency.p50), ("p90", latency.p90), ("p99", latency.p99)]
    return times.map { "\($0) \(Figures.time(nanoseconds: $1))" }.joined(separator: " ")
  }

  /// The bar; empty if the window is narrow.
  private func bar(_ fraction: Double) -> String {
    let width = min(30, terminal.columns - (terminal.columns >= Self.latencyColumns ? 110 : 70))
    guard width >= 10 else { return "" }
    let filled = Int(fraction * Double(width))
    let text = String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
    return "[\(terminal.colored(text, .green))] "
  }
}
