/// A line on a terminal that names the current round.
struct BenchProgress {
  private static let clearLine = "\r\u{1B}[K"
  private let isShown: Bool

  init(isQuiet: Bool) { isShown = !isQuiet && Terminal.standardError.isTerminal }

  func show(round: Int, of count: Int) {
    if isShown { StandardError.write("\(Self.clearLine)round \(round) of \(count)") }
  }

  /// Removes the line.
  func finish() {
    if isShown { StandardError.write(Self.clearLine) }
  }
}
