import CLinux
import Glibc
import SluicePipeline
package import SluicePluginHost
import SluiceSupport

/// A running helper process, as the host sees it. The helper gets a request over a socket, tries the library out in its
/// own child (``TrialSupervisor``), and answers with a report. When the host closes the socket, or ends, the helper
/// kills everything that it has started and ends too.
package final class TrialProcess: Sendable {
  /// The time that the helper has beyond the deadline of its request, to start and to clean up.
  private static let grace = Duration.seconds(10)
  private static let reportLimitBytes = 64 << 20

  private enum State: Sendable { case idle, running(CInt), cancelled }

  private let request: TrialRequest
  private let helper: TrialHelper
  private let state = Locked(State.idle)

  package init(_ request: TrialRequest, helper: TrialHelper) {
    self.request = request
    self.helper = helper
  }

  /// Blocks the calling thread until there is a report. Call it only once.
  package func run() throws(PluginError) -> TrialReport {
    let deadline = MonotonicClock.now + request.deadline + Self.grace
    var ends: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, sluice_socket_stream | sluice_socket_close_on_exec, 0, &ends) == 0 else {
      throw unavailable("no socket could be made: \(SystemError.text())")
    }
    let channel = FileDescriptor(owning: ends[0])
    let process = try spawn(FileDescriptor(owning: ends[1]))
    let report = begin(channel.raw) ? Self.ask(request, over: channel.raw, until: deadline) : nil
    let isLate = MonotonicClock.now >= deadline
    let isCancelled = finish()
    shutdown(channel.raw, sluice_shutdown_both)
    let ending = Self.end(process)
    if let hindrance = report?.hindrance { throw unavailable(hindrance) }
    if let report { return report }
    if isCancelled { throw cancelled }
    throw isLate ? unavailable("\(helper.path) did not answer in time") : silence(ending)
  }

  private static func ask(_ request: TrialRequest, over channel: CInt, until deadline: Duration) -> TrialReport? {
    guard send(request.line, over: channel, until: deadline) else { return nil }
    return receiveLine(from: channel, until: deadline).flatMap { TrialReport(line: $0) }
  }

  /// Why the helper ended without a report.
  private func silence(_ ending: WaitStatus?) -> PluginError {
    if case .killed(let signal)? = ending {
      return PluginError(
        .trialKilledWatcher, request.subject,
        "ended the process that watched its trial: \(SignalName.of(signal)) arrived while only the library was at work",
        advice: "a plugin must not send signals to processes that it has not started; if memory had run out, try again")
    }
    return PluginError(
      .trialUnavailable, request.subject, "could not be tried out: \(helper.path) gave no report",
      advice: "install the sluice command of the same version as this program")
  }

  /// Like the blocking function, but runs on a new thread. Cancelling the task cancels the trial.
  package func report() async -> Result<TrialReport, PluginError> {
    await withTaskCancellationHandler {
      await Handover.wait { answer in
        let started = SystemThread.start(
          { Result { () throws(PluginError) in try self.run() } }, then: { answer.give($0) })
        if !started { answer.give(.failure(unavailable("no thread could be started"))) }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Cancels the trial, from any thread. The helper finds its socket closed, kills everything that it has started, and
  /// ends.
  package func cancel() {
    state.withLock { state in
      if case .running(let channel) = state { shutdown(channel, sluice_shutdown_both) }
      state = .cancelled
    }
  }

  private func begin(_ channel: CInt) -> Bool {
    state.withLock { state in
      if case .cancelled = state { return false }
      state = .running(channel)
      return true
    }
  }

  /// Ends the run; returns whether the trial was cancelled.
  private func finish() -> Bool {
    state.withLock { state in
      if case .cancelled = state { return true }
      state = .idle
      return false
    }
  }

  private var cancelled: PluginError { unavailable("the trial was given up") }

  /// `theirs` is closed at the end of the call, so that only the helper has this end of the socket.
  private func spawn(_ theirs: consuming FileDescriptor) throws(PluginError) -> pid_t {
    var process: pid_t = 0
    let words = (["sluice"] + TrialSupervisor.arguments).map { strdup($0) } + [nil]
    let variables = Self.environment
    defer { for text in words + variables { free(text) } }
    let status = sluice_spawn_helper(&process, helper.path, words, variables, theirs.raw, -1)
    guard status == 0 else { throw unavailable("\(helper.path) could not be started: \(SystemError.text(status))") }
    return process
  }

  /// The helper gets the environment of this program, because the plugin might read it. Backtraces of Swift's runtime
  /// are switched off, because they take time and would displace the plugin's own last output. The caller must free
  /// each text.
  private static var environment: [UnsafeMutablePointer<CChar>?] {
    ProcessEnvironment.copies(replacing: ["SWIFT_BACKTRACE": "enable=no"])
  }

  private func unavailable(_ reason: String) -> PluginError {
    PluginError(.trialUnavailable, request.subject, "could not be tried out: \(reason)")
  }

  /// Waits until the helper ends by itself, after its report or because its socket is closed, and kills it after a
  /// second. Returns nil if the helper was killed, or if its status is unknown. The status is unknown in a program that
  /// ignores SIGCHLD, or that waits for all of its children itself.
  private static func end(_ process: pid_t) -> WaitStatus? {
    for _ in 0..<1000 {
      var status: Int32 = 0
      let ended = waitpid(process, &status, WNOHANG)
      if ended > 0 { return WaitStatus(status) }
      if ended < 0, errno != EINTR { return nil }
      usleep(1000)
    }
    kill(-process, SIGKILL)
    _ = WaitStatus.wait(for: process)
    return nil
  }

  /// Returns false if the helper does not accept all bytes in time.
  private static func send(_ bytes: [UInt8], over channel: CInt, until deadline: Duration) -> Bool {
    var sent = 0
    while sent < bytes.count {
      guard wait(for: POLLOUT, on: channel, until: deadline) else { return false }
      // MSG_NOSIGNAL is needed because a program may have left SIGPIPE at its default, which would end the program.
      let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
      let step = bytes.withUnsafeBytes { buffer in
        Glibc.send(channel, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, flags)
      }
      if step < 0, errno == EINTR || errno == EAGAIN { continue }
      guard step > 0 else { return false }
      sent += step
    }
    return true
  }

  private static func receiveLine(from channel: CInt, until deadline: Duration) -> [UInt8]? {
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n"), line.count < reportLimitBytes {
      guard wait(for: POLLIN, on: channel, until: deadline), let piece = DescriptorPiece.read(channel) else {
        return nil
      }
      if piece.isEmpty { return nil }
      line += piece
    }
    return line
  }

  private static func wait(for event: Int32, on descriptor: CInt, until deadline: Duration) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let ready = poll(&entry, 1, MonotonicClock.milliseconds(until: deadline))
      if ready > 0 { return true }
      if ready == 0 || errno != EINTR { return false }
    }
  }
}
