import SluiceSupport

/// A thread for the `[control]` calls with which instances begin and end. These calls can block, and can wait for work
/// that needs the threads of Swift's task pool, so they must not take a thread of that pool.
///
/// When a result is returned, its thread no longer holds what the body holds.
package enum ControlThread {
  /// Runs the body on a new thread, or on the caller's thread if no thread can be started.
  package static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await Handover.wait { answer in
      if SystemThread.start(body, then: { answer.give($0) }) { return }
      answer.give(body())
    }
  }

  /// Like ``run(_:)``, but returns nil if the body has not returned in time. The body then continues,
  /// and its thread passes the late result to `late`.
  package static func run<Result: Sendable>(
    within limit: Duration, _ body: @escaping @Sendable () -> Result, late: @escaping @Sendable (Result) -> Void
  ) async -> Result? {
    await FirstAnswer<Result?>.race(within: limit) { answer in
      let finish: @Sendable (Result) -> Void = { if !answer.give($0) { late($0) } }
      if !SystemThread.start(named: "sluice-control", signals: .blocked, body, then: finish) { finish(body()) }
    } orElse: {
      nil
    }
  }
}
