public import SluiceAssembly
public import SluiceMessages
public import SluicePipeline
import SluiceSupport
public import SluiceTraceContext

/// The result of a typed transaction.
public struct TypedResult<Payload: Sendable>: Sendable {
  /// Nil if the transaction failed.
  public let payload: Payload?
  /// The rest of the result, including the response.
  public let result: TransactionResult
}

extension Engine {
  /// Sends a request through the pipeline and decodes its response.
  ///
  /// Cancelling the task cancels the transaction.
  /// - Throws: ``TransactionFailure`` with the error, and the response if there was one.
  public func perform<Payload>(
    _ transaction: TypedTransaction<Payload>
  ) async throws(TransactionFailure) -> Payload {
    let outcome = await self.transaction(transaction)
    if let payload = outcome.payload { return payload }
    let error =
      outcome.result.error
      ?? TransactionError(code: .extraction, message: "no payload and no error")
    throw TransactionFailure(error: error, result: outcome.result)
  }

  /// Sends a request through the pipeline and decodes the JSON of its response to a type.
  public func perform<Value: Decodable & Sendable>(
    _ request: Request, decoding type: Value.Type, parent: ParentContext? = nil
  ) async throws(TransactionFailure) -> Value {
    try await perform(TypedTransaction(request, parent: parent).decoding(type))
  }

  /// Like ``perform(_:)``, but returns the whole result.
  public func transaction<Payload>(_ transaction: TypedTransaction<Payload>) async -> TypedResult<Payload> {
    let made = Locked<Payload?>(nil)
    let checks = transaction.checks { payload in made.withLock { $0 = payload } }
    let result = await self.transaction(
      transaction.request, parent: transaction.parent, checks: checks, cancellation: Cancellation())
    return TypedResult(payload: result.error == nil ? made.withLock { $0 } : nil, result: result)
  }
}
