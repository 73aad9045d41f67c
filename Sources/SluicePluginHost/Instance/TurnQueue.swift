import SluiceSupport

/// Gives turns to the calls of a SERIAL instance, one at a time over all loops.
///
/// The call that has the turn is running. A call that waits in the queue is only told to try again: if it were given
/// the turn, its loop could meanwhile block in ``begin()`` and never use it.
final class TurnQueue: Sendable {
  /// Has a call try again; runs on the thread of the call before it, so it only posts.
  typealias Retry = @Sendable () -> Void

  private struct State {
    var isTaken = false
    var queue = FIFOQueue<Retry>()
  }

  private let state = Monitor(State())

  /// Takes the turn if nobody has it.
  func tryBegin() -> Bool {
    state.update { state in
      guard !state.isTaken else { return false }
      state.isTaken = true
      return true
    }
  }

  /// Takes the turn, or has `retry` called when it is free again; true where it was taken.
  func begin(orLater retry: @escaping Retry) -> Bool {
    state.update { state in
      guard state.isTaken else {
        state.isTaken = true
        return true
      }
      state.queue.append(retry)
      return false
    }
  }

  /// Takes the turn; blocks while another call has it.
  func begin() {
    _ = state.wait { state -> Bool? in
      guard !state.isTaken else { return nil }
      state.isTaken = true
      return true
    }
  }

  func end() {
    let retry = state.update { state in
      state.isTaken = false
      return state.queue.popFirst()
    }
    retry?()
  }
}
