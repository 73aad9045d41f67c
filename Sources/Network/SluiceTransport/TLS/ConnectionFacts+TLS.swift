import CTLS
package import SluiceMessages

extension ConnectionFacts.Security {
  /// The facts that OpenSSL knows about a connection after its handshake; nil if it gives none.
  package init?(of session: OpaquePointer) {
    guard let version = SSL_get_version(session), let cipher = SSL_get_current_cipher(session),
      let name = SSL_CIPHER_get_name(cipher)
    else { return nil }
    self.init(
      version: String(cString: version), cipher: String(cString: name), certificate: Self.certificate(of: session),
      serverName: SSL_get_servername(session, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) })
  }

  /// The peer's certificate as DER.
  private static func certificate(of session: OpaquePointer) -> [UInt8] {
    guard let certificate = SSL_get1_peer_certificate(session) else { return [] }
    defer { X509_free(certificate) }
    return EncodedCertificate.bytes(certificate) ?? []
  }
}
