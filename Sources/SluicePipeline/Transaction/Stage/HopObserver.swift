package import SluiceMessages

/// Follows the hops of a transaction. Called on the loop; must not block.
package protocol HopObserver: AnyObject, Sendable {
  /// A part of the request body has left.
  func transaction(_ id: TransactionID, didSend progress: TransferProgress)

  /// A part of the response body has arrived, and was taken.
  func transaction(_ id: TransactionID, didReceive progress: TransferProgress)

  /// An informational (1xx) response has arrived.
  func transaction(_ id: TransactionID, didReceiveInformational status: Int, _ headers: HeaderFields)

  /// The transfer of a hop has ended.
  func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics)
}
