import CCurl
import SluiceMessages
import SluicePipeline
import SluiceTransport

// Libcurl passes OpenSSL's words on.
extension CurlFailure {
  /// The TLS connection could not be made.
  var tls: TransportError {
    if let refusal = clientCertificateRefusal { return refusal }
    let moment = moment(of: code)
    let detail: TransportError.Detail? =
      switch moment {
      case .verification: .certificate
      case .publicKey: .publicKey
      case .ownCertificate: .ownCertificate
      default: nil
      }
    return make(.tls, words("the TLS handshake failed") + TLSAdvice(self.detail, settings).advice(at: moment))
      .with(detail)
  }

  /// The server refuses the client certificate, or asks for one and gets none; nil for other failures.
  var clientCertificateRefusal: TransportError? {
    TLSAdvice(detail, settings).clientCertificateRefusal.map { make(.tls, $0) }
  }

  private func moment(of code: CURLcode) -> TLSAdvice.Moment {
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION: .verification
    case CURLE_SSL_CONNECT_ERROR: .handshake
    case CURLE_SSL_CACERT_BADFILE: .authorities
    case CURLE_SSL_CERTPROBLEM: .ownCertificate
    case CURLE_SSL_CIPHER: .ciphers
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .publicKey
    default: .other
    }
  }
}
