import CTLS
import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline

/// TLS on one socket (RFC 8446), with OpenSSL, or inside the TLS of an HTTPS proxy. Only the loop uses it. It does not
/// close the socket.
final class TLSChannel {
  enum Handshake {
    case done, wouldBlock
    /// The handshake waits until ``answer(_:)`` passes the answer to this challenge.
    case asks(HandshakeChallenge)
    case failed(TLSFailure)
  }

  let pointer: OpaquePointer
  let sessions: TLSSessions
  /// Whether the peer is the server, and not a proxy.
  let isForServer: Bool
  /// The TLS connection to the proxy, inside which this one runs.
  private let below: TLSChannel?
  private let host: String
  private let socket: UnsafeMutablePointer<sluice_tls_socket>
  private let context: TLSContext
  /// The object that decides about the server's certificate; nil if OpenSSL decides.
  private let decision: TrustDecision?
  /// The object that chooses the client certificate; nil if the certificate of the settings is used.
  private let choice: CertificateChoice?
  /// The total number of received bytes at the time when the last application data arrived.
  private var receivedAtData = 0
  /// The failure of the last call.
  private(set) var failure: TLSFailure?

  /// The maximum number of bytes that one call reads, so that other connections get their turn.
  private static let bytesPerCall = 65_536
  /// The maximum number of bytes of TLS's own messages, such as new sessions and key updates, that may arrive without
  /// application data between them. A server needs a few kilobytes for them. More than this is a flood, which would
  /// only cost processor time.
  private static let quietBytes = 262_144

  /// The table of functions is never changed after it is made.
  private nonisolated(unsafe) static let method = sluice_tls_make_bio_method()

  /// - Parameters:
  ///   - host: the host of the URL, which the server's certificate must name (RFC 9110 §4.3.4), or the proxy's host.
  ///   - below: the connection inside which this one runs.
  init(
    _ descriptor: Int32, inside below: TLSChannel? = nil, isForServer: Bool = true, _ context: TLSContext,
    _ sessions: TLSSessions, host: String, _ decision: TrustDecision? = nil,
    _ choice: CertificateChoice? = nil
  ) throws(TLSFailure) {
    guard let method = Self.method, let pointer = SSL_new(context.pointer) else { throw TLSFailure.last(.other) }
    self.pointer = pointer
    self.context = context
    self.below = below
    self.isForServer = isForServer
    self.sessions = sessions
    self.host = host
    self.decision = decision
    self.choice = choice
    socket = .allocate(capacity: 1)
    socket.initialize(
      to: sluice_tls_socket(
        descriptor: descriptor, below: below?.pointer, below_socket: below?.socket, is_drained: 0, error: 0,
        budget: .max, received: 0))
    guard sluice_tls_attach(pointer, method, socket) == 1 else { throw TLSFailure.last(.other) }
    sluice_tls_set_owner(pointer, Unmanaged.passUnretained(self).toOpaque())
    guard expect(host) else { throw TLSFailure.last(.other) }
    sessions.use(for: pointer)
    SSL_set_connect_state(pointer)
    // If a delegate decides, verification is always on, because otherwise a refusal would have no effect.
    if decision != nil { SSL_set_verify(pointer, SSL_VERIFY_PEER, nil) }
    if let choice {
      SSL_set_cert_cb(
        pointer,
        { connection, choice in
          guard let connection, let choice else { return 0 }
          return Unmanaged<CertificateChoice>.fromOpaque(choice)._withUnsafeGuaranteedRef {
            $0.provide(for: connection)
          }
        }, Unmanaged.passUnretained(choice).toOpaque())
    }
  }

  deinit {
    SSL_free(pointer)
    socket.deallocate()
  }

  var security: ConnectionFacts.Security? { ConnectionFacts.Security(of: pointer) }

  /// Whether the server has chosen HTTP/2 in the handshake (RFC 9113 §3.2).
  var hasChosenHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(pointer, &name, &count)
    return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
  }

  /// Whether all received bytes were read, from the system and from OpenSSL.
  var isDrained: Bool { socket.pointee.is_drained != 0 && SSL_has_pending(pointer) == 0 }

  /// Whether the last call stopped at its limit, so that the system may have more bytes.
  var isCut: Bool { socket.pointee.budget <= 0 }

  func handshake() -> Handshake {
    ERR_clear_error()
    let result = SSL_do_handshake(pointer)
    if result == 1 {
      receivedAtData = socket.pointee.received
      return keyFailure.map { .failed($0) } ?? .done
    }
    switch SSL_get_error(pointer, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
    case SSL_ERROR_WANT_RETRY_VERIFY:
      if case .asked(let trust) = decision?.state { return .asks(.serverTrust(trust)) }
      return .wouldBlock
    case SSL_ERROR_WANT_X509_LOOKUP:
      if case .asked(let request) = choice?.state { return .asks(.clientCertificate(request)) }
      return .wouldBlock
    default: return .failed(handshakeFailure)
    }
  }

  /// Why the server's public key is not accepted; nil if it is accepted. It is checked before any request data is sent.
  /// The check also works in a resumed session, which keeps the certificate.
  private var keyFailure: TLSFailure? {
    guard !context.keyHashes.isEmpty else { return nil }
    let certificate = SSL_get1_peer_certificate(pointer)
    defer { X509_free(certificate) }
    guard let hash = certificate.flatMap(EncodedCertificate.publicKeyHash) else {
      return TLSFailure(.publicKey, "the server has sent no certificate")
    }
    guard !context.keyHashes.contains(hash) else { return nil }
    let text = String(decoding: Base64.encode(hash), as: UTF8.self)
    return TLSFailure(.publicKey, "the server's public key is sha256//\(text)")
  }

  /// Takes the answer to the challenge, which must not be a refusal. The handshake can then continue.
  func answer(_ answer: HandshakeDecision) {
    if case .asked = choice?.state {
      if case .use(let identity) = answer { choice?.choose(identity) } else { choice?.choose(nil) }
    } else {
      decision?.trust(isAccepted: answer == .accept)
    }
  }

  /// Called by OpenSSL to verify the server's certificate.
  func verify(_ store: OpaquePointer) -> Int32 {
    decision?.verify(store, pointer, verifies: context.verifies) ?? X509_verify_cert(store)
  }

  /// - Parameter isPeek: whether the bytes stay, so that the next call reads them again.
  func read(into buffer: UnsafeMutableRawBufferPointer, isPeek: Bool = false) -> StreamSocket.Outcome {
    ERR_clear_error()
    socket.pointee.budget = Self.bytesPerCall
    // The flag that an earlier call has set may be out of date. This call may take a record from OpenSSL's memory,
    // although the system has received more bytes and has already reported them.
    socket.pointee.is_drained = 0
    let count =
      isPeek
      ? SSL_peek(pointer, buffer.baseAddress, Int32(clamping: buffer.count))
      : SSL_read(pointer, buffer.baseAddress, Int32(clamping: buffer.count))
    guard count <= 0 else {
      receivedAtData = socket.pointee.received
      return .bytes(Int(count))
    }
    return isFlooded ? failFlooded() : outcome(of: count)
  }

  private var isFlooded: Bool { socket.pointee.received - receivedAtData > Self.quietBytes }

  private func failFlooded() -> StreamSocket.Outcome {
    failure = TLSFailure(.other, "the server sent more than \(Self.quietBytes) bytes of TLS messages without data")
    return .failed(0)
  }

  /// Whether application data or the end of the connection has arrived. This call also reads TLS's own messages, such
  /// as new sessions, which do not count.
  func hasInput() -> Bool {
    ERR_clear_error()
    var byte: UInt8 = 0
    socket.pointee.budget = Self.bytesPerCall
    let count = SSL_peek(pointer, &byte, 1)
    if count > 0 || isCut || isFlooded { return true }
    if case .wouldBlock = outcome(of: count) { return false }
    return true
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> StreamSocket.Outcome {
    guard !bytes.isEmpty else { return .bytes(0) }
    ERR_clear_error()
    let count = SSL_write(pointer, bytes.baseAddress, Int32(clamping: bytes.count))
    return count > 0 ? .bytes(Int(count)) : outcome(of: count)
  }

  /// Tells the peer that this side sends nothing more. Does not wait for the peer's answer.
  func close() {
    guard failure == nil else { return }
    ERR_clear_error()
    socket.pointee.budget = Self.bytesPerCall
    SSL_shutdown(pointer)
    ERR_clear_error()
    below?.close()
  }

  private func outcome(of result: Int32) -> StreamSocket.Outcome {
    switch SSL_get_error(pointer, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
    case SSL_ERROR_ZERO_RETURN: return .end
    default:
      let code = socket.pointee.error
      failure = TLSFailure.last(.other, systemError: code)
      failure?.chosenCertificate = choice?.certificate
      return .failed(code)
    }
  }

  /// The name, or the address, that the certificate must have.
  private func expect(_ host: String) -> Bool {
    let parameters = SSL_get0_param(pointer)
    if SystemNames.isAddress(host) { return X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 }
    // Partial wildcards, as in f*.example.com, and names outside of subjectAltName are not accepted (RFC 9525 §6.3).
    X509_VERIFY_PARAM_set_hostflags(
      parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    return sluice_tls_set_server_name(pointer, host) == 1 && X509_VERIFY_PARAM_set1_host(parameters, host, 0) == 1
  }

  private var handshakeFailure: TLSFailure {
    if let failure = choice?.failure { return failure }
    var failure = reasonOfHandshakeFailure
    failure.chosenCertificate = choice?.certificate
    return failure
  }

  private var reasonOfHandshakeFailure: TLSFailure {
    let code = SSL_get_verify_result(pointer)
    guard context.verifies, code != X509_V_OK else {
      return TLSFailure.last(.handshake, systemError: socket.pointee.error)
    }
    ERR_clear_error()
    return TLSFailure(.verification, CertificateFault.words(code, host))
  }
}
