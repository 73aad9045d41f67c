package import SluicePipeline
import SluiceSupport

/// Ends a submitted transaction from any thread, even before its loop has taken it.
public final class Cancellation: Sendable {
  private enum State {
    case waiting
    case running(Transaction)
    /// Cancelled, or ended with an error of the caller.
    case over(TransactionError?)
  }

  private let state = Locked(State.waiting)

  /// A cancellation for one transaction: pass it along when you submit that transaction.
  public init() {}

  /// Ends the transaction as cancelled unless it has ended; further calls do nothing.
  public func cancel() { end(nil) }

  /// Ends the transaction with an error of the caller unless it has ended, for example because the receiver of the
  /// response body is gone; further calls do nothing.
  package func fail(_ error: TransactionError) { end(error) }

  private func end(_ error: TransactionError?) {
    let running: Transaction? = state.withLock { state in
      if case .over = state { return nil }
      defer { state = .over(error) }
      if case .running(let transaction) = state { return transaction }
      return nil
    }
    if let running { Self.end(running, error) }
  }

  private static func end(_ transaction: Transaction, _ error: TransactionError?) {
    if let error { transaction.fail(error) } else { transaction.cancel() }
  }

  /// Continues a response body after its sink has paused; does nothing if the transaction is cancelled.
  public func resumeReceiving() {
    let running: Transaction? = state.withLock { state in
      if case .running(let transaction) = state { return transaction }
      return nil
    }
    running?.resumeReceiving()
  }

  func adopt(_ transaction: Transaction) {
    let known = state.withLock { state in
      if case .waiting = state { state = .running(transaction) }
      return state
    }
    if case .over(let error) = known { Self.end(transaction, error) }
  }
}
