import SluiceSupport

/// Gives turns to the calls of a SERIAL instance, one at a time over all loops.
///
/// The call that has the turn is running. When it ends, the turn is not passed on to a waiting call: that call must try
/// again. If the turn were passed on, the loop of the waiting call might be blocked in ``begin()`` at that time, and
/// would never run the call that has the turn.
final class SerialTurns: Sendable {
  /// Makes a waiting call try again. This function runs on the thread of the call that has just ended, so it must only
  /// post work.
  typealias Retry = @Sendable () -> Void

  private struct State {
    var isTaken = false
    var queue = FIFOQueue<Retry>()
  }

  private let state = Monitor(State())

  /// Takes the turn if it is free.
  func tryBegin() -> Bool {
    state.update { state in
      guard !state.isTaken else { return false }
      state.isTaken = true
      return true
    }
  }

  /// Takes the turn and returns true, or calls `retry` when the turn is free again.
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
