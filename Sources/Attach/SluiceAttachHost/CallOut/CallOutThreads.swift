import SluiceSupport

/// The threads on which the program's libcurl makes call-outs. A thread is started for a call-out that finds no waiting
/// thread. It then waits for further call-outs until the process ends. A child of fork() starts its own threads.
final class CallOutThreads: Sendable {
  /// A call-out that waits in the queue or runs on a thread.
  struct Job: Sendable {
    let exchange: ProgramExchange
    /// Called on one of the threads.
    let completion: @Sendable (borrowing ProgramFunctions.Exchanged) -> Void
  }

  private struct State {
    var waiting = FIFOQueue<Job>()
    var running: [ObjectIdentifier: ProgramExchange] = [:]
    var threads = 0
    /// The number of waiting threads. A thread that was woken counts as waiting until it takes its job.
    var idle = 0
    var isClosed = false
  }

  /// There is more than one thread, so that, for example, a telemetry collector that does not answer does not delay a
  /// plugin that fetches a token.
  private static let maximumThreads = 4
  private static let maximumWaiting = 256
  /// This is enough for libcurl and TLS libraries. The default of the process may be too small.
  private static let stackBytes = 1 << 20

  private let program: ProgramFunctions
  private let state = Monitor(State())

  init(_ program: ProgramFunctions) { self.program = program }

  enum Refusal: Error { case tooMany, noThread, closed }

  func submit(_ job: Job) throws(Refusal) {
    let result = state.update { state -> Result<Void, Refusal> in
      if state.isClosed { return .failure(.closed) }
      guard state.waiting.count < Self.maximumWaiting else { return .failure(.tooMany) }
      if state.idle <= state.waiting.count, state.threads < Self.maximumThreads {
        if startThread() {
          state.threads += 1
        } else if state.threads == 0 {
          return .failure(.noThread)
        }
      }
      state.waiting.append(job)
      return .success(())
    }
    try result.get()
  }

  /// Ends all call-outs, and waits until no thread is in libcurl.
  func close(within limit: Duration) {
    let running = state.update { state in
      state.isClosed = true
      state.waiting = FIFOQueue()
      return Array(state.running.values)
    }
    for exchange in running { exchange.stop() }
    _ = state.wait(upTo: limit) { $0.threads == 0 ? () : nil }
  }

  private func startThread() -> Bool {
    SystemThread.start("sluice-callout", stackBytes: Self.stackBytes) { [self] in
      while let job = next() { run(job) }
    }
  }

  /// Waits for a job. Returns nil when no more jobs will come.
  private func next() -> Job? {
    ThreadWatcher.yield()
    state.withLock { $0.idle += 1 }
    let job = state.wait { state -> Job?? in
      let job = state.waiting.popFirst()
      guard job != nil || state.isClosed else { return nil }
      state.idle -= 1
      if let job { state.running[ObjectIdentifier(job.exchange)] = job.exchange }
      return .some(job)
    }
    if job == nil { state.update { $0.threads -= 1 } }
    return job
  }

  private func run(_ job: Job) {
    let exchanged = job.exchange.run(with: program)
    state.withLock { _ = $0.running.removeValue(forKey: ObjectIdentifier(job.exchange)) }
    job.completion(exchanged)
  }
}
