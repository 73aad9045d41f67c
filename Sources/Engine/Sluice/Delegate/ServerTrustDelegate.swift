public import SluicePipeline
public import SluicePlugin

/// A delegate that decides about the certificates of servers. It can pin keys, or trust a server whose certificate the
/// normal verification refuses.
///
/// It is called once for each origin and key. Unless the delegate refuses the server, its answer also holds for later
/// calls of the same client. An answer of the client's delegate holds for all calls that leave the decision to it. An
/// answer of a call's own delegate also holds for other calls that have a delegate of this kind of their own. Other
/// transactions do not use these connections.
public protocol ServerTrustDelegate: TransactionDelegate {
  /// Called in the handshake of a new connection over TLS, before anything of the request is sent. Throwing fails the
  /// transaction.
  func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision
}
