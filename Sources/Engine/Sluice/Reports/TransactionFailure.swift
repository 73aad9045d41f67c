public import SluiceMessages
public import SluicePipeline

/// The error that ``Engine/perform(_:parent:delegate:)`` throws when a transaction fails. It contains the cause and the
/// whole result.
public struct TransactionFailure: DescribedError, Sendable {
  /// Why the transaction failed; the same as in ``result``.
  public let error: TransactionError
  /// The response, if there was one, and the facts of the transaction.
  public let result: TransactionResult

  /// The text of ``error``: its code, the stage at fault if there is one, and the message, on one line.
  public var description: String { error.description }
}
