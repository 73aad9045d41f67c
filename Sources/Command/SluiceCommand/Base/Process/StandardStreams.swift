import CLinux
import Glibc
import Sluice
import SluiceAssembly
import SluiceSupport

/// The input that the command was started with. Libraries and the programs that they start cannot read it.
enum StandardInput {
  private static let kept = Locked(STDIN_FILENO)

  /// The descriptor of the command's input.
  static var descriptor: Int32 { kept.withLock { $0 } }

  /// Whether the input is `/dev/null`, or a regular file that has been read to its end. Takes nothing from the input.
  static var isEmpty: Bool {
    var (status, null, byte) = (stat(), stat(), UInt8(0))
    guard fstat(descriptor, &status) == 0 else { return false }
    // A file of /proc has the size 0, but can have content.
    if status.st_mode & S_IFMT == S_IFREG { return pread(descriptor, &byte, 1, lseek(descriptor, 0, SEEK_CUR)) == 0 }
    return status.st_mode & S_IFMT == S_IFCHR && stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev
  }

  /// Refuses an input that was closed at the start. Every command that is to read the input calls it first, so that
  /// nothing is sent in place of what is missing.
  static func check() throws(CommandError) {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags < 0 || flags & O_ACCMODE == O_WRONLY else { return }
    throw CommandError(.usage, "cannot read standard input: \(SystemError.text(EBADF))")
  }

  fileprivate static func keep(_ descriptor: Int32) { kept.withLock { $0 = descriptor } }
}

/// The output that the command was started with.
enum StandardOutput {
  private static let kept = Locked(STDOUT_FILENO)

  /// The descriptor for the command's data. It is -1 if standard output was closed at the start; each write then fails.
  static var descriptor: Int32 { kept.withLock { $0 } }

  /// Reserves standard input and output for the command: after this call, text that libraries print goes to standard
  /// error, and they read nothing. The command has its own descriptor for standard error. Keeps the folder in which the
  /// command was started, too. Must be called once, before any thread is started and any library is mapped.
  static func keepApart() throws(CommandError) {
    var (input, errors): (Int32, Int32) = (-1, -1)
    let hasErrors = fcntl(STDERR_FILENO, F_GETFD) >= 0
    let descriptor = sluice_take_standard_streams(&input, &errors)
    guard descriptor >= 0 || errno == EBADF && input >= 0 && errors >= 0 else {
      throw CommandError(
        .failed, "cannot separate the standard streams from those of plugins: \(String(cString: strerror(errno)))")
    }
    StandardInput.keep(input)
    StandardError.keep(errors, isOpen: hasErrors)
    kept.withLock { $0 = descriptor }
    // A closed input stays at its number, where reading fails.
    SystemPath.keepStart(
      standardInput: input == STDIN_FILENO ? -1 : input, standardOutput: descriptor,
      standardError: hasErrors ? errors : -1)
    SharedState.keep {
      sluice_fill_streams()
    } report: {
      LogOutput.show(LogLine(level: .warning, message: $0))
    }
  }

  /// Whether a path that was given as an argument means standard output: `-`, one of the system's names, or a link to
  /// one. Such a path is not opened: the data is written where the stream stands, and nothing is emptied.
  static func isNamed(by path: String) -> Bool { path == "-" || SystemPath.stream(of: path) == .output }

  /// Writes a short text and waits until it is written. Commands with little output use this.
  static func write(_ text: String) throws(CommandError) { try write(Array(text.utf8)) }

  /// Writes a few bytes and waits until they are written.
  static func write(_ bytes: [UInt8]) throws(CommandError) {
    if let errorNumber = Descriptors.write(bytes, to: descriptor) { throw failure(errorNumber) }
  }

  static func failure(_ errorNumber: Int32) -> CommandError {
    if errorNumber == EPIPE { return CommandError(.brokenPipe, "") }
    return CommandError(.failed, "cannot write standard output: \(Descriptors.text(errorNumber, of: descriptor))")
  }
}

enum StandardError {
  private static let kept = Locked((descriptor: STDERR_FILENO, isOpen: true))

  /// The descriptor for the messages of the command. Plugins cannot close it by accident. If standard error was closed
  /// at the start, the messages go nowhere.
  static var descriptor: Int32 { kept.withLock { $0.descriptor } }

  /// The descriptor for data that is written to standard error because an option names it; -1 if it was closed at the
  /// start, so that each write fails.
  static var dataDescriptor: Int32 { kept.withLock { $0.isOpen ? $0.descriptor : -1 } }

  fileprivate static func keep(_ descriptor: Int32, isOpen: Bool) { kept.withLock { $0 = (descriptor, isOpen) } }

  /// Whether a path that was given as an argument means standard error: one of the system's names, or a link to one. As
  /// with ``StandardOutput/isNamed(by:)``, such a path is not opened.
  static func isNamed(by path: String) -> Bool { SystemPath.stream(of: path) == .errors }

  /// Writes a message of the command itself, as text or as JSON (`--log-format`). Writes nothing if the text is empty.
  static func say(_ message: String, _ level: LogLine.Level = .error) { LogOutput.show(message, level) }

  static func write(_ text: String) { write(Array(text.utf8)) }

  static func write(_ bytes: [UInt8]) {
    // A plugin may have closed the command's own descriptor, and left the stream open.
    if Descriptors.write(bytes, to: descriptor) == EBADF { _ = Descriptors.write(bytes, to: STDERR_FILENO) }
  }
}

enum Descriptors {
  /// The text of an error of a descriptor that the command keeps open. If the descriptor is closed, only code of a
  /// plugin can have closed it.
  static func text(_ errorNumber: Int32, of descriptor: Int32) -> String {
    let text = String(cString: strerror(errorNumber))
    guard errorNumber == EBADF, descriptor >= 0, fcntl(descriptor, F_GETFD) < 0 else { return text }
    return text + SystemError.advice(errorNumber)
  }

  /// Writes all bytes. Returns the error number if that fails.
  static func write(_ text: String, to descriptor: Int32) -> Int32? { write(Array(text.utf8), to: descriptor) }

  /// Writes all bytes. Returns the error number if that fails.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { write($0, to: descriptor) }
  }

  /// Writes all bytes. Returns the error number if that fails.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        waitUntilReady(descriptor, for: POLLOUT)
        continue
      }
      guard count > 0 else { return errno }
      written += count
    }
    return nil
  }

  /// Reads to the end. Reading a folder fails with the status of wrong usage.
  /// - Parameters:
  ///   - name: the name for messages.
  ///   - advice: what to do if there are more bytes than the limit.
  static func readAll(
    _ descriptor: Int32, name: String, limitBytes: Int = .max, advice: String? = nil
  ) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { block.deallocate() }
    while true {
      let count = Glibc.read(descriptor, block.baseAddress, block.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        waitUntilReady(descriptor, for: POLLIN)
        continue
      }
      guard count >= 0 else { throw failure(errno, name) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: block[..<count]))
      guard bytes.count <= limitBytes else {
        throw CommandError(
          .failed, "cannot read \(name): it has more than \(limitBytes) bytes" + (advice.map { "; \($0)" } ?? ""))
      }
    }
  }

  private static func failure(_ errorNumber: Int32, _ name: String) -> CommandError {
    CommandError(
      errorNumber == EISDIR ? .usage : .failed, "cannot read \(name): \(String(cString: strerror(errorNumber)))")
  }

  /// Blocks until a non-blocking descriptor has bytes (`POLLIN`), or room for bytes (`POLLOUT`).
  static func waitUntilReady(_ descriptor: Int32, for events: Int32) {
    var ready = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    poll(&ready, 1, -1)
  }
}
