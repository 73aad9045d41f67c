import Glibc
import SluicePluginHost

/// A tool of the system, such as a compiler, run to its end.
struct ToolProcess {
  /// The program, found on `PATH`, and what it is given.
  let words: [String]
  /// Added to the environment.
  var environment: [String: String] = [:]

  init(_ words: [String], environment: [String: String] = [:]) {
    self.words = words
    self.environment = environment
  }

  /// What it says goes to standard error, which is for messages; gives its status.
  func run() throws(CommandError) -> Int32 { try start(output: STDERR_FILENO) {} }

  /// Gives what it wrote to standard output; nil where it failed, or is not there.
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

extension CommandError {
  init(cannotRun words: [String], _ failure: ProgramStart.Failure) {
    self.init(.failed, "cannot run \(words.first ?? "a program"): \(String(cString: strerror(failure.number)))")
  }
}
