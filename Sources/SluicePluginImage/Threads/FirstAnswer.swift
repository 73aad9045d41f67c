import SluiceSupport

/// Passes the first of several answers on.
package final class FirstAnswer<Answer: Sendable>: Sendable {
  private let receiver: Locked<(@Sendable (Answer) -> Void)?>

  init(_ receiver: @escaping @Sendable (Answer) -> Void) { self.receiver = Locked(receiver) }

  /// False if another answer came first; then this one is dropped.
  @discardableResult
  package func give(_ answer: Answer) -> Bool {
    let receiver = receiver.withLock { receiver in
      defer { receiver = nil }
      return receiver
    }
    receiver?(answer)
    return receiver != nil
  }

  /// Waits for the body's answer, at most `limit`; then answers with `fallback`.
  package static func race(
    within limit: Duration, _ body: (FirstAnswer<Answer>) -> Void, orElse fallback: @escaping @Sendable () -> Answer
  ) async -> Answer {
    let watch = Locked<Task<Void, Never>?>(nil)
    let answer: Answer = await Handover.wait { handover in
      let first = FirstAnswer { handover.give($0) }
      let task = Task {
        try? await Task.sleep(for: limit)
        // If the task was cancelled, another answer has already won.
        if !Task.isCancelled { first.give(fallback()) }
      }
      watch.withLock { $0 = task }
      body(first)
    }
    watch.withLock { $0 }?.cancel()
    return answer
  }
}
