import CSluice
import SluiceSupport

/// A task that waits for a timer of the host. The timer, the cancellation of the task, or the end of the instance
/// resumes it.
///
/// Only the code that removes this object from ``PendingSleeps`` resumes the task, so the task is resumed once. Until
/// then, that list keeps the object alive for the timer.
final class PendingSleep: Sendable {
  private struct State: Sendable {
    var continuation: CheckedContinuation<Void, any Error>?
    var timer: sluice_timer = 0
    var isCancelled = false
  }

  private let state = Locked(State())
  private let link: HostLink

  init(_ link: HostLink) { self.link = link }

  func wait(_ duration: Duration) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock { $0.continuation = continuation }
        start(duration)
      }
    } onCancel: {
      cancel()
    }
  }

  private func start(_ duration: Duration) {
    link.sleeps.insert(self)
    guard !state.withLock({ $0.isCancelled }) else { return finish(.failure(CancellationError())) }
    var timer: sluice_timer = 0
    let status = link.withHost { host -> sluice_status in
      guard let timers = host.timers else { return sluice_status(SLUICE_STATUS_UNSUPPORTED) }
      return timers.pointee.start(
        host, duration.nanoseconds, { endSleep($0) }, Unmanaged.passUnretained(self).toOpaque(), &timer)
    }
    guard status == sluice_status(SLUICE_STATUS_OK) else {
      return finish(.failure(StageFailure(refusedSleep: status)))
    }
    let isCancelled = state.withLock { [timer] state in
      state.timer = timer
      return state.isCancelled
    }
    if isCancelled { cancel(timer) }
  }

  /// Called when the task is cancelled. [any]
  private func cancel() {
    let timer = state.withLock { state in
      state.isCancelled = true
      return state.timer
    }
    if timer != 0 { cancel(timer) }
  }

  /// If the timer cannot be cancelled any more, the timer itself or the end of the instance resumes the task.
  private func cancel(_ timer: sluice_timer) {
    let status = link.withHost { host in host.timers?.pointee.cancel(host, timer) }
    if status == sluice_status(SLUICE_STATUS_OK) { finish(.failure(CancellationError())) }
  }

  /// Resumes the task. Does nothing if other code has removed this object from ``PendingSleeps`` and so resumes the
  /// task.
  func finish(_ result: Result<Void, any Error>) {
    guard link.sleeps.remove(self) else { return }
    resume(result)
  }

  /// Resumes the task because the instance and its timers end. The caller has removed this object from the list.
  func cutOff() {
    let isCancelled = state.withLock { $0.isCancelled }
    resume(.failure(isCancelled ? CancellationError() : StageFailure.instanceEnded))
  }

  private func resume(_ result: Result<Void, any Error>) {
    state.withLock { $0.continuation.take() }?.resume(with: result)
  }
}

/// Called by the host at most once.
private func endSleep(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<PendingSleep>.fromOpaque(context).takeUnretainedValue().finish(.success(()))
}

/// The sleeps of an instance that have not ended.
final class PendingSleeps: Sendable {
  private let sleeps = Locked<[ObjectIdentifier: PendingSleep]>([:])

  func insert(_ sleep: PendingSleep) { sleeps.withLock { $0[ObjectIdentifier(sleep)] = sleep } }

  /// Removes a sleep; returns false if other code has removed it before.
  func remove(_ sleep: PendingSleep) -> Bool {
    sleeps.withLock { $0.removeValue(forKey: ObjectIdentifier(sleep)) } != nil
  }

  /// Ends all sleeps. The host has already cancelled their timers, and none of the timers' functions runs any more.
  func cutOff() {
    let left = sleeps.withLock { sleeps in
      defer { sleeps = [:] }
      return sleeps
    }
    for sleep in left.values { sleep.cutOff() }
  }
}

extension StageFailure {
  /// The failure for a timer that the host did not start.
  fileprivate init(refusedSleep status: sluice_status?) {
    switch status.map(Int.init) {
    case nil, Int(SLUICE_STATUS_CLOSING): self = .instanceEnded
    case Int(SLUICE_STATUS_UNSUPPORTED): self.init(code: "unsupported", message: "this host does not support timers")
    case Int(SLUICE_STATUS_LIMIT): self.init(code: "limit", message: "too many timers of this plugin are running")
    case let status?: self.init(code: "refused", message: "the host refused a timer with status \(status)")
    }
  }
}
