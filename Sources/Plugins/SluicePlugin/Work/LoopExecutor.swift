import CSluice

/// Runs tasks on an event loop of the host, outside of any call. When the host accepts no more jobs, the tasks continue
/// on another thread, so that each can finish.
final class LoopExecutor: PostingExecutor {
  private let link: HostLink
  private let loop: sluice_loop

  init(_ link: HostLink, _ loop: sluice_loop = 0) {
    self.link = link
    self.loop = loop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if !link.post(job, to: loop, for: self) { RemainingJobs.run(job, on: self) }
  }

  func perform(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

extension PluginHost {
  /// Starts a task that belongs to no exchange, for work that several exchanges wait for, or that continues between
  /// them. The task runs on an event loop, and must not block the loop. Only its creator cancels it; a call-out in it
  /// ends with the instance.
  ///
  /// Do not use it in `init`, which must not start anything.
  @discardableResult
  public func task<Success: Sendable>(
    _ body: @escaping @Sendable () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: LoopExecutor(link)) { try await body() }
  }
}
