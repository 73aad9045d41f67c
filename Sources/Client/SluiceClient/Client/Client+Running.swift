import Sluice
import SluiceMessages
import SluicePipeline

// The functions with which the calls of a client use the engine.
extension Client {
  /// The cancellation for one transaction. Cancelling the caller's handle also cancels this one.
  static func begin(_ handle: Cancellation?) throws(TransactionError) -> Cancellation {
    let cancellation = Cancellation()
    handle?.forward(to: cancellation)
    guard !Task.isCancelled, !cancellation.isCancelled else { throw TransactionError.cancelledEarly }
    return cancellation
  }

  /// Runs a request whose body is collected.
  func run(
    _ request: Request, _ delegate: (any TransactionDelegate)?, _ cancellation: Cancellation?
  ) async throws(TransactionError) -> Response {
    let cancellation = try Self.begin(cancellation)
    return try response(
      of: await engine.transaction(request, delegate: delegates(delegate), cancellation: cancellation))
  }

  /// The response of a transaction that succeeded, or that failed only because of a status that this client accepts.
  private func response(of result: TransactionResult) throws(TransactionError) -> Response {
    if let error = failure(of: result) { throw error }
    guard let response = result.response else { throw .withoutResponse }
    return response
  }

  /// Why the transaction counts as failed for this client; nil if it does not.
  func failure(of result: TransactionResult) -> TransactionError? {
    guard let error = result.error else { return nil }
    return acceptsEveryStatus && error.code == .status && result.response != nil ? nil : error
  }
}
