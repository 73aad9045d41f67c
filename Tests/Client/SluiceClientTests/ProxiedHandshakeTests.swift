import SluiceAssembly
import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// Delegates and client certificates in the handshake with a server behind a proxy.
@Suite(.enabled(if: NginxServer.isAvailable && ProxyServer.areAvailable)) struct ProxiedHandshakeTests {
  /// Accepts or refuses each server, and chooses a client certificate for it.
  private struct Judge: ServerTrustDelegate, ClientCertificateDelegate {
    let decision: ServerTrustDecision
    let identity: RequestOptions.Identity
    let asked = Watched<[String]>([])
    let decisionTimeout: Duration? = .seconds(240)

    func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision {
      asked.update { $0.append("trust \(trust.host):\(trust.port)") }
      return decision
    }

    func transaction(
      _ context: RequestContext, didReceive request: ClientCertificateRequest
    ) async throws -> ClientCertificateDecision {
      asked.update { $0.append("certificate \(request.host):\(request.port)") }
      return .use(identity)
    }
  }

  /// Runs the body with a client whose proxy is a real one, and with a server whose responses say whether it got a valid
  /// client certificate.
  private func withServer(
    _ way: ProxyWay, flaw: TestCertificates.Flaw? = nil, _ change: (inout Configuration) -> Void = { _ in },
    _ body: (Client, HTTPURL, RequestOptions.Identity) async throws -> Void
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let (proxy, proxyURL) = try await way.start()
    var configuration = NginxConfiguration()
    configuration.flaw = flaw
    configuration.extraDirectives = "location = /who { return 200 \"$ssl_client_verify\"; }"
    let own = RequestOptions.Identity(certificate: certificates.client.certificate, key: certificates.client.key)
    try await withSecureServer(
      configuration,
      {
        $0.transport.proxy = proxyURL
        change(&$0)
      }
    ) { client, url in
      try await body(client, HTTPURL(url.string + "who"), own)
    }
    _ = proxy
  }

  private func ask(_ client: Client, _ request: Request, _ delegate: (any TransactionDelegate)? = nil) async throws
    -> String
  {
    let (bytes, _) = try await client.data(for: request, delegate: delegate)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: ProxyWay.all)
  func `a delegate accepts the server and chooses a certificate for it, and is not asked about the proxy`(
    _ way: ProxyWay
  ) async throws {
    try await withServer(way, flaw: .selfSigned) { client, url, own in
      let judge = Judge(decision: .accept, identity: own)
      let answer = try await ask(client, Request(url: url), judge)
      #expect(answer == "SUCCESS")
      let place = "localhost:\(url.origin.port)"
      #expect(Set(judge.asked.value) == ["trust \(place)", "certificate \(place)"])
      let other = await failure { () throws(TransactionError) in _ = try await client.data(from: url) }
      #expect(other?.code == .tls && other?.message.contains("self-signed certificate") == true)
    }
  }

  @Test(arguments: ProxyWay.all) func `a delegate refuses the server`(_ way: ProxyWay) async throws {
    try await withServer(way) { client, url, own in
      let judge = Judge(decision: .refuse, identity: own)
      let error = await failure { () throws(TransactionError) in
        _ = try await client.data(from: url, delegate: judge)
      }
      #expect(error?.code == .tls && error?.stage == "delegate" && error?.isBeforeSending == true)
      let answer = try await ask(client, Request(url: url))
      #expect(answer == "NONE")
    }
  }

  @Test(arguments: ProxyWay.all) func `the certificate of a request or of the settings is for the server`(
    _ way: ProxyWay
  ) async throws {
    try await withServer(way) { client, url, own in
      let plain = try await ask(client, Request(url: url))
      #expect(plain == "NONE")
      var request = Request(url: url)
      request.options.identity = own
      let certified = try await ask(client, request)
      #expect(certified == "SUCCESS")
    }
    let certificates = try await TestCertificates.shared()
    try await withServer(
      way,
      {
        ($0.transport.tls.certificate, $0.transport.tls.key) = (
          certificates.client.certificate, certificates.client.key
        )
      }
    ) { client, url, _ in
      let answer = try await ask(client, Request(url: url))
      #expect(answer == "SUCCESS")
    }
  }
}
