import SluiceSupport

/// Gives turns to the calls of a SERIAL instance, one at a time over all loops. The parameter `loop` of its functions
/// is the index of the calling loop, and nil on other threads.
///
/// The call that has the turn is running. When it ends, the turn is not passed on to a waiting call: that call must try
/// again. If the turn were passed on, the loop of the waiting call might be blocked in ``begin()`` at that time, and
/// would never run the call that has the turn.
final class SerialTurns: Sendable {
  /// Makes a waiting call try again. This function runs on the thread of the call that has just ended, so it must only
  /// post work.
  typealias Retry = @Sendable () -> Void

  fileprivate struct State {
    var isTaken = false
    /// The loop whose call has the turn.
    var holder: Int?
    /// Whether the loop of the call that has the turn is stuck.
    var isHolderStuck = false
    var queue = FIFOQueue<Retry>()
  }

  private let state = Monitor(State())

  /// Takes the turn if it is free.
  func tryBegin(on loop: Int?) -> Bool { state.withLock { $0.take(loop) } }

  /// Takes the turn and returns true, or calls `retry` when the turn is free again.
  func begin(on loop: Int?, orLater retry: @escaping Retry) -> Bool {
    state.withLock { state in
      if state.take(loop) { return true }
      state.queue.append(retry)
      return false
    }
  }

  /// Takes the turn; blocks while another call has it. Returns false, without the turn, if the loop of that call is
  /// stuck. Otherwise one call that does not return would block all loops.
  func begin(on loop: Int?) -> Bool {
    state.wait { state in
      if state.take(loop) { return true }
      return state.isHolderStuck ? false : nil
    }
  }

  func end() {
    let retry = state.update { state in
      (state.isTaken, state.holder, state.isHolderStuck) = (false, nil, false)
      return state.queue.popFirst()
    }
    retry?()
  }

  /// Lets no call wait for a call on this loop, which is stuck.
  func leave(_ loop: Int) {
    state.update { state in
      if state.isTaken, state.holder == loop { state.isHolderStuck = true }
    }
  }
}

extension SerialTurns.State {
  fileprivate mutating func take(_ loop: Int?) -> Bool {
    guard !isTaken else { return false }
    (isTaken, holder) = (true, loop)
    return true
  }
}
