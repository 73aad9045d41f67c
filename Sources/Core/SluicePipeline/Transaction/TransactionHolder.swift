/// An object that keeps a reference to a running transaction, to cancel it, and must release the reference when the
/// transaction ends.
///
/// A sink keeps the object with which it cancels and resumes its transaction, and the transaction keeps its sink.
/// Without the release, they would keep each other alive permanently.
package protocol TransactionHolder: AnyObject, Sendable {
  /// Called when the transaction has ended or is about to give its result. [loop]
  func transactionDidEnd()
}
