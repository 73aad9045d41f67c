import CSluice

/// Runs tasks on an event loop of the host, outside of any call. After the host accepts nothing new, the tasks
/// continue on another thread, so that each can finish.
final class LoopExecutor: TaskExecutor {
  private let link: HostLink
  private let loop: sluice_loop

  init(_ link: HostLink, _ loop: sluice_loop = 0) {
    self.link = link
    self.loop = loop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let posted = Unmanaged.passRetained(LoopJob(executor: self, job: job))
    let status = link.withHost { host in
      host.pointee.post(host, loop, { performLoopJob($0) }, posted.toOpaque())
    }
    guard status != 0 else { return }
    posted.release()
    RemainingJobs.run(job, on: self)
  }
}

private final class LoopJob {
  let executor: LoopExecutor
  let job: UnownedJob

  init(executor: LoopExecutor, job: UnownedJob) {
    self.executor = executor
    self.job = job
  }
}

private func performLoopJob(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  let posted = Unmanaged<LoopJob>.fromOpaque(context).takeRetainedValue()
  posted.job.runSynchronously(on: posted.executor.asUnownedTaskExecutor())
}

extension PluginHost {
  /// Starts a task that belongs to no exchange, for work that several exchanges wait for, or that continues between
  /// them. It runs on an event loop, and must not block it. Only its creator cancels it; a call-out in it ends with the
  /// instance.
  ///
  /// Do not use it in `init`, which must not start anything.
  @discardableResult
  public func task<Success: Sendable>(
    _ body: @escaping @Sendable () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: LoopExecutor(link)) { try await body() }
  }
}
