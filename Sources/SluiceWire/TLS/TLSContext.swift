import CTLS
import SluicePipeline
import SluiceTransport

/// What all connections of one transport have in common: the trusted authorities and the client certificate.
///
/// TLS 1.2 or newer, no renegotiation, no compression, no early data.
final class TLSContext {
  let pointer: OpaquePointer
  let verifies: Bool

  /// - Parameter offersHTTP2: whether a server may choose HTTP/2.
  init(_ settings: TLSSettings, offersHTTP2: Bool) throws(TLSFailure) {
    guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw TLSFailure.last(.other) }
    self.pointer = pointer
    verifies = settings.verify
    sluice_tls_configure(pointer)
    SSL_CTX_set_verify(pointer, settings.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
    let isTrusting =
      settings.ca.map { SSL_CTX_load_verify_locations(pointer, $0, nil) } ?? SSL_CTX_set_default_verify_paths(pointer)
    guard isTrusting == 1 else { throw TLSFailure.last(.authorities) }
    // The versions of HTTP that this transport speaks, the preferred one first (RFC 7301).
    let versions = (offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]).flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
    SSL_CTX_set_alpn_protos(pointer, versions, UInt32(versions.count))
    SSL_CTX_set_cert_verify_callback(
      pointer,
      { store, _ in
        guard let store, let connection = sluice_tls_connection(store), let owner = sluice_tls_owner(connection) else {
          return 0
        }
        return Unmanaged<TLSChannel>.fromOpaque(owner)._withUnsafeGuaranteedRef { $0.verify(store) }
      }, nil)
    SSL_CTX_sess_set_new_cb(pointer) { connection, session in
      guard let connection, let session, let owner = sluice_tls_owner(connection) else { return 0 }
      Unmanaged<TLSChannel>.fromOpaque(owner)._withUnsafeGuaranteedRef { $0.sessions.keep(session) }
      return 1
    }
    // Without this, OpenSSL would ask for the password of a key on the terminal, and wait.
    SSL_CTX_set_default_passwd_cb(pointer) { _, _, _, _ in -1 }
    guard let certificate = settings.certificate else { return }
    let key = settings.key ?? certificate
    guard SSL_CTX_use_certificate_chain_file(pointer, certificate) == 1,
      SSL_CTX_use_PrivateKey_file(pointer, key, SSL_FILETYPE_PEM) == 1, SSL_CTX_check_private_key(pointer) == 1
    else { throw TLSFailure.last(.ownCertificate) }
  }

  deinit { SSL_CTX_free(pointer) }
}

/// The session of the last connection to one origin, which makes the next handshake shorter (RFC 8446 §2.2). Not shared
/// with another origin, nor with other settings.
final class TLSSessions {
  private var last: OpaquePointer?

  /// Takes the reference of the caller over.
  func keep(_ session: OpaquePointer) {
    if let last { SSL_SESSION_free(last) }
    last = session
  }

  /// Lets a new connection try the session. It is used once: a server may refuse it the second time, and it would let
  /// an observer link the connections (RFC 8446 §C.4).
  func use(for connection: OpaquePointer) {
    guard let session = last else { return }
    last = nil
    SSL_set_session(connection, session)
    SSL_SESSION_free(session)
  }

  deinit { if let last { SSL_SESSION_free(last) } }
}
