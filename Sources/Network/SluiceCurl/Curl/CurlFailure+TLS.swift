import CCurl
import SluiceMessages
import SluicePipeline
import SluiceTransport

// The messages of libcurl contain those of OpenSSL.
extension CurlFailure {
  /// The error of a TLS connection that could not be established.
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

  /// The error if the server refuses the client certificate, or asks for one and gets none; nil for other failures.
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
