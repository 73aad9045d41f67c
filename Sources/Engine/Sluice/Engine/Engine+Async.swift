public import SluiceMessages
public import SluicePipeline
internal import SluiceSupport
public import SluiceTraceContext

extension Engine {
  /// Sends a request through the pipeline.
  ///
  /// Cancelling the task cancels the transaction.
  /// - Parameter parent: the trace context that the request belongs to. If it is nil, the context of the task is used,
  ///   `TraceContext.current`.
  /// - Returns: the response of a transaction that succeeded.
  /// - Throws: ``TransactionFailure`` with the error, and the response if there was one.
  public func perform(
    _ request: Request, parent: ParentContext? = nil, delegate: (any TransactionDelegate)? = nil
  ) async throws(TransactionFailure) -> Response {
    let result = await transaction(request, parent: parent, delegate: delegate)
    if let error = result.error { throw TransactionFailure(error: error, result: result) }
    guard let response = result.response else {
      throw TransactionFailure(error: .withoutResponse, result: result)
    }
    return response
  }

  /// Sends a request through the pipeline and returns the whole result.
  public func transaction(
    _ request: Request, parent: ParentContext? = nil, delegate: (any TransactionDelegate)? = nil
  ) async -> TransactionResult {
    await transaction(request, parent: parent, delegate: delegate, cancellation: Cancellation())
  }

  /// - Parameter cancellation: cancels only this transaction. Cancelling the task also cancels it.
  package func transaction(
    _ request: Request, parent: ParentContext? = nil, delegate: (any TransactionDelegate)? = nil,
    checks: ResponseChecks? = nil, cancellation: Cancellation
  ) async -> TransactionResult {
    await withTaskCancellationHandler {
      await Handover.wait { result in
        submit(request, parent: parent, checks: checks, delegate: delegate, cancellation: cancellation) {
          result.give($0)
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}
