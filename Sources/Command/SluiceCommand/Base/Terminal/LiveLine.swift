import SluiceSupport

/// The text of a ``LiveLine``.
protocol LiveText {
  /// The text for now. Called regularly, on a thread of its own.
  mutating func line() -> String
}

/// One line at the bottom of a terminal that is drawn again and again while a command works.
final class LiveLine: Sendable {
  private static let interval = Duration.milliseconds(200)
  private static let clearLine = "\r\u{1B}[K"

  private let isFinished = Monitor(false)
  private let thread: SystemThread

  /// Returns nil if standard error is not a terminal, or if the arguments disable the line.
  init?(
    _ arguments: ParsedArguments, _ begin: @escaping @Sendable (Terminal) -> any LiveText
  ) throws(CommandError) {
    let terminal = Terminal.standardError
    guard terminal.isTerminal, LogOutput.format == .text, !arguments.has("quiet"), !arguments.has("no-progress") else {
      return nil
    }
    let isFinished = isFinished
    thread = try SystemThread.begin("sluice-progress") {
      var text = begin(terminal)
      while isFinished.wait(upTo: Self.interval, { $0 ? true : nil }) == nil {
        StandardError.write(Self.clearLine + text.line())
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
