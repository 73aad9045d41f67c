import CLinux
import Glibc
import SluiceJSON
import SluiceSupport

/// The part of the helper that controls a trial. It tries a library out in a child process, and reports the result.
///
///     host ══ socket ══ supervisor ── child: limits, library, plugin
///                           └──────── whatever the child leaves behind
///
/// The supervisor runs no code of the library, so a crash of the library cannot end it. Processes that the library's
/// code starts and leaves behind become children of the supervisor, even in a session of their own, and are killed.
package struct TrialSupervisor {
  /// The arguments with which the command becomes a helper.
  package static let arguments = ["plugin", "trial"]

  private let child: pid_t
  private let channel: CInt
  private let memory: TrialSharedMemory
  private var streams: [TrialStream]
  private let deadline: Duration

  /// Serves one request from standard input, and returns the exit status for this process. The process must have only
  /// one thread.
  ///
  /// - Parameter body: performs the task, in the child process, on a separate thread.
  package static func run(_ body: @escaping @Sendable (TrialRequest, TrialChannel) -> Void) -> CInt {
    // If the host has ended, the write of the report must fail with an error instead of ending this process with a
    // signal.
    signal(SIGPIPE, SIG_IGN)
    guard let request = readRequest(), sluice_adopt_orphans() == 0 else { return 1 }
    guard var supervisor = TrialSupervisor(request, body) else { return 1 }
    guard let report = supervisor.watch() else { return 1 }
    return send(report.line) ? 0 : 1
  }

  private static func readRequest() -> TrialRequest? {
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      guard let piece = DescriptorPiece.read(STDIN_FILENO), !piece.isEmpty else { return nil }
      line += piece
    }
    return TrialRequest(line: line)
  }

  private static func send(_ line: [UInt8]) -> Bool {
    var sent = 0
    while sent < line.count {
      let step = line.withUnsafeBytes { write(STDIN_FILENO, $0.baseAddress.map { $0 + sent }, line.count - sent) }
      if step < 0, errno == EINTR { continue }
      guard step > 0 else { return false }
      sent += step
    }
    return true
  }

  private init?(_ request: TrialRequest, _ body: @escaping @Sendable (TrialRequest, TrialChannel) -> Void) {
    guard let result = TrialPipe(), let output = TrialPipe(), let errors = TrialPipe(),
      let memory = TrialSharedMemory()
    else { return nil }
    let supervisor = getpid()
    let process = sluice_fork()
    guard process >= 0 else { return nil }
    if process == 0 {
      Self.enter(request, supervisor, memory, result.writing, output.writing, errors.writing)
      let channel = TrialChannel(descriptor: result.writing, memory: memory)
      // The body needs a new thread. The locks of Swift's runtime identify a thread by an id that the thread reads only
      // once (Swift 6.3), so after the fork this thread still has the id of the supervisor's thread. If it waited for
      // such a lock, it would wait forever and use up a processor.
      let isDone = SystemThread.runAndWait { body(request, channel) } != nil
      if !isDone { memory.noteMissing(.thread, 0) }
      fflush(nil)
      _exit(isDone ? 0 : 1)
    }
    // The group is set here and in the child, so that it exists no matter which process runs first.
    setpgid(process, process)
    for pipe in [result, output, errors] { close(pipe.writing) }
    child = process
    self.memory = memory
    channel = STDIN_FILENO
    streams =
      [TrialStream(descriptor: result.reading, roomBytes: TrialStream.channelRoomBytes)]
      + [output, errors].map { TrialStream(descriptor: $0.reading) }
    deadline = MonotonicClock.now + request.deadline
  }

  /// Prepares the child for the library. Gives it its own process group, captured streams and limits.
  private static func enter(
    _ request: TrialRequest, _ supervisor: pid_t, _ memory: TrialSharedMemory, _ result: CInt, _ output: CInt,
    _ errors: CInt
  ) {
    setpgid(0, 0)
    guard sluice_die_with_parent(supervisor) != 0 else { _exit(1) }
    // The library's code may expect the default action of SIGPIPE. If SIGXFSZ were ignored, as a parent may have set it,
    // a file beyond the limit would not end the trial.
    signal(SIGPIPE, SIG_DFL)
    signal(SIGXFSZ, SIG_DFL)
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    dup2(nothing, STDIN_FILENO)
    dup2(output, STDOUT_FILENO)
    dup2(errors, STDERR_FILENO)
    var limits = sluice_process_limits(
      processor_seconds: request.limits.processorSeconds, memory_bytes: request.limits.memoryBytes,
      descriptors: request.limits.descriptors, file_bytes: request.limits.fileBytes)
    guard sluice_limit_process(&limits) == 0 else {
      memory.noteMissing(.limits, errno)
      _exit(1)
    }
  }

  /// Waits for the child's end. If the host has ended, kills everything that was started and returns nil.
  private mutating func watch() -> TrialReport? {
    let process = sluice_open_process(child)
    var isTimedOut = false
    while true {
      let entries = [process, channel] + streams.map(\.pollDescriptor)
      var polled = entries.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      // Old kernels have no descriptor for a process. There, this loop checks every few milliseconds whether the
      // process has ended.
      let left = MonotonicClock.milliseconds(until: deadline)
      poll(&polled, nfds_t(polled.count), process < 0 ? min(left, 5) : left)
      for index in streams.indices where polled[index + 2].revents != 0 { streams[index].read() }
      if polled[1].revents != 0 {
        endAll()
        return nil
      }
      if hasEnded() { break }
      if MonotonicClock.milliseconds(until: deadline) == 0 {
        isTimedOut = true
        break
      }
    }
    return report(isTimedOut: isTimedOut)
  }

  /// Whether the child has ended. This does not reap the child.
  private func hasEnded() -> Bool {
    var information = siginfo_t()
    let status = waitid(P_PID, id_t(child), &information, WEXITED | WNOHANG | WNOWAIT)
    return status != 0 || information.si_signo == SIGCHLD
  }

  private mutating func report(isTimedOut: Bool) -> TrialReport {
    if isTimedOut { kill(child, SIGKILL) }
    let status = WaitStatus.wait(for: child) ?? .exited(0)
    let left = endAll()
    for index in streams.indices { streams[index].readRest() }
    var report = TrialReport(ending: isTimedOut ? .timedOut : TrialReport.Ending(status))
    report.takeLines(streams[0].bytes)
    report.output = streams[1].output
    report.errorOutput = streams[2].output
    report.leftProcesses = isTimedOut ? [] : left
    report.hasLostChannel = memory.hasLostChannel
    // Code of the library could write to the memory too, but only after the first step was announced.
    if report.step == nil, report.result == nil { report.hindrance = memory.hindrance }
    return report
  }

  @discardableResult
  private func endAll() -> [String] { Self.endDescendants(andGroup: child) }

  /// Kills every descendant, and returns the names of those that were alive. It takes several rounds: this process
  /// adopts orphans, so a descendant becomes its child only when the descendant's parent has ended.
  @discardableResult
  package static func endDescendants(andGroup group: Int32) -> [String] {
    var names: [String] = []
    for _ in 0..<1000 {
      var ended: pid_t
      repeat { ended = waitpid(-1, nil, WNOHANG) } while ended > 0
      guard ended == 0 else { break }
      let alive = children()
      if names.count < 16 { names += alive.map { name(of: $0) } }
      kill(-group, SIGKILL)
      for process in alive { kill(process, SIGKILL) }
      _ = WaitStatus.wait(for: -1)
    }
    return names
  }

  private static func children() -> [pid_t] {
    [pid_t](unsafeUninitializedCapacity: 1024) { buffer, count in
      count = Int(sluice_list_children(buffer.baseAddress, Int32(buffer.count)))
    }
  }

  private static func name(of process: pid_t) -> String {
    guard let file = FileDescriptor(opening: "/proc/\(process)/comm", O_RDONLY), let text = file.readAll(capacity: 64)
    else { return "process \(process)" }
    return String(decoding: text.filter { $0 >= 0x20 }, as: UTF8.self)
  }
}

/// A pipe whose ends are closed on exec.
private struct TrialPipe {
  let reading: CInt
  let writing: CInt

  init?() {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }
}
