import CTLS
import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline

/// The client's side of TLS.
final class TLSClientChannel: TLSChannel {
  let sessions: TLSSessions
  private let host: String
  private let context: TLSContext
  /// The object that decides about the server's certificate; nil if OpenSSL decides.
  private let decision: TrustDecision?
  /// The object that chooses the client certificate; nil if the certificate of the settings is used.
  private let choice: CertificateChoice?

  /// - Parameters:
  ///   - host: the host of the URL, which the server's certificate must name (RFC 9110 §4.3.4), or the proxy's host.
  ///   - below: the connection inside which this one runs.
  init(
    _ descriptor: Int32, inside below: TLSChannel? = nil, isForServer: Bool = true, _ context: TLSContext,
    _ sessions: TLSSessions, host: String, _ decision: TrustDecision? = nil,
    _ choice: CertificateChoice? = nil
  ) throws(TLSFailure) {
    self.context = context
    self.sessions = sessions
    self.host = host
    self.decision = decision
    self.choice = choice
    try super.init(descriptor, inside: below, isForServer: isForServer, context.pointer)
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

  override func waits(for code: Int32) -> Handshake? {
    switch code {
    case SSL_ERROR_WANT_RETRY_VERIFY:
      if case .asked(let trust) = decision?.state { return .asks(.serverTrust(trust)) }
      return .wouldBlock
    case SSL_ERROR_WANT_X509_LOOKUP:
      if case .asked(let request) = choice?.state { return .asks(.clientCertificate(request)) }
      return .wouldBlock
    default: return nil
    }
  }

  /// Why the server's public key is not accepted; nil if it is accepted. It is checked before any request data is sent.
  /// The check also works in a resumed session, which keeps the certificate.
  override var refusal: TLSFailure? {
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

  /// The name, or the address, that the certificate must have.
  private func expect(_ host: String) -> Bool {
    let parameters = SSL_get0_param(pointer)
    if SystemNames.isAddress(host) { return X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 }
    // Partial wildcards, as in f*.example.com, and names outside of subjectAltName are not accepted (RFC 9525 §6.3).
    X509_VERIFY_PARAM_set_hostflags(
      parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    return sluice_tls_set_server_name(pointer, host) == 1 && X509_VERIFY_PARAM_set1_host(parameters, host, 0) == 1
  }

  override var handshakeFailure: TLSFailure {
    if let failure = choice?.failure { return failure }
    return complete(reasonOfHandshakeFailure)
  }

  override func complete(_ failure: TLSFailure) -> TLSFailure {
    var failure = failure
    failure.chosenCertificate = choice?.certificate
    return failure
  }

  private var reasonOfHandshakeFailure: TLSFailure {
    let code = SSL_get_verify_result(pointer)
    guard context.verifies, code != X509_V_OK else {
      return super.handshakeFailure
    }
    ERR_clear_error()
    return TLSFailure(.verification, CertificateFault.words(code, host))
  }
}
