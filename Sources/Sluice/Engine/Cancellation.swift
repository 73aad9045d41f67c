import SluiceLocks
import SluicePipeline

/// Cancels a submitted transaction from any thread, also before its loop has taken it.
public final class Cancellation: Sendable {
  private enum State {
    case waiting
    case running(Transaction)
    case cancelled
  }

  private let state = Locked(State.waiting)

  public init() {}

  /// Ends the transaction as cancelled unless it has ended; further calls do nothing.
  public func cancel() {
    let running: Transaction? = state.withLock { state in
      defer { state = .cancelled }
      if case .running(let transaction) = state { return transaction }
      return nil
    }
    running?.cancel()
  }

  /// Goes on with a response body after its sink paused; does nothing once the transaction is cancelled.
  public func resumeReceiving() {
    let running: Transaction? = state.withLock { state in
      if case .running(let transaction) = state { return transaction }
      return nil
    }
    running?.resumeReceiving()
  }

  func adopt(_ transaction: Transaction) {
    let isCancelled = state.withLock { state in
      if case .cancelled = state { return true }
      state = .running(transaction)
      return false
    }
    if isCancelled { transaction.cancel() }
  }
}
