import CCurl
import SluiceMessages
import SluicePipeline

// Libcurl passes OpenSSL's words on: the fault of the certificate, or the name of an alert (RFC 8446 §6.2).
extension CurlFailure {
  /// The TLS connection could not be made.
  var tls: TransportError {
    if let refusal = clientCertificateRefusal { return refusal }
    return make(.tls, words("the TLS handshake failed") + tlsAdvice)
  }

  /// The server refuses the client certificate, or asks for one and gets none; nil for other failures.
  var clientCertificateRefusal: TransportError? {
    guard Self.certificateAlerts.contains(where: { detail.contains("alert \($0)") }) else { return nil }
    guard let certificate = settings.tls.certificate else {
      return make(
        .tls,
        "the server asks for a client certificate, and there is none: \(detail); set \(names.certificate) and \(names.key)"
      )
    }
    return make(
      .tls,
      "the server does not accept the client certificate \(PlainText.path(certificate)): \(detail); set"
        + " \(names.certificate) and \(names.key) to one that it accepts")
  }

  private static let certificateAlerts = [
    "certificate required", "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
    "certificate unknown", "unknown ca", "access denied",
  ]

  private var tlsAdvice: String {
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION: certificateAdvice
    // In TLS 1.2 this is also how a server asks for a certificate.
    case CURLE_SSL_CONNECT_ERROR where detail.contains("alert handshake failure"):
      "; the server may ask for a client certificate (\(names.certificate), \(names.key)), or have no version and cipher of"
        + " TLS in common with this side"
    case CURLE_SSL_CONNECT_ERROR where Self.versionWords.contains(where: { detail.contains($0) }):
      "; the server has no version of TLS in common with this side"
    case CURLE_SSL_CONNECT_ERROR: "; check that the server speaks TLS on this port"
    case CURLE_SSL_CACERT_BADFILE: "; \(names.authorities) must name a readable PEM file"
    case CURLE_SSL_CERTPROBLEM: "; \(names.certificate) and \(names.key) must name a PEM certificate and its key"
    default: ""
    }
  }

  /// Only a few faults of a certificate go away when another authority is trusted.
  private var certificateAdvice: String {
    if detail.contains("expired") {
      return "; the server needs a new certificate, or the clock of this machine is wrong"
    }
    if detail.contains("not yet valid") { return "; the clock of this machine or of the certificate's maker is wrong" }
    if detail.contains("subject name") {
      return "; the certificate is for another host: check the host of the URL, or give the server a certificate for it"
    }
    let isAlone = detail.contains("self-signed certificate") && !detail.contains("in certificate chain")
    return
      "; if the server is the right one, name \(isAlone ? "this certificate" : "its authority") in \(names.authorities)"
  }

  private static let versionWords = ["alert protocol version", "unsupported protocol", "legacy sigalg"]
}
