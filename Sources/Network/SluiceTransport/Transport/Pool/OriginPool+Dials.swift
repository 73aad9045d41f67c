import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

// What a dial needs from its pool: TLS to the server, the answers to challenges, and the errors for what goes wrong on
// the way to the proxy or, without a proxy, to the server.
extension OriginPool {
  /// Makes the TLS channel to the server for a connection of this pool.
  ///
  /// - Parameter below: the connection over TLS to the proxy, if there is one.
  func makeTLS(_ descriptor: Int32, inside below: TLSChannel?) throws(TransportError) -> TLSClientChannel {
    do throws(TLSFailure) {
      let decision = key.handshake.flatMap {
        $0.decidesTrust ? TrustDecision(origin, $0.scope, transport.approvals) : nil
      }
      let choice = key.handshake?.choosesCertificate == true ? CertificateChoice(origin) : nil
      return try TLSClientChannel(
        descriptor, inside: below, transport.tlsContext(settings.tls, mayOfferHTTP2: mayOfferHTTP2), sessions,
        host: origin.host, decision, choice)
    } catch { throw TransportFailure.tls(origin, error, settings) }
  }

  /// Passes a challenge of the handshake to a transfer that waits for a connection.
  func decide(_ challenge: HandshakeChallenge, for dial: Dial) {
    guard let asker = asker(for: dial) else { return abandon(dial) }
    asker.ask(challenge) { [self] decision in
      guard isUnderWay(dial) else { return }
      switch decision {
      case nil: abandon(dial)
      case .refuse: refuse(dial, asker, "the delegate refuses the connection")
      case .performDefaultHandling:
        if case .serverTrust(let trust) = challenge, let failure = trust.failure {
          return refuse(dial, asker, failure)
        }
        goOn(dial, .performDefaultHandling)
      case let decision?: goOn(dial, decision)
      }
    }
  }

  /// Ends the transfer that was asked and has refused the connection. The next connection asks another waiting
  /// transfer.
  private func refuse(_ dial: Dial, _ asker: HTTPTransfer, _ reason: String) {
    asker.times.fail(dial.times, at: Loop.now)
    // This makes the transfer abandon its dial.
    asker.fail(TransportFailure.tls(origin, TLSFailure(.verification, reason), settings))
  }

  func nameFailure(_ error: NameError) -> TransportError {
    guard let host = way?.proxy.place.host else { return TransportFailure.name(origin, error) }
    return proxyFailure("cannot resolve the proxy \(PlainText.quote(host)): \(error.advice)").with(.proxyName)
  }

  func connectFailure(_ address: SocketAddress, _ code: Int32) -> TransportError {
    guard let name = way?.proxy.name else { return TransportFailure.connect(origin, address, code) }
    return proxyFailure("no connection to the proxy \(name): \(SystemError.text(code))")
  }

  var withoutAddress: TransportError {
    guard let name = way?.proxy.name else { return TransportFailure.withoutAddress(origin, settings) }
    return proxyFailure("no connection to the proxy \(name): it has no \(TransportFailure.kind(settings))")
  }

  /// Who may close a connection of this pool, as a phrase; nil without a proxy, when only the server may.
  var peersThroughProxy: String? {
    guard let way else { return nil }
    return way.opensTunnel ? "the server or the proxy \(way.proxy.name)" : "the proxy \(way.proxy.name)"
  }

  func proxyFailure(_ reason: String) -> TransportError { TransportFailure.proxy(origin, reason, settings.names) }
}
