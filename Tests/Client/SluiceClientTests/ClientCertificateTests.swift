import SluiceAssembly
import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Delegates that choose client certificates; the server is nginx.
@Suite(.enabled(if: NginxServer.isAvailable)) struct ClientCertificateTests {
  private typealias Choose = @Sendable (ClientCertificateRequest) async throws -> ClientCertificateDecision

  /// Makes the choices that the test gives it, and records each request for a choice.
  private struct Chooser: ClientCertificateDelegate {
    let asked = Watched<[ClientCertificateRequest]>([])
    var decisionTimeout: Duration? = .seconds(240)
    let choose: Choose

    init(_ choose: @escaping Choose) { self.choose = choose }

    init(_ decision: ClientCertificateDecision) { self.init { _ in decision } }

    func transaction(
      _ context: RequestContext, didReceive request: ClientCertificateRequest
    ) async throws -> ClientCertificateDecision {
      asked.update { $0.append(request) }
      return try await choose(request)
    }
  }

  /// The certificate that the server of the tests accepts.
  private static func identity() async throws -> RequestOptions.Identity {
    let client = try await TestCertificates.shared().client
    return RequestOptions.Identity(certificate: client.certificate, key: client.key)
  }

  /// Runs the body with a server whose responses say which client certificate it got, and on which connection.
  private func withServer(
    protocols: String = "TLSv1.2 TLSv1.3", delegate: (any TransactionDelegate)? = nil,
    _ change: (inout Configuration) -> Void = { _ in }, _ body: (Client, HTTPURL) async throws -> Void
  ) async throws {
    var configuration = NginxConfiguration()
    configuration.extraDirectives = """
      ssl_protocols \(protocols);
      location = /who { return 200 "$ssl_client_verify $connection"; }
      location = /name { return 200 "$ssl_client_s_dn"; }
      location = /away { return 302 https://127.0.0.1:$server_port/who; }
      """
    try await withSecureServer(configuration, delegate: delegate, change) { client, url in
      try await body(client, HTTPURL(url.string + "who"))
    }
  }

  /// Sends a request. Returns whether the server has received a valid certificate, and the server's number of the
  /// connection.
  private func ask(
    _ client: Client, _ url: HTTPURL, _ delegate: (any TransactionDelegate)? = nil
  ) async throws -> (verify: String, connection: String) {
    let (bytes, _) = try await client.data(from: url, delegate: delegate)
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
    return (try #require(words.first), try #require(words.last))
  }

  private func refusal(
    _ client: Client, _ url: HTTPURL, _ delegate: any TransactionDelegate
  ) async -> TransactionError? {
    await failure { () throws(TransactionError) in _ = try await client.data(from: url, delegate: delegate) }
  }

  @Test(arguments: ["TLSv1.2", "TLSv1.3"], [HTTPVersion.http11, .http2])
  func `the chosen certificate is sent`(protocols: String, version: HTTPVersion) async throws {
    let chooser = Chooser(.use(try await Self.identity()))
    try await withServer(protocols: protocols, { $0.transport.httpVersion = version }) { client, url in
      #expect(try await ask(client, url, chooser).verify == "SUCCESS")
      let request = try #require(chooser.asked.value.first)
      #expect(chooser.asked.value.count == 1)
      #expect(request.host == "localhost" && request.port == url.origin.port)
      // The server sends the name of its authority. The DER form of the authority's certificate contains the same name.
      let authority = try await TestCertificates.shared().authority
      let der = try await Command.check("openssl", ["x509", "-outform", "DER", "-in", authority]).standardOutput
      let name = try #require(request.authorities.first)
      #expect(request.authorities.count == 1 && !name.isEmpty && der.contains(name))
    }
  }

  @Test func `a certificate that a call's delegate chose is used only for that call`() async throws {
    let chooser = Chooser(.use(try await Self.identity()))
    try await withServer { client, url in
      let own = try await ask(client, url, chooser)
      let again = try await ask(client, url, chooser)
      let other = try await ask(client, url, Chooser(.performDefaultHandling))
      let plain = try await ask(client, url)
      #expect([own, again, other, plain].map(\.verify) == ["SUCCESS", "SUCCESS", "NONE", "NONE"])
      #expect(Set([own, again, other, plain].map(\.connection)).count == 4)
      #expect(chooser.asked.value.count == 2)
    }
  }

  @Test func `calls of one client share a connection whose certificate was chosen by the client's delegate`()
    async throws
  {
    let chooser = Chooser(.use(try await Self.identity()))
    try await withServer(delegate: chooser) { client, url in
      let first = try await ask(client, url)
      let second = try await ask(client, url)
      #expect(first == second && first.verify == "SUCCESS")
      #expect(chooser.asked.value.count == 1)
      // Calls of another client of the same engine do not use these connections.
      #expect(try await ask(Client(engine: client.engine), url).verify == "NONE")
    }
  }

  @Test func `if the delegate makes no choice, the certificate of the options or settings is sent`() async throws {
    let identity = try await Self.identity()
    let undecided = Chooser(.performDefaultHandling)
    try await withServer { client, url in
      var request = Request(url: url)
      request.options.identity = identity
      let (bytes, _) = try await client.data(for: request, delegate: undecided)
      #expect(bytes.starts(with: Array("SUCCESS".utf8)))
    }
    try await withServer({
      ($0.transport.tls.certificate, $0.transport.tls.key) = (identity.certificate, identity.key)
    }) { client, url in
      let answer = try await ask(client, url, undecided)
      #expect(answer.verify == "SUCCESS")
    }
    #expect(undecided.asked.value.count == 2)
  }

  @Test(arguments: ["TLSv1.2", "TLSv1.3"], [true, false])
  func `the chosen certificate replaces the one of the settings, even if its key is of another kind`(
    protocols: String, isRSAChosen: Bool
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let (settings, chosen) =
      isRSAChosen ? (certificates.client, certificates.clientRSA) : (certificates.clientRSA, certificates.client)
    let chooser = Chooser(.use(RequestOptions.Identity(certificate: chosen.certificate, key: chosen.key)))
    try await withServer(
      protocols: protocols,
      {
        ($0.transport.tls.certificate, $0.transport.tls.key) = (settings.certificate, settings.key)
      }
    ) { client, url in
      let name = try HTTPURL(url.string.replacing("/who", with: "/name"))
      let (bytes, _) = try await client.data(from: name, delegate: chooser)
      #expect(String(decoding: bytes, as: UTF8.self) == (isRSAChosen ? "CN=client-rsa" : "CN=client"))
    }
  }

  @Test func `a delegate that cancels its own call sends nothing`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.accessLogFormat = "$uri"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    try await withClient({ $0.transport.tls.ca = certificates.authority }) { client in
      let cancellation = Cancellation()
      let chooser = Chooser { _ in
        cancellation.cancel()
        return .performDefaultHandling
      }
      let url = try HTTPURL(nginx.secureBaseURL + "/json")
      let error = await failure { () throws(TransactionError) in
        _ = try await client.data(from: url, delegate: chooser, cancellation: cancellation)
      }
      #expect(error?.code == .cancelled && chooser.asked.value.count == 1)
    }
    try await nginx.stop()
    #expect(nginx.accessLog.isEmpty)
  }

  @Test func `the call's delegate is asked first, and the client's delegate only if the first makes no choice`()
    async throws
  {
    let common = Chooser(.use(try await Self.identity()))
    try await withServer(delegate: common) { client, url in
      let error = await refusal(client, url, Chooser(.cancel))
      #expect(error?.code == .cancelled && error?.stage == "delegate" && error?.isBeforeSending == true)
      #expect(error?.message == "it cancelled when \"localhost\" asked for a client certificate")
      #expect(common.asked.value.isEmpty)
      let answer = try await ask(client, url, Chooser(.performDefaultHandling))
      #expect(answer.verify == "SUCCESS")
      #expect(common.asked.value.count == 1)
    }
  }

  @Test func `a call fails if its delegate throws or does not choose in time`() async throws {
    struct Refusal: Error, CustomStringConvertible { let description = "not with mine" }
    try await withServer { client, url in
      let thrown = await refusal(client, url, Chooser { _ in throw Refusal() })
      #expect(thrown?.stage == "delegate" && thrown?.message.contains("not with mine") == true)

      let isCancelled = Signal()
      var hesitant = Chooser { _ in
        do { try await untilCancelled() } catch { isCancelled.set() }
        return .performDefaultHandling
      }
      hesitant.decisionTimeout = .milliseconds(50)
      let late = await refusal(client, url, hesitant)
      #expect(late?.code == .stageTimeout && late?.stage == "delegate")
      try await isCancelled.wait(for: "the delegate's task to be cancelled")
    }
  }

  @Test func `a call fails if the chosen certificate cannot be read or does not match its key`() async throws {
    let identity = try await Self.identity()
    let server = try await TestCertificates.shared().server
    try await withServer { client, url in
      for certificate in [
        RequestOptions.Identity(certificate: "/nowhere.pem"),
        RequestOptions.Identity(certificate: identity.certificate, key: server.key),
      ] {
        let error = await refusal(client, url, Chooser(.use(certificate)))
        #expect(error?.code == .tls && error?.isBeforeSending == true)
        let expected = "the client certificate \(certificate.certificate) that the delegate chose cannot be used: "
        #expect(error?.message.contains(expected) == true, "\(String(describing: error))")
      }
    }
  }

  @Test(arguments: ["TLSv1.2", "TLSv1.3"])
  func `the error says that the server does not accept the chosen certificate`(protocols: String) async throws {
    let certificates = try await TestCertificates.shared()
    let server = try certificates.server(.selfSigned)
    let stranger = RequestOptions.Identity(certificate: server.certificate, key: server.key)
    let tls = try await TLSServer.start(
      certificates.server,
      ["-Verify", "1", "-CAfile", certificates.authority, "-verify_return_error"]
        + (protocols == "TLSv1.2" ? ["-no_tls1_3"] : ["-tls1_3"]))
    try await withClient {
      $0.transport.tls.ca = certificates.authority
      $0.maximumAttempts = 1
    } _: { client in
      let error = await refusal(client, try HTTPURL(tls.baseURL + "/"), Chooser(.use(stranger)))
      #expect(error?.code == .tls, "\(String(describing: error))")
      let message = try #require(error?.message)
      #expect(message.contains("does not accept the client certificate \(server.certificate):"), "\(message)")
    }
  }

  @Test func `each hop asks the delegate, unless its server asks for no certificate`() async throws {
    let chooser = Chooser(.use(try await Self.identity()))
    try await withServer { client, url in
      #expect(try await ask(client, HTTPURL(url.string.replacing("/who", with: "/away")), chooser).verify == "SUCCESS")
      #expect(chooser.asked.value.map(\.host) == ["localhost", "127.0.0.1"])
      let clear = try LoopbackServer { _ in .text("clear") }
      defer { clear.stop() }
      _ = try await client.data(from: clear.url(), delegate: chooser)
      #expect(chooser.asked.value.count == 2)
    }
  }

  @Test func `a server that is not trusted does not learn that the client has a certificate`() async throws {
    var configuration = NginxConfiguration()
    configuration.flaw = .selfSigned
    let chooser = Chooser(.use(try await Self.identity()))
    try await withSecureServer(configuration) { client, url in
      #expect(await refusal(client, url, chooser)?.code == .tls)
    }
    #expect(chooser.asked.value.isEmpty)
  }

  @Test func `if a call is cancelled while its delegate chooses, the call ends at once`() async throws {
    try await withServer { client, url in
      let isAsked = Signal()
      let chooser = Chooser { _ in
        isAsked.set()
        try await untilCancelled()
        return .performDefaultHandling
      }
      let call = Task { await refusal(client, url, chooser) }
      try await isAsked.wait(for: "the question")
      call.cancel()
      #expect(await call.value?.code == .cancelled)
    }
  }
}
