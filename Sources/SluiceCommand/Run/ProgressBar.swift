import Glibc
import SluiceSupport

/// One line on a terminal with the progress of a run: count, rate, errors, and the remaining time if the size of the
/// input is known.
final class ProgressBar: Sendable {
  private static let interval = Duration.milliseconds(200)
  private static let clearLine = "\r\u{1B}[K"

  private let session: RunSession
  private let input: InputLines
  private let isFinished = Monitor(false)
  private let thread: SystemThread

  /// Nil if standard error is not a terminal, or the progress bar is disabled.
  init?(_ arguments: ParsedArguments, _ session: RunSession, _ input: InputLines) throws(CommandError) {
    let terminal = Terminal.standardError
    guard terminal.isTerminal, LogOutput.format == .text, !arguments.has("quiet"), !arguments.has("no-progress") else {
      return nil
    }
    self.session = session
    self.input = input
    let isFinished = isFinished
    thread = try SystemThread.begin("sluice-progress") {
      var view = ProgressView(terminal: terminal, totalBytes: input.totalBytes)
      while isFinished.wait(upTo: Self.interval, { $0 ? true : nil }) == nil {
        StandardError.write(Self.clearLine + view.line(session.counts, session.inFlight, input.consumedBytes))
      }
      StandardError.write(Self.clearLine)
    }
  }

  /// Removes the line.
  func finish() {
    isFinished.withLock { $0 = true }
    isFinished.broadcast()
    thread.join()
  }
}

/// The text of the line.
struct ProgressView {
  let terminal: Terminal
  let totalBytes: Int?
  private let started = MonotonicClock.now
  private var last = (time: MonotonicClock.now, completed: 0)

  init(terminal: Terminal, totalBytes: Int?) {
    self.terminal = terminal
    self.totalBytes = totalBytes
  }

  mutating func line(_ counts: RunCounts, _ inFlight: Int, _ consumedBytes: Int) -> String {
    let now = MonotonicClock.now
    let rate = Double(counts.completed - last.completed) / max((now - last.time).inSeconds, 1e-3)
    last = (now, counts.completed)
    var parts = [
      "\(Figures.count(counts.completed)) done", "\(Figures.count(Int(rate)))/s",
      "\(Figures.count(inFlight)) in flight",
    ]
    let errors = "\(Figures.count(counts.failed)) failed"
    parts.append(counts.failed > 0 ? terminal.colored(errors, .red) : errors)
    guard let totalBytes, totalBytes > 0 else { return parts.joined(separator: "  ") }
    let fraction = min(1, Double(consumedBytes) / Double(totalBytes))
    let left = (now - started).inSeconds * (1 - fraction) / max(fraction, 1e-9)
    if fraction > 0 { parts.append("\(Figures.remaining(left)) left") }
    return bar(fraction) + parts.joined(separator: "  ")
  }

  /// Left out if the window is narrow.
  private func bar(_ fraction: Double) -> String {
    let width = min(30, terminal.columns - 70)
    guard width >= 10 else { return "" }
    let filled = Int(fraction * Double(width))
    let text = String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
    return "[\(terminal.colored(text, .green))] "
  }
}
