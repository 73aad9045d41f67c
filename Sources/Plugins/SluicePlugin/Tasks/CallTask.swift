import CSluice
import Glibc
import SluiceSupport
import Synchronization

/// Runs the `async` methods of calls, one call after another, in one task, because creating a task costs more than most
/// methods. Between two calls the task is idle (`resting`), and ``CallTasks`` holds it.
///
/// A method starts immediately on the host's thread. If it must wait, the call is suspended, and each further piece of
/// the task is posted to the loop.
///
///     resting ─► starting ─ finished ────────────────────► verdict, ready for the next call
///                   └─ suspended(token) ─ finished ──────► resume(token, verdict), resting
///                            └─ the host gave it up ─► over: the task is cancelled, unwinds with dead handles, and ends
///
/// Only the loop changes the phase of a call; any thread can add the next piece, even before there is a token. A call
/// that does not wait takes no lock: it leaves the phase at `starting`, where the next call that uses the same object
/// needs it.
///
/// `@unchecked Sendable`: the variables that the lock does not protect are used only by the thread that runs the call
/// and, between two calls, by the thread that has taken the task from ``CallTasks``.
final class CallTask: PostingExecutor, @unchecked Sendable {
  /// A method to run.
  enum Method: Sendable {
    case request(any RequestInterceptor, RequestContext)
    case response(any ResponseInterceptor, ResponseContext)
    case other(@Sendable () async throws -> Void)
  }

  private enum Phase {
    case resting
    case starting
    case suspended(sluice_token)
    case over
  }

  private struct Progress {
    var phase = Phase.resting
    /// The latest call that has started.
    var started: ObjectIdentifier?
    /// The call that is suspended.
    var call: SuspendableCall?
    /// Jobs that arrived before there was a token to post them with: the first job, and the later ones in ``others``.
    var first: UnownedJob?
    var others: [UnownedJob] = []
    var outcome: CallOutcome?
    /// A token that was taken early, when it was not yet known whether the call suspends.
    var early: sluice_token?
    /// The value for ``CallTask/rest``, if the call ended on another thread or after its suspension.
    var rest: UnsafeContinuation<Bool, Never>?
    /// Nil before the first call, and after the end.
    var task: Task<Void, Never>?

    mutating func append(_ job: UnownedJob) {
      if first == nil, others.isEmpty { first = job } else { others.append(job) }
    }

    mutating func nextJob() -> UnownedJob? { first.take() ?? (others.isEmpty ? nil : others.removeFirst()) }
  }

  /// A call that runs this many pieces without having to wait is suspended anyway, so that it cannot block the loop.
  private static let piecesAtOnce = 32

  private let progress = Locked(Progress())
  private let tasks: CallTasks
  private let link: HostLink
  /// The thread that is waking the idle task, which has no other jobs at that time; 0 if no thread is.
  private let wakingThread = Atomic<UInt>(0)
  /// The job that wakes the task; used only by ``wakingThread``.
  private var wakingJob: UnownedJob?
  /// The thread that runs a call until it must wait; 0 if no thread does. Pieces of the task on this thread need no
  /// lock.
  private let runningThread = Atomic<UInt>(0)
  /// The loop of the current call.
  private var loop: sluice_loop = 0
  private var method: Method?
  /// Whether the phase is `starting`, for ``lastCall``.
  private var isStarted = false
  /// Whether ``Progress/early`` can be set.
  private var hasEarlyToken = false
  /// How the call ended, if it ended on ``runningThread``.
  private var outcome: CallOutcome?
  /// Wakes the idle task: with true for another call, with false to end it.
  private var rest: UnsafeContinuation<Bool, Never>?
  /// The handle of the latest call; the next call can use the same object.
  private var lastCall: SuspendableCall?
  /// The facts of the latest call; the next call can use the same object.
  private var lastFacts: ContextFacts?

  init(_ tasks: CallTasks) {
    self.tasks = tasks
    link = tasks.link
  }

  /// The next call, before its method is known. The caller must run the call, or give the task back.
  func makeCall(on loop: sluice_loop) -> SuspendableCall {
    self.loop = loop
    // A handle that the plugin has kept must stay dead, so the call behind it is not used again.
    if isKnownUniquelyReferenced(&lastCall), let lastCall {
      lastCall.reset()
      return lastCall
    }
    let call = SuspendableCall(link: link, task: self)
    (lastCall, isStarted) = (call, false)
    return call
  }

  /// The facts of the latest call.
  func keep(_ context: sluice_context) -> ContextFacts {
    // Facts that the plugin has kept stay as they are.
    if isKnownUniquelyReferenced(&lastFacts), let lastFacts {
      lastFacts.renew(context)
      return lastFacts
    }
    let facts = ContextFacts(context)
    lastFacts = facts
    return facts
  }

  /// Runs the method of the latest call until it must wait, and answers with its verdict or with
  /// SLUICE_VERDICT_SUSPENDED. The task is given back when the method has ended, which can be after the call was
  /// suspended.
  func run(_ call: SuspendableCall, on exchange: OpaquePointer, _ method: consuming Method) -> sluice_verdict {
    call.enter(exchange)
    self.method = consume method
    if !isStarted {
      isStarted = true
      progress.withLock { ($0.phase, $0.started) = (.starting, ObjectIdentifier(call)) }
    }
    runningThread.store(pthread_self(), ordering: .relaxed)
    if let rest = rest.take() { wake(rest, for: true) } else { start() }
    let outcome = runWaiting()
    runningThread.store(0, ordering: .relaxed)
    guard let outcome else { return suspend(call) }
    let verdict = call.verdict(outcome)
    call.leave()
    if rest != nil { tasks.give(self) }
    return verdict
  }

  private func start() {
    let task = Task.immediateDetached(executorPreference: self) { await self.runCalls() }
    progress.withLock { $0.task = task }
  }

  /// Continues the idle task on this thread: ``enqueue(_:)`` receives its job during `resume`.
  private func wake(_ rest: UnsafeContinuation<Bool, Never>, for another: Bool) {
    wakingThread.store(pthread_self(), ordering: .relaxed)
    rest.resume(returning: another)
    wakingThread.store(0, ordering: .relaxed)
    wakingJob.take()?.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Ends a task that is idle or was never started. [any, after ``CallTasks`` has given it out for the last time]
  func end() {
    if let rest = rest.take() { wake(rest, for: false) } else { lastCall = nil }
  }

  /// The body of the task. It is one function, because each return from an asynchronous function looks up the next
  /// executor.
  @concurrent private func runCalls() async {
    var outcome: CallOutcome
    var isResting: Bool
    repeat {
      outcome = .returned
      do {
        guard let call = lastCall, let method = method.take() else { break }
        switch consume method {
        case .request(let stage, let context): try await stage.intercept(StageRequest(call: call), context: context)
        case .response(let stage, let context): try await stage.intercept(StageResponse(call: call), context: context)
        case .other(let method): try await method()
        }
      } catch {
        outcome = CallOutcome(error)
      }
      let isCancelled = Task.isCancelled
      isResting = await withUnsafeContinuation { finish(outcome, isCancelled: isCancelled, resting: $0) }
    } while isResting
    progress.withLock { ($0.task, $0.call) = (nil, nil) }
    // The call refers to this object, so keeping the call would keep both alive.
    lastCall = nil
  }

  /// The call has ended. The task waits for the next call, and is resumed with false if no further call will come. A
  /// cancelled task cannot be used again, and ends.
  private func finish(_ outcome: CallOutcome, isCancelled: Bool, resting rest: UnsafeContinuation<Bool, Never>) {
    if runningThread.load(ordering: .relaxed) == pthread_self(), !isCancelled, !hasEarlyToken {
      (self.outcome, self.rest) = (outcome, rest)
      return
    }
    let isOver = progress.withLock { progress in
      progress.outcome = outcome
      if isCancelled { return true }
      if case .over = progress.phase { return true }
      progress.rest = rest
      return false
    }
    if isOver { rest.resume(returning: false) }
  }

  /// How a call ended, and what wakes the task if it can run another call.
  private struct End {
    let outcome: CallOutcome
    let rest: UnsafeContinuation<Bool, Never>?
  }

  private enum Step {
    case end(End)
    case job(UnownedJob)
    case wait
  }

  /// Runs the task until its method has returned or must wait. Jobs that switch between actors arrive immediately;
  /// running them here avoids a suspension. [inside the call]
  private func runWaiting() -> CallOutcome? {
    for _ in 0..<Self.piecesAtOnce {
      if let outcome = outcome.take() { return outcome }
      switch progress.withLock({ Self.nextStep(&$0) }) {
      case .end(let end): return take(end)
      case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      case .wait: return nil
      }
    }
    // The method may have ended in the last job of the loop.
    return outcome.take() ?? takeEnd()
  }

  private static func nextStep(_ progress: inout Progress) -> Step {
    if let end = takeEnd(&progress) { return .end(end) }
    return progress.nextJob().map { .job($0) } ?? .wait
  }

  /// Takes the outcome once, which ends the call. Nil if the method waits, and if the host has given up the call.
  private func takeEnd() -> CallOutcome? { progress.withLock { Self.takeEnd(&$0) }.map(take) }

  private static func takeEnd(_ progress: inout Progress) -> End? {
    if case .over = progress.phase { return nil }
    guard let outcome = progress.outcome.take() else { return nil }
    progress.phase = .resting
    progress.call = nil
    progress.early = nil
    return End(outcome: outcome, rest: progress.rest.take())
  }

  private func take(_ end: End) -> CallOutcome {
    (rest, isStarted, hasEarlyToken) = (end.rest, false, false)
    return end.outcome
  }

  private func suspend(_ call: SuspendableCall) -> sluice_verdict {
    defer { call.leave() }
    isStarted = false
    guard let token = progress.withLock({ $0.early }) ?? Self.takeToken(call) else { return refuseToWait(call) }
    tasks.suspended.insert(self, token)
    release(to: .suspended(token), call)
    return sluice_verdict(SLUICE_VERDICT_SUSPENDED)
  }

  private static func takeToken(_ call: SuspendableCall) -> sluice_token? {
    var token = sluice_token()
    return call.withExchange({ $0.pointee.suspend($1, &token) }) == 0 ? token : nil
  }

  /// See ``SuspendableCall/tokenForCalls()``.
  func tokenForCalls(of call: SuspendableCall) -> sluice_token? {
    let (phase, early) = progress.withLock { progress in
      progress.started == ObjectIdentifier(call) ? (progress.phase, progress.early) : (.over, nil)
    }
    switch phase {
    case .suspended(let token): return token
    case .resting, .over: return nil
    case .starting:
      if let early { return early }
      // The phase can still be that of an earlier call, because a call is entered before it is run. So check the
      // thread.
      guard runningThread.load(ordering: .relaxed) == pthread_self(), let token = Self.takeToken(call) else {
        return nil
      }
      hasEarlyToken = true
      progress.withLock { $0.early = token }
      return token
    }
  }

  private func refuseToWait(_ call: SuspendableCall) -> sluice_verdict {
    let failure = StageFailure(message: "the stage had to wait in a call that cannot be suspended")
    let verdict = call.verdict(.failed(failure))
    call.silence()
    release(to: .over)
    cancel()
    return verdict
  }

  private func release(to phase: Phase, _ call: SuspendableCall? = nil) {
    let jobs = progress.withLock { progress in
      (progress.phase, progress.call) = (phase, call)
      defer { (progress.first, progress.others) = (nil, []) }
      return (progress.first.map { [$0] } ?? []) + progress.others
    }
    for job in jobs { post(job) }
  }

  /// The host has given up the suspended call. The plugin sees a cancelled task.
  func abandon() {
    let (call, rest) = progress.withLock { progress in
      progress.phase = .over
      return (progress.call.take(), progress.rest.take())
    }
    call?.silence()
    cancel()
    if let rest { wake(rest, for: false) }
  }

  private func cancel() {
    let task = progress.withLock { $0.task.take() }
    task?.cancel()
  }
}

extension CallTask {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if wakingThread.load(ordering: .relaxed) == pthread_self() { return wakingJob = job }
    let isKept = progress.withLock { progress in
      switch progress.phase {
      case .resting, .starting:
        progress.append(job)
        return true
      case .suspended, .over: return false
      }
    }
    if !isKept { post(job) }
  }

  /// Runs the job on the loop. A host that accepts no job has given up the call, so another thread can run the job.
  private func post(_ job: UnownedJob) {
    if link.post(job, to: loop, for: self) { return }
    giveUp()
    RemainingJobs.run(job, on: self)
  }

  /// Called on the loop. Runs one piece of the task inside the exchange. After the last piece, it ends the call.
  func perform(_ job: UnownedJob) {
    guard let (token, call) = suspension, let exchange = link.current.pointee.enter(link.current, token) else {
      giveUp()
      return job.runSynchronously(on: asUnownedTaskExecutor())
    }
    call.enter(exchange)
    job.runSynchronously(on: asUnownedTaskExecutor())
    guard let outcome = takeEnd() else { return call.leave() }
    tasks.suspended.remove(token)
    let verdict = call.verdict(outcome)
    call.leave()
    if rest != nil { tasks.give(self) }
    _ = link.current.pointee.resume(link.current, token, verdict)
  }

  private var suspension: (sluice_token, SuspendableCall)? {
    progress.withLock { progress in
      if case .suspended(let token) = progress.phase, let call = progress.call { (token, call) } else { nil }
    }
  }

  private func giveUp() {
    guard let (token, _) = suspension else { return }
    tasks.suspended.remove(token)
    abandon()
  }
}
