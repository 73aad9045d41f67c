public import SluicePipeline
public import SluicePlugin

/// A delegate that chooses client certificates.
///
/// Where it is the delegate of one call, each hop over TLS of that call makes a connection for itself, which is closed
/// after the hop: nobody else speaks in its name. Where it is the delegate of a client or an engine, the connections with
/// the certificate that it chose serve all calls that leave the choice to it.
public protocol ClientCertificateDelegate: TransactionDelegate {
  /// Called in the handshake of a new connection over TLS if the server asks for a client certificate, after the server
  /// itself is trusted and before anything of the request is sent. Throwing fails the transaction. Not possible over
  /// libcurl: where the settings need it, such as for a proxy, an https transaction fails.
  ///
  /// The files of the certificate are read on the loop.
  func transaction(
    _ context: RequestContext, didReceive request: ClientCertificateRequest
  ) async throws -> ClientCertificateDecision
}
