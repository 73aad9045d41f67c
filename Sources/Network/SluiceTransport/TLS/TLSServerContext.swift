import CTLS
import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The TLS settings of a port on which clients connect. Connections of all loops share them.
///
/// Connections use TLS 1.2 or newer, without renegotiation, compression and early data.
///
/// Sendable: OpenSSL locks what connections share, and nothing here changes after the initializer.
package final class TLSServerContext: @unchecked Sendable {
  /// The files of a certificate in PEM: the certificate with its chain, and its key, which can be in the same file.
  package struct Certificate: Sendable, Hashable {
    package var chain: String
    package var key: String

    package init(chain: String, key: String) { (self.chain, self.key) = (chain, key) }
  }

  /// The contexts of the certificates. Connections begin with the first one, which also serves clients that ask for an
  /// unknown name, or for none.
  private let pointers: [OpaquePointer]
  private let tickets = TLSTicketKeys()
  /// The protocols in the form of ALPN, the preferred one first (RFC 7301).
  private let protocols: [UInt8]

  /// How long a client can resume a session.
  private static let ticketSeconds = 3600

  /// - Parameters:
  ///   - certificates: must not be empty.
  ///   - clientAuthorities: the file with the authorities that vouch for clients; nil if clients need no certificate.
  ///   - needsClient: whether a client without a certificate is refused. If not, it is served too.
  package init(
    _ certificates: [Certificate], clientAuthorities: String? = nil, needsClient: Bool = false, offersHTTP2: Bool = true
  ) throws(TLSFailure) {
    protocols = (offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]).flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
    var made: [OpaquePointer] = []
    do throws(TLSFailure) {
      for certificate in certificates {
        made.append(try Self.make(certificate, clientAuthorities, needsClient: needsClient))
      }
    } catch {
      for pointer in made { SSL_CTX_free(pointer) }
      throw error
    }
    pointers = made
    for pointer in pointers { install(on: pointer) }
  }

  deinit {
    for pointer in pointers { SSL_CTX_free(pointer) }
  }

  /// The context with which connections begin.
  var pointer: OpaquePointer { pointers[0] }

  private static func make(
    _ certificate: Certificate, _ authorities: String?, needsClient: Bool
  ) throws(TLSFailure) -> OpaquePointer {
    guard let pointer = SSL_CTX_new(TLS_server_method()) else { throw .last(.other) }
    do throws(TLSFailure) {
      guard sluice_tls_configure_server(pointer, ticketSeconds) == 1,
        sluice_tls_set_versions(pointer, sluice_tls_version_1_2, sluice_tls_version_1_3) == 1
      else { throw .last(.other) }
      try load(certificate, into: pointer)
      if let authorities { try trust(authorities, needsClient: needsClient, pointer) }
      return pointer
    } catch {
      SSL_CTX_free(pointer)
      throw error
    }
  }

  private static func load(_ certificate: Certificate, into pointer: OpaquePointer) throws(TLSFailure) {
    let (chain, key) = (certificate.chain, certificate.key)
    for path in [chain, key] {
      if let obstacle = obstacle(at: path) { throw TLSFailure(.ownCertificate, obstacle) }
    }
    // Without this function, OpenSSL would ask for the password of a key on the terminal, and wait.
    SSL_CTX_set_default_passwd_cb(pointer) { _, _, _, _ in -1 }
    ERR_clear_error()
    guard SSL_CTX_use_certificate_chain_file(pointer, chain) == 1 else {
      throw failure("\(PlainText.quote(chain)) has no certificate in PEM")
    }
    guard SSL_CTX_use_PrivateKey_file(pointer, key, SSL_FILETYPE_PEM) == 1 else {
      let isForeign = sluice_tls_is_key_mismatch(ERR_peek_last_error()) != 0
      throw failure(
        isForeign
          ? "the key in \(PlainText.quote(key)) does not belong to the certificate in \(PlainText.quote(chain))"
          : "\(PlainText.quote(key)) has no key in PEM that can be read without a password")
    }
    guard SSL_CTX_check_private_key(pointer) == 1 else {
      throw failure(
        "the key in \(PlainText.quote(key)) does not belong to the certificate in \(PlainText.quote(chain))")
    }
  }

  /// Why a file cannot be read; nil if it can.
  private static func obstacle(at path: String) -> String? {
    if let obstacle = TLSSettings.obstacle(at: path) { return "\(PlainText.quote(path)): \(obstacle)" }
    return access(path, R_OK) == 0 ? nil : "\(PlainText.quote(path)): \(SystemError.text(errno))"
  }

  /// A failure with what OpenSSL says about it.
  private static func failure(_ what: String) -> TLSFailure {
    TLSFailure(.ownCertificate, "\(what) (\(TLSFailure.last(.ownCertificate).detail))")
  }

  /// Lets clients prove who they are with certificates of these authorities.
  private static func trust(
    _ authorities: String, needsClient: Bool, _ pointer: OpaquePointer
  ) throws(TLSFailure) {
    if let obstacle = obstacle(at: authorities) { throw TLSFailure(.authorities, obstacle) }
    ERR_clear_error()
    guard SSL_CTX_load_verify_locations(pointer, authorities, nil) == 1,
      let names = SSL_load_client_CA_file(authorities)
    else { throw .last(.authorities) }
    SSL_CTX_set_client_CA_list(pointer, names)
    // OpenSSL would not check the certificate again when a session is resumed, so it could outlive its end.
    SSL_CTX_set_options(pointer, sluice_tls_no_tickets)
    SSL_CTX_set_num_tickets(pointer, 0)
    let mode = SSL_VERIFY_PEER | (needsClient ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
    SSL_CTX_set_verify(pointer, mode, nil)
  }

  private func install(on pointer: OpaquePointer) {
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { connection, chosen, chosenCount, offered, offeredCount, _ in
        guard let connection, let chosen, let context = TLSServerChannel.context(of: connection) else {
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        return context.select(&chosen.pointee, chosenCount, offered, offeredCount)
      }, nil)
    sluice_tls_choose_by_name(pointer) { connection, _, _ in
      guard let connection, let context = TLSServerChannel.context(of: connection) else { return SSL_TLSEXT_ERR_NOACK }
      return context.choose(for: connection)
    }
    SSL_CTX_set_tlsext_ticket_key_evp_cb(pointer) { connection, name, iv, cipher, mac, encrypts in
      guard let connection, let name, let iv, let context = TLSServerChannel.context(of: connection) else { return -1 }
      let result = context.tickets.use(name, iv, cipher, mac, encrypts: encrypts == 1)
      // A client of TLS 1.3 uses a ticket once, so it needs a new one (RFC 8446 §C.4).
      let isRenewed = result == 1 && encrypts == 0 && SSL_version(connection) == sluice_tls_version_1_3
      return isRenewed ? 2 : result
    }
  }

  /// Chooses the protocol. A client that offers only others gets an alert (RFC 7301 §3.2).
  private func select(
    _ chosen: inout UnsafePointer<UInt8>?, _ chosenCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
  ) -> Int32 {
    protocols.withUnsafeBufferPointer { own in
      var found: UnsafeMutablePointer<UInt8>?
      let result = SSL_select_next_proto(
        &found, chosenCount, own.baseAddress, UInt32(own.count), offered, offeredCount)
      guard result == OPENSSL_NPN_NEGOTIATED, let found else { return SSL_TLSEXT_ERR_ALERT_FATAL }
      // The result points into one of the two lists; the client's list lives until the handshake ends.
      chosen = UnsafePointer(found)
      return SSL_TLSEXT_ERR_OK
    }
  }

  /// Chooses the certificate by the name that the client asks for (RFC 6066 §3).
  private func choose(for connection: OpaquePointer) -> Int32 {
    guard pointers.count > 1, let name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name) else {
      return SSL_TLSEXT_ERR_OK
    }
    let match = pointers.first { pointer in
      guard let certificate = SSL_CTX_get0_certificate(pointer) else { return false }
      return X509_check_host(certificate, name, 0, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS), nil) == 1
    }
    if let match, match != pointer { SSL_set_SSL_CTX(connection, match) }
    return SSL_TLSEXT_ERR_OK
  }
}

/// The keys of session tickets (RFC 5077 §4). They are replaced regularly, so that a stolen key opens few sessions.
private final class TLSTicketKeys: Sendable {
  private struct Keys {
    var current = sluice_tls_ticket_key()
    var previous: sluice_tls_ticket_key?
    var madeAt: Instant?
  }

  private static let lifetimeNanoseconds: UInt64 = 3_600_000_000_000

  private let keys = Locked(Keys())

  /// Prepares OpenSSL for one ticket. Returns its codes: 1 for success, 2 if the client should get a new ticket too, 0 if
  /// the key is not known, and -1 for a failure.
  func use(
    _ name: UnsafeMutablePointer<UInt8>, _ iv: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer?,
    _ mac: OpaquePointer?, encrypts: Bool
  ) -> Int32 {
    guard var (current, previous) = settledKeys() else { return -1 }
    let nameBytes = MemoryLayout.size(ofValue: current.name)
    func isNamed(_ key: sluice_tls_ticket_key) -> Bool {
      withUnsafeBytes(of: key.name) { $0.elementsEqual(UnsafeRawBufferPointer(start: name, count: nameBytes)) }
    }
    if encrypts {
      guard RAND_bytes(iv, EVP_MAX_IV_LENGTH) == 1 else { return -1 }
      withUnsafeBytes(of: current.name) {
        UnsafeMutableRawBufferPointer(start: name, count: nameBytes).copyMemory(from: $0)
      }
      return sluice_tls_apply_ticket_key(&current, iv, cipher, mac, 1) == 1 ? 1 : -1
    }
    if isNamed(current) { return sluice_tls_apply_ticket_key(&current, iv, cipher, mac, 0) == 1 ? 1 : -1 }
    guard var old = previous, isNamed(old) else { return 0 }
    previous = nil
    return sluice_tls_apply_ticket_key(&old, iv, cipher, mac, 0) == 1 ? 2 : -1
  }

  /// The keys, after replacing an old one; nil if there is no randomness.
  private func settledKeys() -> (sluice_tls_ticket_key, sluice_tls_ticket_key?)? {
    keys.withLock { keys in
      let now = Loop.now
      let age = keys.madeAt.map { now.nanoseconds(since: $0) }
      if age ?? .max >= Self.lifetimeNanoseconds {
        var fresh = sluice_tls_ticket_key()
        guard withUnsafeMutableBytes(of: &fresh, { RAND_bytes($0.baseAddress, Int32($0.count)) }) == 1 else {
          return nil
        }
        keys.previous = age ?? .max < 2 * Self.lifetimeNanoseconds ? keys.current : nil
        (keys.current, keys.madeAt) = (fresh, now)
      }
      return (keys.current, keys.previous)
    }
  }
}
