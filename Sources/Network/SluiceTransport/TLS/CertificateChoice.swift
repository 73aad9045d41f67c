import CTLS
import SluiceMessages
import SluicePipeline

/// A delegate's choice of a client certificate for one connection. OpenSSL asks for it in the handshake if the server
/// is trusted and wants a certificate. The handshake waits until the choice is known.
final class CertificateChoice {
  enum State {
    case unknown
    case asked(ClientCertificateRequest)
    /// The delegate's choice; nil keeps the certificate of the settings, if there is one.
    case made(RequestOptions.Identity?)
  }

  private let origin: Origin
  private(set) var state = State.unknown
  /// Why the chosen certificate cannot be used.
  private(set) var failure: TLSFailure?

  init(_ origin: Origin) { self.origin = origin }

  /// The path of the chosen certificate.
  var certificate: String? {
    guard case .made(let identity) = state else { return nil }
    return identity?.certificate
  }

  func choose(_ identity: RequestOptions.Identity?) { state = .made(identity) }

  /// Called by OpenSSL. Returns 1 to continue, 0 to end the handshake, -1 to wait.
  func provide(for connection: OpaquePointer) -> Int32 {
    switch state {
    case .made(nil): return 1
    case .made(let identity?): return use(identity, for: connection) ? 1 : 0
    case .asked: return -1
    case .unknown:
      guard let authorities = Self.authorities(connection) else { return 0 }
      state = .asked(ClientCertificateRequest(host: origin.host, port: origin.port, authorities: authorities))
      return -1
    }
  }

  private func use(_ identity: RequestOptions.Identity, for connection: OpaquePointer) -> Bool {
    ERR_clear_error()
    // The certificates from the settings are removed. Otherwise, OpenSSL would prefer one of them whose key is of
    // another kind than the chosen key.
    SSL_certs_clear(connection)
    let key = identity.key ?? identity.certificate
    if let obstacle = TLSSettings.obstacle(at: identity.certificate) ?? TLSSettings.obstacle(at: key) {
      failure = TLSFailure(.ownCertificate, obstacle)
      failure?.chosenCertificate = identity.certificate
      return false
    }
    let isUsable =
      SSL_use_certificate_chain_file(connection, identity.certificate) == 1
      && SSL_use_PrivateKey_file(connection, key, SSL_FILETYPE_PEM) == 1 && SSL_check_private_key(connection) == 1
    if !isUsable {
      failure = .last(.ownCertificate)
      failure?.chosenCertificate = identity.certificate
    }
    return isUsable
  }

  /// The names of the authorities that the server accepts; nil if there is no memory.
  private static func authorities(_ connection: OpaquePointer) -> [[UInt8]]? {
    let names = SSL_get0_peer_CA_list(connection)
    var authorities: [[UInt8]] = []
    for index in 0..<sluice_tls_name_count(names) {
      guard let name = sluice_tls_name(names, index), let bytes = EncodedCertificate.name(name) else { return nil }
      authorities.append(bytes)
    }
    return authorities
  }
}
