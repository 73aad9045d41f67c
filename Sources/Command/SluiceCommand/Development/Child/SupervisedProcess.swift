import CLinux
import Glibc
import SluiceJSON
import SluicePluginHost
import SluiceSupport

/// A child process of the same program, as its supervisor sees it. It does work that must not run in the supervisor.
/// Both processes send documents over a channel. The supervisor also gets the child's output, and is told when the
/// child ends.
///
/// When the supervisor ends, for whatever reason, the channel closes, and the child ends too.
final class SupervisedProcess: Sendable {
  /// A message about the child. Messages are delivered on separate threads.
  enum Message: Sendable {
    case document(JSONValue)
    /// A line that the process wrote to one of its streams.
    case written(String)
    /// Delivered once, after all other messages.
    case ended(WaitStatus)
  }

  let id: pid_t
  private let channel: ByteOutput
  /// Whether the process was reaped (waitpid(2)). After that, its id can belong to another process.
  private let isReaped = Locked(false)

  /// - Parameters:
  ///   - words: the arguments after the program's name.
  ///   - environment: variables that are added to the environment of this process.
  ///   - passed: the descriptor that the process gets as its descriptor 3; the caller keeps ownership. A negative
  ///     number means that no descriptor is passed.
  ///   - listener: called on other threads, one call at a time for each kind of message.
  /// - Important: call this on a thread that exists at least as long as the child. If the child has asked the kernel
  ///   for a signal when its parent ends, the kernel sends that signal when this thread ends.
  init(
    _ words: [String], environment: [String: String] = [:], passing passed: CInt = -1,
    _ listener: @escaping @Sendable (Message) -> Void
  ) throws(CommandError) {
    var ends: [CInt] = [-1, -1]
    var pipeEnds: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, sluice_socket_stream | sluice_socket_close_on_exec, 0, &ends) == 0,
      pipe(&pipeEnds) == 0
    else { throw CommandError(.failed, "cannot start a process: \(String(cString: strerror(errno)))") }
    // The flag is set only now, after the pipe was created. That is early enough, because this thread starts no process
    // in between.
    for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer {
      close(ends[1])
      close(pipeEnds[1])
    }
    do {
      id = try Self.spawn(words, environment, channel: ends[1], output: pipeEnds[1], passed)
      channel = try ByteOutput(owning: fcntl(ends[0], F_DUPFD_CLOEXEC, 3), name: "a process")
    } catch {
      close(ends[0])
      close(pipeEnds[0])
      throw error
    }
    try watch(documents: ends[0], written: pipeEnds[0], listener)
  }

  /// Sends a document. Can be called on any thread. It is dropped if the child no longer reads.
  func send(_ document: JSONValue) {
    guard let line = try? document.serialized() else { return }
    channel.append(line + [UInt8(ascii: "\n")])
  }

  /// Asks the child to finish what is in flight, and to end.
  func stop(drain: Duration) { send(["stop": JSONValue(DurationText.text(drain))]) }

  /// Sends a signal; does nothing after the process was reaped. Can be called on any thread.
  func kill(_ signal: Int32) {
    isReaped.withLock { isReaped in
      if !isReaped { _ = Glibc.kill(id, signal) }
    }
  }

  private static func spawn(
    _ words: [String], _ environment: [String: String], channel: CInt, output: CInt, _ passed: CInt
  ) throws(CommandError) -> pid_t {
    var process: pid_t = 0
    let arguments = (["sluice"] + words).map { strdup($0) } + [nil]
    let strings = ProcessEnvironment.copies(replacing: environment)
    defer { for text in arguments + strings { free(text) } }
    let status = sluice_spawn_helper_passing(
      &process, RunningProgram.executable ?? "sluice", arguments, strings, channel, output, passed)
    guard status == 0 else {
      throw CommandError(.failed, "cannot start a process: \(String(cString: strerror(status)))")
    }
    return process
  }

  /// Starts three threads: one for each stream, and one that waits for the end of the process and of the other two
  /// threads.
  private func watch(
    documents: CInt, written: CInt, _ listener: @escaping @Sendable (Message) -> Void
  ) throws(CommandError) {
    let open = Monitor(2)
    try Self.read(documents, "sluice-channel", open) { line in
      if let document = try? JSONValue(parsing: line) { listener(.document(document)) }
    }
    try Self.read(written, "sluice-child-out", open) { line in
      listener(.written(String(decoding: line, as: UTF8.self)))
    }
    let process = id
    try SystemThread.begin("sluice-child") { [channel, isReaped] in
      let status = Self.reap(process, isReaped)
      // A descendant of the child can still run and keep the pipe open, so the wait for the last output is short.
      let _: Void? = open.wait(upTo: .seconds(1)) { $0 == 0 ? () : nil }
      listener(.ended(status))
      _ = channel.finish()
    }.detach()
  }

  private static func reap(_ process: pid_t, _ isReaped: Locked<Bool>) -> WaitStatus {
    // The first wait does not reap the process. Thus no other process can get its id before `isReaped` is set.
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    return isReaped.withLock { isReaped in
      isReaped = true
      return WaitStatus.wait(for: process) ?? .exited(0)
    }
  }

  private static func read(
    _ descriptor: CInt, _ name: String, _ open: Monitor<Int>,
    _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
  ) throws(CommandError) {
    let lines = InputLines(owning: descriptor, name: name, limitBytes: 64 << 20)
    try SystemThread.begin(name) {
      reading: while true {
        switch lines.next() {
        case .text(let line): body(line)
        case .tooLong: continue
        case .end, .failure: break reading
        }
      }
      open.update { $0 -= 1 }
    }.detach()
  }
}
