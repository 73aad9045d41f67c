import Glibc
import SluiceMessages
import SluiceSupport

/// The output of an earlier run. Its results are kept, and further results are added after them.
///
/// Each result is written completely before the next result. Therefore, if the process is killed, only the last line
/// can be incomplete.
final class ResumedOutput {
  let path: String
  private(set) var finished = FinishedLines()
  /// The number of results that are errors.
  private(set) var failedCount = 0
  /// The bytes of the incomplete result at the end.
  var incompleteBytes: Int { sizeBytes - wholeBytes }

  /// -1 after ``output()``.
  private var descriptor: Int32
  private var sizeBytes = 0
  /// The bytes of all complete results.
  private var wholeBytes = 0
  /// Whether the last result is complete except for its line end.
  private var needsLineEnd = false

  /// Opens the file, or creates an empty file, and reads its results. Does not change its content.
  /// - Parameters:
  ///   - lineLimitBytes: a longer line cannot be a result.
  ///   - signal: returns the signal that was received; nil if there was none. After a signal, reading stops.
  init(
    path: String?, besides input: FileIdentity?, lineLimitBytes: Int, interruptedBy signal: () -> Int32?
  ) throws(CommandError) {
    guard let path, !StandardOutput.isNamed(by: path) else {
      throw CommandError(
        .usage, "--resume: standard output cannot be read back; name the file of the earlier run with --output")
    }
    self.path = path
    descriptor = open(SystemPath.of(path), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o666)
    guard descriptor >= 0 else {
      throw CommandError(
        .failed, "--resume: cannot open \(PlainText.path(path)): \(String(cString: strerror(errno)))")
    }
    try check(besides: input)
    try read(lineLimitBytes, signal)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  private func check(besides input: FileIdentity?) throws(CommandError) {
    guard let identity = FileIdentity(of: descriptor) else {
      throw CommandError(
        .usage, "--resume: \(PlainText.path(path)) is not a regular file; name the file of the earlier run")
    }
    guard identity != input else {
      throw CommandError(.usage, "\(PlainText.path(path)) is also the input; name another output")
    }
    try OutputLock.take(descriptor, PlainText.path(path))
  }

  // MARK: Reading

  private func read(_ limitBytes: Int, _ signal: () -> Int32?) throws(CommandError) {
    let lines = InputLines(borrowing: descriptor, name: path, limitBytes: limitBytes)
    sizeBytes = lines.totalBytes ?? 0
    let hasLastLineEnd = try endsWithLineEnd()
    while true {
      if let signal = signal() { throw .interrupted(by: signal, reading: path) }
      switch lines.next() {
      case .text(let text):
        let isCut = lines.consumedBytes == sizeBytes && !hasLastLineEnd
        if isCut { try takeLast(text, lines.number) } else { try take(text, lines.number) }
        if !isCut { wholeBytes = lines.consumedBytes }
      case .tooLong: throw damaged(lines.number, "longer than \(limitBytes) bytes")
      case .end: return
      case .failure(let error): throw error
      }
    }
  }

  private func endsWithLineEnd() throws(CommandError) -> Bool {
    guard sizeBytes > 0 else { return true }
    var last: UInt8 = 0
    guard pread(descriptor, &last, 1, off_t(sizeBytes - 1)) == 1 else {
      throw CommandError(.failed, "cannot read \(PlainText.path(path)): \(String(cString: strerror(errno)))")
    }
    return last == 0x0A
  }

  private func take(_ text: UnsafeRawBufferPointer, _ number: Int) throws(CommandError) {
    let result: WrittenResult
    do throws(WrittenResult.Damage) { result = try WrittenResult(parsing: text) } catch {
      throw damaged(number, error.reason)
    }
    guard finished.insert(result.line, id: result.id) else {
      throw CommandError(
        .usage,
        "--resume: line \(number) of \(PlainText.path(path)) is a second result for line \(result.line) of the input;"
          + " remove one of the two")
    }
    if result.isFailure { failedCount += 1 }
  }

  /// Handles a last line that has no line end.
  private func takeLast(_ text: UnsafeRawBufferPointer, _ number: Int) throws(CommandError) {
    if (try? WrittenResult(parsing: text)) != nil {
      try take(text, number)
      wholeBytes = sizeBytes
      needsLineEnd = true
    } else if !WrittenResult.isBeginning(text) {
      // The file is not the output of a run, so it must not be shortened.
      throw damaged(number, "not a result of sluice run")
    }
  }

  private func damaged(_ number: Int, _ reason: String) -> CommandError {
    CommandError(
      .usage,
      "--resume: line \(number) of \(PlainText.path(path)) is damaged: \(reason); remove the line, and its request is sent"
        + " again, or name another output")
  }

  // MARK: Writing

  /// Cuts off the incomplete result, and returns an output that continues after the last complete result. Call it once.
  func output() throws(CommandError) -> ByteOutput {
    let isCut = incompleteBytes <= 0 || ftruncate(descriptor, off_t(wholeBytes)) == 0
    guard isCut, lseek(descriptor, 0, SEEK_END) >= 0 else {
      throw CommandError(.failed, "cannot write \(PlainText.path(path)): \(String(cString: strerror(errno)))")
    }
    let output = try ByteOutput(owning: descriptor, name: path)
    descriptor = -1
    if needsLineEnd { output.append([0x0A]) }
    return output
  }
}

extension CommandError {
  /// The error for a signal that arrives while files are read. The files of a resumed run can be large, so the command
  /// does not read them to the end after a signal.
  static func interrupted(by signal: Int32, reading path: String) -> CommandError {
    CommandError(
      .interrupted(by: signal),
      "--resume: interrupted while reading \(PlainText.path(path)); nothing was sent or changed")
  }
}
