public import SluicePipeline
public import SluicePlugin

/// A delegate that decides about the certificates of servers: to pin keys, or to trust a server that the authorities do
/// not vouch for.
///
/// It is asked once for each origin and key. An answer other than a refusal holds for the later calls of the client that
/// have such a delegate: that of a client's delegate for all of them, that of a call's own delegate for those calls that
/// bring their own too. Other transactions do not use the connections.
public protocol ServerTrustDelegate: TransactionDelegate {
  /// Called in the handshake of a new connection over TLS, before anything of the request is sent. Throwing fails the
  /// transaction. Not possible over libcurl: where the settings need it, such as for a proxy, an https transaction fails.
  func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision
}
