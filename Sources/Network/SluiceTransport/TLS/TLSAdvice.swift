package import SluicePipeline
import SluiceMessages

/// What the user can do about a failure of TLS. It is derived from OpenSSL's message, which names the fault of a
/// certificate or an alert (RFC 8446 §6.2).
package struct TLSAdvice {
  /// The step of the connection that failed.
  package enum Moment: Sendable {
    /// The server's certificate was not accepted.
    case verification
    case handshake
    /// The client could not load its own files: the trusted authorities, or its certificate and key.
    case authorities, ownCertificate
    /// The configured ciphers could not be set.
    case ciphers
    /// The server's public key is not accepted.
    case publicKey
    case other
  }

  private let detail: String
  private let settings: TransportSettings

  package init(_ detail: String, _ settings: TransportSettings) {
    self.detail = detail
    self.settings = settings
  }

  private var names: SettingNames { settings.names }

  /// The server refuses the client certificate, or asks for one and gets none; nil for other failures.
  package var clientCertificateRefusal: String? {
    guard Self.certificateAlerts.contains(where: { detail.contains("alert \($0)") }) else { return nil }
    guard let certificate = settings.tls.certificate else {
      return
        "the server asks for a client certificate, and there is none: \(detail); set \(names.certificate) and \(names.key)"
    }
    return
      "the server does not accept the client certificate \(PlainText.path(certificate)): \(detail); set"
      + " \(names.certificate) and \(names.key) to one that it accepts"
  }

  private static let certificateAlerts = [
    "certificate required", "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
    "certificate unknown", "unknown ca", "access denied",
  ]

  /// What to do, with a semicolon before it; empty if nothing is known.
  package func advice(at moment: Moment) -> String {
    switch moment {
    case .verification: certificateAdvice
    // In TLS 1.2, a server also sends this alert if it requires a client certificate and gets none.
    case .handshake where detail.contains("alert handshake failure"):
      "; the server might require a client certificate (\(names.certificate), \(names.key)), or have no TLS version "
        + "and cipher in common with this client"
    case .handshake where Self.versionWords.contains(where: { detail.contains($0) }):
      "; the server has no TLS version in common with this client"
    case .handshake: "; check that the server speaks TLS on this port"
    case .authorities: "; \(names.authorities) must name a readable PEM file"
    case .ownCertificate:
      "; \(names.certificate) and \(names.key) must name a PEM certificate and its key\(passwordAdvice)"
    case .ciphers: "; name ciphers as \"openssl ciphers\" does"
    case .publicKey: ", which \(names.publicKeys) does not name"
    case .other: ""
    }
  }

  private var passwordAdvice: String {
    let mightHavePassword = detail.contains("unable to set private key")
    let hasPassword = ["password", "decrypt", "interrupted"].contains(where: detail.contains)
    guard hasPassword || mightHavePassword else { return "" }
    if settings.tls.password != nil {
      return mightHavePassword ? ", or the password is wrong" : "; the password is wrong"
    }
    let advice = names.keyPassword.map { "give it with \($0)" } ?? "store the key without it"
    return mightHavePassword ? "; if the key has a password, \(advice)" : "; the key has a password: \(advice)"
  }

  /// Advice about a server certificate that was not accepted. Trusting another authority helps only with some faults.
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
