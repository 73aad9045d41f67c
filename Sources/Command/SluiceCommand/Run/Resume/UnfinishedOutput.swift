import Glibc
import SluiceMessages
import SluiceSupport

/// Refuses to empty an output that has a part of the results of this input: it comes from a run that was interrupted.
enum UnfinishedOutput {
  /// Compares the output with the input, if both are regular files and the input is not newer than the output, and then
  /// goes back to the beginning of the input. An output that is not that of a run, or belongs to another input, is not
  /// refused.
  /// - Parameters:
  ///   - lineLimitBytes: a longer line cannot be a result.
  ///   - signal: returns the signal that was received; nil if there was none. After a signal, reading stops.
  static func check(
    _ path: String?, _ input: InputLines, lineLimitBytes: Int, interruptedBy signal: () -> Int32?
  ) throws(CommandError) {
    guard let path, !StandardOutput.isNamed(by: path), let status = SystemPath.status(of: path), status.isRegularFile,
      status.st_size > 0, let change = input.modificationTime, isInOrder(change, status.st_mtim),
      FileIdentity(at: path) != input.file
    else { return }
    let results = try count(InputLines(path: path, limitBytes: lineLimitBytes), signal)
    let lines = try count(input, signal)
    try input.rewind()
    guard results < lines else { return }
    let earlier: ResumedOutput
    do throws(CommandError) {
      earlier = try ResumedOutput(
        path: path, besides: input.file, lineLimitBytes: lineLimitBytes, interruptedBy: signal)
      var resumed = ResumedInput(earlier, input)
      try resumed.check(input, interruptedBy: signal)
    } catch {
      if signal() != nil { throw error }
      return try input.rewind()
    }
    guard earlier.finished.count > 0 else { return }
    throw CommandError(
      .usage,
      "run: \(PlainText.path(path)) has the results of \(earlier.finished.count) of the \(lines) lines of"
        + " \(PlainText.path(input.name)), from a run that was interrupted; give --resume to send the others, or remove"
        + " the file to begin again")
  }

  private static func isInOrder(_ first: timespec, _ second: timespec) -> Bool {
    (first.tv_sec, first.tv_nsec) <= (second.tv_sec, second.tv_nsec)
  }

  /// The number of lines that are not blank.
  private static func count(_ lines: InputLines, _ signal: () -> Int32?) throws(CommandError) -> Int {
    var count = 0
    while true {
      if let signal = signal() { throw .interrupted(by: signal, reading: lines.name) }
      switch lines.next() {
      case .text(let text): if !InputLines.isBlank(text) { count += 1 }
      case .tooLong: count += 1
      case .end: return count
      case .failure(let error): throw error
      }
    }
  }
}
