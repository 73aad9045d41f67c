import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A line on a terminal with the progress of `send`: bytes, rate, remaining time and, if there are several requests,
/// how many have ended.
final class SendProgress: Sendable {
  private static let interval = Duration.milliseconds(200)
  private static let clearLine = "\r\u{1B}[K"

  private let isFinished = Monitor(false)
  private let thread: SystemThread

  /// Returns nil if standard error is not a terminal, or if no bodies are written to files. With `-#`, the progress is
  /// shown even if no bodies are written to files.
  init?(_ arguments: ParsedArguments, _ session: SendSession) throws(CommandError) {
    let terminal = Terminal.standardError
    let isQuiet = ["silent", "no-progress-meter", "verbose"].contains(where: arguments.has)
    let hasFile = ["output", "remote-name", "remote-name-all"].contains(where: arguments.has)
    guard terminal.isTerminal, !isQuiet, hasFile || arguments.has("progress-bar") else { return nil }
    let isFinished = isFinished
    thread = try SystemThread.begin("sluice-progress") {
      var view = View(columns: terminal.columns)
      while isFinished.wait(upTo: Self.interval, { $0 ? true : nil }) == nil {
        StandardError.write(Self.clearLine + view.line(session))
      }
      StandardError.write(Self.clearLine)
    }
  }

  /// Removes the line.
  func finish() {
    isFinished.update { $0 = true }
    thread.join()
  }

  private struct View {
    let columns: Int
    private var last = (time: MonotonicClock.now, bytes: 0)

    init(columns: Int) { self.columns = columns }

    mutating func line(_ session: SendSession) -> String {
      let transfers = session.running.values.map(\.hops.progress)
      // Shows the progress of sending until the first bytes of a response body have arrived.
      let isUpload = transfers.allSatisfy { $0.received.bytes == 0 }
      let parts = transfers.map { isUpload ? $0.sent : $0.received }
      let bytes = parts.reduce(0) { $0 + $1.bytes }
      let totals = parts.map(\.total)
      let total = totals.contains(nil) || totals.isEmpty ? nil : totals.reduce(0) { $0 + ($1 ?? 0) }
      let now = MonotonicClock.now
      let rate = Double(max(0, bytes - last.bytes)) / max((now - last.time).inSeconds, 1e-3)
      last = (now, bytes)
      var words = session.count > 1 ? ["\(session.doneCount) of \(session.count) done"] : []
      words.append(total.map { "\(Figures.bytes(bytes)) of \(Figures.bytes($0))" } ?? Figures.bytes(bytes))
      words.append("\(Figures.bytes(Int(rate)))/s")
      if let total, rate > 0, total > bytes { words.append("\(Figures.remaining(Double(total - bytes) / rate)) left") }
      return bar(total.map { $0 > 0 ? min(1, Double(bytes) / Double($0)) : 1 }) + words.joined(separator: "  ")
    }

    private func bar(_ fraction: Double?) -> String {
      let width = min(30, columns - 60)
      guard let fraction, width >= 10 else { return "" }
      let filled = Int(fraction * Double(width))
      return "[\(String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled))] "
    }
  }
}
