import SluiceMessages
import SluicePipeline

extension TransactionError {
  /// The caller cancelled a request before it was sent.
  static var cancelledEarly: TransactionError {
    TransactionError(
      code: .cancelled, message: "the caller cancelled the request before it was sent", isBeforeSending: true)
  }
}
