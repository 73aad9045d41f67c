import CTLS
import SluicePipeline

/// The TLS settings that all connections of one transport share: the trusted authorities and the client certificate.
///
/// Connections use TLS 1.2 or newer, without renegotiation, compression and early data.
final class TLSContext {
  let pointer: OpaquePointer
  let verifies: Bool
  /// SHA-256 hashes of the accepted public keys of servers. If there are none, any key is accepted.
  let keyHashes: Set<[UInt8]>

  /// - Parameter offersHTTP2: whether a server may choose HTTP/2.
  init(_ settings: TLSSettings, offersHTTP2: Bool) throws(TLSFailure) {
    guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw TLSFailure.last(.other) }
    self.pointer = pointer
    verifies = settings.verify
    keyHashes = settings.keyHashes
    sluice_tls_configure(pointer)
    try select(settings)
    if let obstacle = settings.ca.flatMap(TLSSettings.obstacle) { throw TLSFailure(.authorities, obstacle) }
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
        return Unmanaged<TLSClientChannel>.fromOpaque(owner)._withUnsafeGuaranteedRef { $0.verify(store) }
      }, nil)
    SSL_CTX_sess_set_new_cb(pointer) { connection, session in
      guard let connection, let session, let owner = sluice_tls_owner(connection) else { return 0 }
      Unmanaged<TLSClientChannel>.fromOpaque(owner)._withUnsafeGuaranteedRef { $0.sessions.keep(session) }
      return 1
    }
    try useOwnCertificate(settings)
  }

  deinit { SSL_CTX_free(pointer) }

  /// Sets the versions and ciphers.
  private func select(_ settings: TLSSettings) throws(TLSFailure) {
    let (least, most) = (settings.versions.lowerBound, settings.versions.upperBound)
    guard sluice_tls_set_versions(pointer, least.number, most.number) == 1 else { throw TLSFailure.last(.other) }
    if let ciphers = settings.ciphers.tls12, SSL_CTX_set_cipher_list(pointer, ciphers) != 1 {
      throw TLSFailure.last(.ciphers)
    }
    if let ciphers = settings.ciphers.tls13, SSL_CTX_set_ciphersuites(pointer, ciphers) != 1 {
      throw TLSFailure.last(.ciphers)
    }
  }

  private func useOwnCertificate(_ settings: TLSSettings) throws(TLSFailure) {
    for path in [settings.certificate, settings.key] {
      if let obstacle = path.flatMap(TLSSettings.obstacle) { throw TLSFailure(.ownCertificate, obstacle) }
    }
    let isRead = withUnsafePointer(to: Array((settings.password ?? "").utf8)) { password in
      // Without this function, OpenSSL would ask for the password of a key on the terminal, and wait.
      SSL_CTX_set_default_passwd_cb(pointer) { buffer, size, _, password in
        guard let buffer, let bytes = password?.assumingMemoryBound(to: [UInt8].self).pointee, !bytes.isEmpty,
          bytes.count <= size
        else { return -1 }
        UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyBytes(from: bytes)
        return Int32(bytes.count)
      }
      SSL_CTX_set_default_passwd_cb_userdata(pointer, UnsafeMutableRawPointer(mutating: password))
      defer { SSL_CTX_set_default_passwd_cb_userdata(pointer, nil) }
      return readOwnCertificate(settings)
    }
    guard isRead else { throw TLSFailure.last(.ownCertificate) }
  }

  private func readOwnCertificate(_ settings: TLSSettings) -> Bool {
    guard let certificate = settings.certificate else { return true }
    return SSL_CTX_use_certificate_chain_file(pointer, certificate) == 1
      && SSL_CTX_use_PrivateKey_file(pointer, settings.key ?? certificate, SSL_FILETYPE_PEM) == 1
      && SSL_CTX_check_private_key(pointer) == 1
  }
}

extension TLSVersion {
  /// OpenSSL's number for the version.
  var number: Int32 {
    switch self {
    case .tls12: sluice_tls_version_1_2
    case .tls13: sluice_tls_version_1_3
    }
  }
}

/// The session of the last connection to one origin, which makes the next handshake shorter (RFC 8446 §2.2). It is not
/// shared with other origins, or with connections that have other settings.
final class TLSSessions {
  private var last: OpaquePointer?

  /// Stores a session, and takes over the caller's reference to it.
  func keep(_ session: OpaquePointer) {
    if let last { SSL_SESSION_free(last) }
    last = session
  }

  /// Lets a new connection try the session. A session is used only once. A server may refuse it the second time, and a
  /// second use would let an observer link the connections (RFC 8446 §C.4).
  func use(for connection: OpaquePointer) {
    guard let session = last else { return }
    last = nil
    SSL_set_session(connection, session)
    SSL_SESSION_free(session)
  }

  deinit { if let last { SSL_SESSION_free(last) } }
}
