import CSluice

/// A task executor whose jobs run on a loop of the host.
protocol PostingExecutor: TaskExecutor {
  /// Runs a job that was posted. [loop]
  func perform(_ job: UnownedJob)
}

extension HostLink {
  /// Posts a job to a loop; false if the host accepts nothing new. [any]
  func post(_ job: UnownedJob, to loop: sluice_loop, for executor: any PostingExecutor) -> Bool {
    let posted = Unmanaged.passRetained(PostedJob(executor: executor, job: job))
    let status = withHost { host in
      host.pointee.post(host, loop, { performPosted($0) }, posted.toOpaque())
    }
    if status != 0 { posted.release() }
    return status == 0
  }
}

/// The context that `post` carries.
private final class PostedJob {
  let executor: any PostingExecutor
  let job: UnownedJob

  init(executor: any PostingExecutor, job: UnownedJob) {
    self.executor = executor
    self.job = job
  }
}

private func performPosted(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  let posted = Unmanaged<PostedJob>.fromOpaque(context).takeRetainedValue()
  posted.executor.perform(posted.job)
}
