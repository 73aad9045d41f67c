import CSluice
import SluiceSupport

/// A call whose method is `async`: the task runs at once on the host's thread. If it must wait, the call is suspended,
/// and each further piece of the task is posted to the loop.
///
///     starting ─ finished ────────────────────► verdict
///        └─ suspended(token) ─ finished ──────► resume(token, verdict)
///                 └─ the host gave it up ─► over: the task is cancelled and unwinds, with dead handles
///
/// Only the loop changes the state of a call; any thread may add the next piece, even before there is a token.
final class SuspendableCall: ExchangeCall, TaskExecutor, @unchecked Sendable {
  private enum Phase {
    case starting
    case suspended(sluice_token)
    case over
  }

  private struct Progress {
    var phase = Phase.starting
    /// Jobs that came before there was a token to post them with.
    var waiting: [UnownedJob] = []
    var outcome: CallOutcome?
    var task: Task<Void, Never>?
    /// A token that was taken before the call was known to suspend.
    var early: sluice_token?
  }

  /// A task that continues at once this often is suspended anyway, so that it cannot block the loop.
  private static let piecesAtOnce = 32

  private let progress = Locked(Progress())
  private let suspended: SuspendedCalls
  private let loop: sluice_loop

  init(link: HostLink, suspended: SuspendedCalls, loop: sluice_loop) {
    self.suspended = suspended
    self.loop = loop
    super.init(link: link)
  }

  /// Runs the method until it must wait, and answers with its verdict or with SLUICE_VERDICT_SUSPENDED.
  func run(on exchange: OpaquePointer, _ method: @escaping @Sendable () async throws -> Void) -> sluice_verdict {
    enter(exchange)
    defer { leave() }
    let task = Task.immediate(executorPreference: self) {
      do {
        try await method()
        self.finish(.returned)
      } catch {
        self.finish(CallOutcome(error))
      }
    }
    runWaiting()
    if let outcome = takeOutcome() { return verdict(outcome) }
    return suspend(task)
  }

  /// The host has given up the suspended call. The plugin sees a cancelled task.
  func abandon() {
    silence()
    let task = progress.withLock { progress in
      progress.phase = .over
      return progress.task.take()
    }
    task?.cancel()
  }

  private func finish(_ outcome: CallOutcome) {
    progress.withLock { $0.outcome = outcome }
  }

  /// Takes the outcome, once; the call is over then.
  private func takeOutcome() -> CallOutcome? {
    progress.withLock { progress in
      guard let outcome = progress.outcome.take() else { return nil }
      progress.phase = .over
      progress.task = nil
      return outcome
    }
  }

  /// Switches between actors arrive here immediately; running them now avoids a suspension.
  private func runWaiting() {
    for _ in 0..<Self.piecesAtOnce {
      guard let job = progress.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) else { return }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  private func suspend(_ task: Task<Void, Never>) -> sluice_verdict {
    guard let token = progress.withLock({ $0.early }) ?? takeToken() else { return refuseToWait(task) }
    suspended.insert(self, token)
    release(to: .suspended(token), task)
    return sluice_verdict(SLUICE_VERDICT_SUSPENDED)
  }

  private func takeToken() -> sluice_token? {
    var token = sluice_token()
    return withExchange({ $0.pointee.suspend($1, &token) }) == 0 ? token : nil
  }

  /// The token with which the call is or will be suspended; nil if it cannot be suspended, or is over. If the call does
  /// not wait in the end, the host voids the token. [inside the call]
  func tokenForCalls() -> sluice_token? {
    let (phase, early) = progress.withLock { ($0.phase, $0.early) }
    switch phase {
    case .suspended(let token): return token
    case .over: return nil
    case .starting:
      let token = early ?? takeToken()
      progress.withLock { $0.early = token }
      return token
    }
  }

  private func refuseToWait(_ task: Task<Void, Never>) -> sluice_verdict {
    let failure = StageFailure(message: "the stage waited for something where it cannot be suspended")
    let verdict = verdict(.failed(failure))
    silence()
    release(to: .over, task)
    task.cancel()
    return verdict
  }

  private func release(to phase: Phase, _ task: Task<Void, Never>) {
    let jobs = progress.withLock { progress in
      progress.phase = phase
      progress.task = task
      defer { progress.waiting = [] }
      return progress.waiting
    }
    for job in jobs { post(job) }
  }
}

extension SuspendableCall {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isKept = progress.withLock { progress in
      guard case .starting = progress.phase else { return false }
      progress.waiting.append(job)
      return true
    }
    if !isKept { post(job) }
  }

  /// Runs the job on the loop. A host that accepts nothing new has given up the call, so another thread may run it.
  private func post(_ job: UnownedJob) {
    let posted = Unmanaged.passRetained(PostedJob(call: self, job: job))
    let status = link.withHost { host in
      host.pointee.post(host, loop, { performPosted($0) }, posted.toOpaque())
    }
    guard status != 0 else { return }
    posted.release()
    silence()
    giveUp()
    RemainingJobs.run(job, on: self)
  }

  /// Runs on the loop: one piece of the task inside the exchange, and the end of the call after the last piece.
  fileprivate func perform(_ job: UnownedJob) {
    guard let token, let exchange = link.current.pointee.enter(link.current, token) else {
      giveUp()
      return job.runSynchronously(on: asUnownedTaskExecutor())
    }
    enter(exchange)
    job.runSynchronously(on: asUnownedTaskExecutor())
    guard let outcome = takeOutcome() else { return leave() }
    suspended.remove(token)
    let verdict = verdict(outcome)
    leave()
    _ = link.current.pointee.resume(link.current, token, verdict)
  }

  private var token: sluice_token? {
    progress.withLock { progress in
      if case .suspended(let token) = progress.phase { token } else { nil }
    }
  }

  private func giveUp() {
    guard let token else { return }
    suspended.remove(token)
    abandon()
  }
}

/// The context that `post` carries.
private final class PostedJob {
  let call: SuspendableCall
  let job: UnownedJob

  init(call: SuspendableCall, job: UnownedJob) {
    self.call = call
    self.job = job
  }
}

private func performPosted(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  let posted = Unmanaged<PostedJob>.fromOpaque(context).takeRetainedValue()
  posted.call.perform(posted.job)
}
