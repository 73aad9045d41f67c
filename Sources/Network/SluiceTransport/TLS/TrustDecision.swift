import CTLS
import SluiceMessages
import SluicePipeline

/// A delegate's decision about the certificate of one server, which replaces OpenSSL's own decision. OpenSSL asks for
/// it in the handshake, when this side has sent only its hello message. The handshake waits until the decision is
/// known.
final class TrustDecision {
  enum State {
    case unknown
    case asked(ServerTrust)
    case trusted
  }

  private let origin: Origin
  private let scope: HandshakePolicy.Scope
  private let approvals: TrustApprovals
  private(set) var state = State.unknown

  init(_ origin: Origin, _ scope: HandshakePolicy.Scope, _ approvals: TrustApprovals) {
    self.origin = origin
    self.scope = scope
    self.approvals = approvals
  }

  /// Notes that the server is trusted.
  ///
  /// - Parameter isAccepted: true if a delegate has accepted the server, whether or not the authorities vouch for it.
  func trust(isAccepted: Bool) {
    if case .asked(let trust) = state { approvals.insert(origin, trust.keyHash, scope, isAccepted: isAccepted) }
    state = .trusted
  }

  /// Called by OpenSSL. Returns 1 to continue, 0 to end the handshake.
  func verify(_ store: OpaquePointer, _ connection: OpaquePointer, verifies: Bool) -> Int32 {
    switch state {
    case .trusted:
      X509_STORE_CTX_set_error(store, X509_V_OK)
      return 1
    case .asked: return sluice_tls_retry_verify(connection)
    case .unknown:
      let isValid = X509_verify_cert(store) == 1
      let failure =
        isValid || !verifies ? nil : CertificateFault.words(Int(X509_STORE_CTX_get_error(store)), origin.host)
      guard let trust = trust(store, failure) else {
        X509_STORE_CTX_set_error(store, X509_V_ERR_OUT_OF_MEM)
        return 0
      }
      if approvals.contains(origin, trust.keyHash, scope, isValid: failure == nil) {
        state = .trusted
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return 1
      }
      state = .asked(trust)
      return sluice_tls_retry_verify(connection)
    }
  }

  /// Returns nil if there is no memory, or if the server has sent no certificate.
  private func trust(_ store: OpaquePointer, _ failure: String?) -> ServerTrust? {
    guard let leaf = X509_STORE_CTX_get0_cert(store), let keyHash = EncodedCertificate.publicKeyHash(leaf) else {
      return nil
    }
    var certificates: [[UInt8]] = []
    let chain = X509_STORE_CTX_get0_untrusted(store)
    for index in 0..<sluice_tls_count(chain) {
      guard let certificate = sluice_tls_certificate(chain, index), let bytes = EncodedCertificate.bytes(certificate)
      else {
        return nil
      }
      certificates.append(bytes)
    }
    return ServerTrust(
      host: origin.host, port: origin.port, certificates: certificates, keyHash: keyHash, failure: failure)
  }
}
