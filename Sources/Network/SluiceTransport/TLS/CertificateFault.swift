import CTLS

/// Why a certificate is not valid.
enum CertificateFault {
  /// - Parameter code: OpenSSL's number for the failure.
  static func words(_ code: Int, _ host: String) -> String {
    if code == X509_V_ERR_HOSTNAME_MISMATCH || code == X509_V_ERR_IP_ADDRESS_MISMATCH {
      return "SSL: no alternative certificate subject name matches target host name '\(host)'"
    }
    let reason = X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    return "SSL certificate problem: \(reason)"
  }
}
