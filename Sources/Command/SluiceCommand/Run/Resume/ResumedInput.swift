import SluiceJSON
import SluiceMessages

/// Knows which lines of an input already have a result, and checks that the results belong to this input.
struct ResumedInput: Sendable {
  let finished: FinishedLines
  let counts: RunCounts
  private let outputName: String
  private let inputName: String
  /// Whether all lines with a result have already been compared with their results.
  private var isChecked = false

  init(_ output: ResumedOutput, _ input: InputLines) {
    finished = output.finished
    counts = RunCounts(kept: output.finished.count, keptFailed: output.failedCount)
    outputName = PlainText.path(output.path)
    inputName = PlainText.path(input.name)
  }

  /// Compares the lines of a regular file with the results up to the last line that has a result, and then goes back to
  /// the beginning of the file. A run whose output belongs to another input therefore fails before it sends a request.
  mutating func check(_ input: InputLines, interruptedBy signal: () -> Int32?) throws(CommandError) {
    reading: while input.number < finished.last {
      if let signal = signal() { throw .interrupted(by: signal, reading: input.name) }
      switch input.next() {
      case .text(let text): _ = try skips(text, input.number)
      case .tooLong: break
      case .end:
        try checkEnd(input.number)
        break reading
      case .failure(let error): throw error
      }
    }
    try input.rewind()
    isChecked = true
  }

  /// Whether a line already has a result. Fails if the id of the result is not the id of the line.
  func skips(_ text: UnsafeRawBufferPointer, _ line: Int) throws(CommandError) -> Bool {
    guard let expected = finished[line] else { return false }
    if isChecked { return true }
    guard !InputLines.isBlank(text) else { throw other("line \(line) of \(inputName) is blank") }
    guard expected == .ofUnreadLine || expected == IDFingerprint(of: RunParser.id(of: text, line: line).text) else {
      throw other("its result for line \(line) has another id than line \(line) of \(inputName)")
    }
    return true
  }

  /// Must be called at the end of the input. Fails if a result belongs to a line after the end.
  func checkEnd(_ count: Int) throws(CommandError) {
    guard finished.last > count else { return }
    throw other("it has a result for line \(finished.last), and \(inputName) has \(count) lines")
  }

  private func other(_ reason: String) -> CommandError {
    CommandError(
      .usage,
      "--resume: \(outputName) belongs to another input: \(reason);"
        + " name the input of the earlier run, unchanged, or another output")
  }
}
