import Glibc
import SluiceJSON
import SluiceSupport

/// Reads whole small files. A pipe is accepted in place of a file, as in `<(…)`, but the wait for its content has a
/// limit.
package enum FileText {
  /// The reason why a file could not be read, as text.
  package struct ReadError: Error, CustomStringConvertible {
    package let description: String
    /// The error number, if the system has refused to read the file.
    package var number: Int32?
  }

  /// The time limit for reading everything from a pipe or a terminal.
  package static let pipeLimit = Duration.seconds(30)
  /// The size limit for a pipe or a device, even if the caller allows more: a device can be endless.
  private static let pipeLimitBytes = 64 << 20

  package static func read(
    _ path: String, limitBytes: Int = .max, pipeLimit: Duration = Self.pipeLimit
  ) throws(ReadError) -> [UInt8] {
    // Without O_NONBLOCK, open would wait for the writer of a FIFO.
    let descriptor = SystemPath.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    let wait = try PipeWait(descriptor, limit: pipeLimit)
    let limitBytes = wait == nil ? limitBytes : min(limitBytes, pipeLimitBytes)
    // Without this wait, a FIFO without a writer would look like an empty one.
    try wait?.untilReady(hasBytes: false)
    var bytes: [UInt8] = []
    while true {
      var readError: Int32 = 0
      let before = bytes.count
      bytes.append(addingCapacity: 65536) { output in
        unsafeRead(descriptor, &output, &readError)
      }
      if readError == EAGAIN, let wait {
        try wait.untilReady(hasBytes: !bytes.isEmpty)
        continue
      }
      guard readError == 0 else { throw failure(readError) }
      if bytes.count == before { return bytes }
      guard bytes.count <= limitBytes else { throw ReadError(description: "it is larger than \(limitBytes) bytes") }
    }
  }

  private static func unsafeRead(_ descriptor: Int32, _ output: inout OutputSpan<UInt8>, _ failure: inout Int32) {
    output.withUnsafeMutableBufferPointer { buffer, initializedCount in
      guard let base = buffer.baseAddress else { return }
      var count = -1
      repeat {
        count = Glibc.read(descriptor, base + initializedCount, buffer.count - initializedCount)
      } while count < 0 && errno == EINTR
      if count < 0 { failure = errno } else { initializedCount += count }
    }
  }

  fileprivate static func failure(_ code: Int32) -> ReadError {
    ReadError(description: String(cString: strerror(code)), number: code)
  }
}

/// Waits for bytes of a pipe, a terminal or a device, up to a limit.
private struct PipeWait {
  private let descriptor: Int32
  /// The kind of the source, for messages: "a pipe", "a terminal" or "a device".
  private let kind: String
  private let limit: Duration
  private let deadline: Duration

  /// Nil for a regular file and for a folder, because reading them never waits.
  init?(_ descriptor: Int32, limit: Duration) throws(FileText.ReadError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileText.failure(errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFDIR: return nil
    case S_IFIFO: kind = "a pipe"
    case S_IFCHR: kind = isatty(descriptor) == 1 ? "a terminal" : "a device"
    default: throw FileText.ReadError(description: "it is neither a file nor a pipe")
    }
    self.descriptor = descriptor
    self.limit = limit
    deadline = MonotonicClock.now + limit
  }

  /// Waits for bytes, or for the end of the input.
  func untilReady(hasBytes: Bool) throws(FileText.ReadError) {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&ready, 1, MonotonicClock.milliseconds(until: deadline))
      if count > 0 { return }
      if count == 0 { break }
      guard errno == EINTR else { throw FileText.failure(errno) }
    }
    let event = hasBytes ? "its writer has not closed it" : "nothing has been written to it"
    throw FileText.ReadError(
      description:
        "it is \(kind), and \(event) within \(DurationText.text(limit)); write to it in that time, or name a regular file"
    )
  }
}
