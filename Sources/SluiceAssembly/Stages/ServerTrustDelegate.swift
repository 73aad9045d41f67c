public import SluicePipeline
public import SluicePlugin

/// A delegate that decides about the certificates of servers: to pin keys, or to trust a server that the authorities do
/// not vouch for.
///
/// Its transactions share connections only with one another. It is asked once for each origin and key: an answer other
/// than a refusal holds for all transactions of the engine that have such a delegate.
public protocol ServerTrustDelegate: TransactionDelegate {
  /// Called in the handshake of a new connection over TLS, before anything of the request is sent. Throwing fails the
  /// transaction. Not possible over libcurl: where the settings need it, such as for a proxy, an https transaction fails.
  func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision
}
