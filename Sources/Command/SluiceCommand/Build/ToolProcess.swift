import CLinux
import Glibc
import SluicePluginHost
import SluiceSupport
import SluiceTrial

/// A tool of the system, such as a compiler, that runs to its end.
struct ToolProcess {
  /// The program, which is looked up on `PATH`, and its arguments.
  let words: [String]
  /// Variables that are added to the environment.
  var environment: [String: String] = [:]

  init(_ words: [String], environment: [String: String] = [:]) {
    self.words = words
    self.environment = environment
  }

  /// Runs the tool with its output on standard error, because standard output is for data. Returns its status.
  func run() throws(CommandError) -> Int32 { try start(output: StandardError.descriptor) {} }

  /// Runs the tool and returns what it wrote to standard output; nil if the tool fails or does not exist.
  func output() -> String? {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var bytes: [UInt8]?
    let status = try? start(output: ends[1]) {
      close(ends[1])
      bytes = try? Descriptors.readAll(ends[0], name: words.first ?? "a program", limitBytes: 1 << 20)
    }
    if status == nil { close(ends[1]) }
    close(ends[0])
    guard status == 0, let bytes else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func start(output: CInt, _ whileRunning: () -> Void) throws(CommandError) -> Int32 {
    var program = ProgramStart(words, environment: environment)
    program.output = .descriptor(output)
    let process: pid_t
    do {
      process = try program.run()
    } catch {
      throw CommandError(cannotRun: words, error)
    }
    whileRunning()
    return WaitStatus.wait(for: process)?.shellStatus ?? 1
  }
}

// Runs with a time limit.
extension ToolProcess {
  private static let limitBytes = 8 << 20

  /// Runs the tool without input. Returns its status, and what it wrote to both streams. Returns nil if the tool cannot
  /// be started, does not end in time, or writes too much. In the last two cases, every descendant of this process is
  /// killed.
  func outcome(within limit: Duration) -> (status: Int32, text: String)? {
    run(.nothing, collectsErrors: true, within: limit).map { ($0.status, String(decoding: $0.bytes, as: UTF8.self)) }
  }

  /// Runs the tool with a file as its input, and its messages on standard error. Returns its status and its output, or
  /// nil in the same cases as ``outcome(within:)``.
  func bytes(from input: CInt, within limit: Duration) -> (status: Int32, bytes: [UInt8])? {
    run(.descriptor(input), collectsErrors: false, within: limit)
  }

  private func run(
    _ input: ProgramStart.Stream, collectsErrors: Bool, within limit: Duration
  ) -> (status: Int32, bytes: [UInt8])? {
    let end = MonotonicClock.now + limit
    var ends: [CInt] = [-1, -1]
    guard sluice_adopt_orphans() == 0, pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var program = ProgramStart(words, environment: environment)
    (program.input, program.output) = (input, .descriptor(ends[1]))
    program.error = collectsErrors ? .descriptor(ends[1]) : .inherited
    let started = try? program.run()
    close(ends[1])
    guard let process = started else { return nil }
    guard let bytes = Self.read(ends[0], until: end), let status = Self.end(of: process, until: end) else {
      TrialSupervisor.endDescendants(andGroup: process)
      return nil
    }
    return (status.shellStatus, bytes)
  }

  /// Reads to the end of the output. Returns nil if the end is not reached in time.
  private static func read(_ descriptor: CInt, until end: Duration) -> [UInt8]? {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= limitBytes, isReady(descriptor, until: end) {
      let count = Glibc.read(descriptor, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += block[..<count]
    }
    return nil
  }

  private static func end(of process: pid_t, until end: Duration) -> WaitStatus? {
    let descriptor = sluice_open_process(process)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return isReady(descriptor, until: end) ? WaitStatus.wait(for: process) : nil
  }

  private static func isReady(_ descriptor: CInt, until end: Duration) -> Bool {
    while true {
      let left = end - MonotonicClock.now
      guard left > .zero else { return false }
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&ready, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
      if count > 0 { return true }
      guard count == 0 || errno == EINTR else { return false }
    }
  }
}

extension CommandError {
  init(cannotRun words: [String], _ failure: ProgramStart.Failure) {
    self.init(.failed, "cannot run \(words.first ?? "a program"): \(String(cString: strerror(failure.number)))")
  }
}
