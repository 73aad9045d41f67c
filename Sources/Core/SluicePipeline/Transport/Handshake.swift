package import SluiceMessages

/// What a TLS handshake waits for.
package enum HandshakeChallenge: Sendable {
  case serverTrust(ServerTrust)
  case clientCertificate(ClientCertificateRequest)

  package var host: String {
    switch self {
    case .serverTrust(let trust): trust.host
    case .clientCertificate(let request): request.host
    }
  }
}

/// The answer to a ``HandshakeChallenge``.
package enum HandshakeDecision: Sendable, Hashable {
  case performDefaultHandling
  /// The server is trusted, even if no trusted authority has signed its certificate.
  case accept
  /// The client certificate to send.
  case use(RequestOptions.Identity)
  case refuse
}

/// Which challenges of a handshake the delegates of a transaction answer, and which calls can share its connections.
package struct HandshakePolicy: Sendable, Hashable {
  /// Calls with the same scope share the answers of their delegates.
  package struct Scope: Sendable, Hashable {
    /// The number of the client; 0 for the engine.
    package var client: UInt64
    /// Whether a delegate of the call itself answers. The answers of such a delegate do not apply to calls that leave
    /// everything to the delegates of the client or the engine.
    package var isOfCall: Bool

    package init(client: UInt64, isOfCall: Bool) {
      self.client = client
      self.isOfCall = isOfCall
    }
  }

  package var scope: Scope
  /// Whether a delegate decides about the certificates of servers.
  package var decidesTrust: Bool
  /// Whether a delegate chooses client certificates.
  package var choosesCertificate: Bool
  /// Whether a delegate of the call itself chooses the client certificate; then the connection serves this call alone.
  package var choosesForCall: Bool

  package init(_ scope: Scope, decidesTrust: Bool, choosesCertificate: Bool, choosesForCall: Bool) {
    self.scope = scope
    self.decidesTrust = decidesTrust
    self.choosesCertificate = choosesCertificate
    self.choosesForCall = choosesForCall
  }

  package func answers(_ challenge: HandshakeChallenge) -> Bool {
    switch challenge {
    case .serverTrust: decidesTrust
    case .clientCertificate: choosesCertificate
    }
  }

  /// Combines both policies. The result has the scope of the first policy.
  static func merge(_ first: HandshakePolicy?, _ second: HandshakePolicy?) -> HandshakePolicy? {
    guard var merged = first ?? second, first != nil, let second else { return first ?? second }
    merged.decidesTrust = merged.decidesTrust || second.decidesTrust
    merged.choosesCertificate = merged.choosesCertificate || second.choosesCertificate
    return merged
  }
}
