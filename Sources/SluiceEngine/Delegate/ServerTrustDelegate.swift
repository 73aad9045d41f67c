public import SluicePipeline
public import SluicePlugin

/// A delegate that decides about the certificates of servers: to pin keys, or to trust a server that the authorities do
/// not vouch for.
///
/// It is called once for each origin and key. Unless it refuses, its answer also holds for later calls of the same
/// client: the answer of the client's delegate for all calls that leave the decision to it, the answer of a call's own
/// delegate for calls that also have such a delegate of their own. Other transactions do not use the connections.
public protocol ServerTrustDelegate: TransactionDelegate {
  /// Called in the handshake of a new connection over TLS, before anything of the request is sent. Throwing fails the
  /// transaction. Not possible over libcurl: if the settings require libcurl, for example for a proxy, an https
  /// transaction fails.
  func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision
}
