extension SystemThread {
  /// Runs `body` on a new thread, releases `body` and its captures, and then runs `finish` with the result.
  /// - Returns: false if no thread can be started. Neither `body` nor `finish` is run in this case.
  package static func start<Result: Sendable>(
    named name: String? = nil, signals: Signals = .inherited, _ body: @escaping @Sendable () -> Result,
    then finish: @escaping @Sendable (Result) -> Void
  ) -> Bool {
    let thread = make(name, signals, nil) {
      let result = body()
      return { finish(result) }
    }
    thread?.detach()
    return thread != nil
  }

  /// Runs `body` on a new thread and blocks until `body` has returned.
  /// - Returns: nil if no thread can be started.
  package static func runAndWait<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result? {
    let slot = Locked<Result?>(nil)
    let thread = SystemThread(signals: .inherited) {
      let result = body()
      slot.withLock { $0 = result }
    }
    guard let thread else { return nil }
    thread.join()
    return slot.withLock { $0 }
  }
}
