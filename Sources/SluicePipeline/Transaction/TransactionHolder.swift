/// Something that keeps a reference to a running transaction, to cancel it, and must release it at its end.
///
/// A sink holds what it cancels and resumes its transaction with, and the transaction holds its sink; without this, both
/// would hold each other permanently.
package protocol TransactionHolder: AnyObject, Sendable {
  /// The transaction has ended, or is about to give its result. [loop]
  func transactionDidEnd()
}
