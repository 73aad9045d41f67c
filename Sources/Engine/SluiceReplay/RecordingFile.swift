import Glibc
public import SluiceAssembly
import SluiceJSON
public import SluiceMessages
public import SluicePipeline
import SluiceSupport

/// Recordings as JSON Lines, one exchange on each line, in a file that only its owner may read.
///
/// Secrets are not written: values in the redaction list become `REDACTED`, in fields and in URLs. Bodies are written
/// unchanged, up to 1 MiB each.
public enum RecordingFile {
  /// The maximum size of one line.
  package static let maximumLineBytes = 64 << 20

  /// Why recordings could not be written or read. It concerns the whole file, or one line, counted from 1.
  public enum Failure: DescribedError, Sendable {
    case file(path: String, reason: String)
    case line(path: String, number: Int, reason: String)

    /// `recordings PATH: reason`. For a line it also has the line's number and what to do.
    public var description: String {
      switch self {
      case .file(let path, let reason): "recordings \(PlainText.path(path)): \(reason)"
      case .line(let path, let number, let reason):
        "recordings \(PlainText.path(path)), line \(number): \(reason); remove the line, or record again"
      }
    }
  }

  /// Writes a new file, which replaces an existing one. Blocks.
  ///
  /// A symbolic link is followed, and stays. A pipe or a device is written where it is; a FIFO must have a reader
  /// already.
  ///
  /// - Parameter redaction: the values to hide in addition to those that are always hidden.
  public static func write(
    _ exchanges: some Sequence<RecordedExchange>, to path: String, redaction: RedactionSettings = RedactionSettings()
  ) throws(Failure) {
    let secrets = Redactor(headers: redaction.headers, query: redaction.query)
    guard let end = OutputTarget.following(path) else { throw failure(path) }
    let kind = OutputTarget.isInProc(end) ? .stream : OutputTarget(at: end)
    guard kind != .stream else {
      return try write(exchanges, secrets, to: OutputTarget.open(end, O_WRONLY | O_APPEND, mode: 0, limit: .zero), path)
    }
    guard kind == .file else { throw .file(path: path, reason: "it is a folder or a socket; name a file") }
    let draft = "\(end).\(getpid()).new"
    unlink(draft)
    do throws(Failure) {
      let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      try write(exchanges, secrets, to: descriptor, path)
      guard rename(draft, end) == 0 else { throw failure(path) }
    } catch {
      unlink(draft)
      throw error
    }
  }

  /// Closes the descriptor.
  /// - Parameter descriptor: negative, with `errno` set, if the file could not be opened.
  private static func write(
    _ exchanges: some Sequence<RecordedExchange>, _ secrets: Redactor, to descriptor: CInt, _ path: String
  ) throws(Failure) {
    guard descriptor >= 0 else {
      let number = errno
      guard number == ENXIO, OutputTarget.isPipe(at: path) else { throw failure(path, number) }
      throw .file(path: path, reason: "no process has opened the pipe for reading; start its reader first")
    }
    let file = FileDescriptor(owning: descriptor)
    for exchange in exchanges {
      guard file.writeAll(line(of: exchange, hiding: secrets)) else { throw failure(path) }
    }
  }

  /// Returns the line for an exchange, with its line end. Reads a body that is in a file.
  package static func line(of exchange: RecordedExchange, hiding secrets: Redactor) -> [UInt8] {
    ((try? exchange.document(.init(secrets: secrets)).serialized()) ?? []) + [UInt8(ascii: "\n")]
  }

  /// Reads the last recordings of a file, as many as fit into the buffer. Blocks.
  ///
  /// - Returns: the recordings, and whether the last line was incomplete and therefore left out.
  /// - Throws: an error with the number of the first invalid line. A missing final line break is not an error, because
  ///   a writer may have been stopped there.
  public static func read(
    _ path: String, into buffer: RecordingBuffer = RecordingBuffer()
  ) throws(Failure) -> (recordings: RecordingBuffer, isCutOff: Bool) {
    let descriptor = SystemPath.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var (buffer, rest, number): (RecordingBuffer, [UInt8], Int) = (buffer, [], 0)
    while let piece = try read(descriptor, path), !piece.isEmpty {
      var parts = piece.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let last = parts.removeLast()
      for part in parts {
        number += 1
        rest += part
        if number == 1 { rest = Array(rest.withoutByteOrderMark) }
        if !rest.isEmpty { buffer.append(try exchange(rest[...], path, number)) }
        rest = []
      }
      rest += last
      guard rest.count <= maximumLineBytes else {
        throw .line(path: path, number: number + 1, reason: "longer than \(maximumLineBytes) bytes")
      }
    }
    if number == 0 { rest = Array(rest.withoutByteOrderMark) }
    guard !rest.isEmpty else { return (buffer, false) }
    guard let last = try? exchange(rest[...], path, number + 1) else { return (buffer, true) }
    buffer.append(last)
    return (buffer, false)
  }

  private static func exchange(
    _ line: ArraySlice<UInt8>, _ path: String, _ number: Int
  ) throws(Failure) -> RecordedExchange {
    let document: JSONValue
    do { document = try JSONValue(parsing: line) } catch {
      throw .line(path: path, number: number, reason: "not JSON: \(error.message)")
    }
    do { return try RecordedExchange(document) } catch {
      throw .line(path: path, number: number, reason: "\(error)")
    }
  }

  private static func read(_ descriptor: CInt, _ path: String) throws(Failure) -> [UInt8]? {
    var count = -1
    let piece = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, filled in
      repeat { count = Glibc.read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      filled = max(count, 0)
    }
    guard count >= 0 else { throw failure(path) }
    return piece
  }

  private static func failure(_ path: String, _ number: CInt = errno) -> Failure {
    .file(path: path, reason: String(cString: strerror(number)))
  }
}
