public import SluicePipeline
import SluiceSupport

/// Ends a submitted transaction from any thread, even before its loop has taken it.
public final class Cancellation: TransactionHolder {
  private enum State {
    case waiting
    case running(Transaction)
    /// All calls are forwarded to another cancellation.
    case forwarding(Cancellation)
    /// The caller has cancelled the transaction, or ended it with an error.
    case over(TransactionError?)
    /// The transaction has ended by itself.
    case ended
  }

  private let state = Locked(State.waiting)

  /// A cancellation for one transaction. Pass it to the call that submits the transaction.
  public init() {}

  /// Whether the caller has ended the transaction, before or after it began.
  package var isCancelled: Bool { state.withLock { if case .over = $0 { true } else { false } } }

  /// Cancels the transaction unless it has ended. Further calls do nothing.
  public func cancel() { end(nil) }

  /// Ends the transaction with an error of the caller unless it has ended. For example, the error can say that nobody
  /// reads the response body any more. Further calls do nothing.
  package func fail(_ error: TransactionError) { end(error) }

  private func end(_ error: TransactionError?) {
    let previous = state.withLock { state in
      defer { if case .over = state {} else { state = .over(error) } }
      return state
    }
    switch previous {
    case .running(let transaction): Self.end(transaction, error)
    case .forwarding(let other): other.end(error)
    case .waiting, .over, .ended: break
    }
  }

  /// Forwards all further calls to another cancellation, and replaces the earlier target. This is for a call that
  /// consists of several transactions, one after the other: if the call is cancelled through this object, the
  /// transaction of `other` ends.
  package func forward(to other: Cancellation) {
    let previous = state.withLock { state in
      defer { if case .over = state {} else { state = .forwarding(other) } }
      return state
    }
    if case .over(let error) = previous { other.end(error) }
  }

  private static func end(_ transaction: Transaction, _ error: TransactionError?) {
    if let error { transaction.fail(error) } else { transaction.cancel() }
  }

  /// Continues a response body after its sink has paused. Does nothing if the transaction is cancelled.
  public func resumeReceiving() {
    switch state.withLock({ $0 }) {
    case .running(let transaction): transaction.resumeReceiving()
    case .forwarding(let other): other.resumeReceiving()
    case .waiting, .over, .ended: break
    }
  }

  func adopt(_ transaction: Transaction) {
    let known = state.withLock { state in
      if case .waiting = state {
        state = .running(transaction)
        transaction.holder = self
      }
      return state
    }
    if case .over(let error) = known { Self.end(transaction, error) }
  }

  package func transactionDidEnd() {
    state.withLock { if case .running = $0 { $0 = .ended } }
  }
}
