public import SluicePipeline
public import SluicePlugin

/// A delegate that chooses client certificates.
///
/// If it is the delegate of one call, each hop of that call over TLS opens its own connection and closes it after the
/// hop, so that no other call uses the certificate. If it is the delegate of a client or an engine, all calls that
/// leave the choice to this delegate use the connections with the chosen certificate.
public protocol ClientCertificateDelegate: TransactionDelegate {
  /// Called in the handshake of a new connection over TLS if the server asks for a client certificate. The server is
  /// already trusted at this time, and nothing of the request was sent. Throwing fails the transaction.
  ///
  /// The files of the certificate are read on the loop.
  func transaction(
    _ context: RequestContext, didReceive request: ClientCertificateRequest
  ) async throws -> ClientCertificateDecision
}
