import SluiceSupport

/// Passes the first of several answers on.
package final class FirstAnswer<Answer: Sendable>: Sendable {
  private let receiver: Locked<(@Sendable (Answer) -> Void)?>

  init(_ receiver: @escaping @Sendable (Answer) -> Void) { self.receiver = Locked(receiver) }

  /// Passes the answer to the receiver. Returns false, and drops the answer, if another answer came first.
  @discardableResult
  package func give(_ answer: Answer) -> Bool {
    let receiver = receiver.withLock { receiver in
      defer { receiver = nil }
      return receiver
    }
    receiver?(answer)
    return receiver != nil
  }

  /// Returns the first answer that is given to the body's argument, or `fallback` when the limit has passed without an
  /// answer. A separate thread watches the limit, because all threads of the pool might be occupied by tasks that wait
  /// for this answer.
  package static func race(
    within limit: Duration, _ body: (FirstAnswer<Answer>) -> Void, orElse fallback: @escaping @Sendable () -> Answer
  ) async -> Answer {
    let isAnswered = Monitor(false)
    return await Handover.wait { handover in
      let first = FirstAnswer { answer in
        isAnswered.update { $0 = true }
        handover.give(answer)
      }
      let isWatched = SystemThread.start("sluice-limit") {
        if isAnswered.wait(upTo: limit, { $0 ? true : nil }) == nil { first.give(fallback()) }
      }
      if !isWatched {
        Task.detached {
          try? await Task.sleep(for: limit)
          first.give(fallback())
        }
      }
      body(first)
    }
  }
}
