import SluiceClient
import Sluice

/// Sends the certificate of this host to the company's servers, and to no others.
struct CompanyCertificate: ClientCertificateDelegate {
  func transaction(
    _ context: RequestContext, didReceive request: ClientCertificateRequest
  ) async throws -> ClientCertificateDecision {
    guard request.host.hasSuffix(".example.com") else { return .performDefaultHandling }
    return .use(RequestOptions.Identity(certificate: "/etc/ssl/host.pem"))
  }
}
