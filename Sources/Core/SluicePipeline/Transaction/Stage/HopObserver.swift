package import SluiceMessages

/// Follows the hops of a transaction, and answers the challenges of their handshakes. Called on the loop; must not
/// block.
package protocol HopObserver: AnyObject, Sendable {
  /// A part of the request body was sent.
  func transaction(_ id: TransactionID, didSend progress: TransferProgress)

  /// A part of the response body has arrived, and was taken.
  func transaction(_ id: TransactionID, didReceive progress: TransferProgress)

  /// An informational (1xx) response has arrived.
  func transaction(_ id: TransactionID, didReceiveInformational status: Int, _ headers: HeaderFields)

  /// The transfer of a hop has ended.
  func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics)

  /// The challenges of a handshake that the observer answers; nil if it answers none. The value must not change.
  var handshakePolicy: HandshakePolicy? { get }

  /// Gives the answer to the question, now or later on the loop.
  ///
  /// - Returns: a function that is called if the answer is no longer wanted.
  func decide(_ question: HandshakeQuestion, _ exchange: Exchange) -> () -> Void
}
