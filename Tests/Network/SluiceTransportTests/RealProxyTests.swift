import SluiceMessages
import SluicePipeline
import SluiceTestServers
import Testing

/// Requests through real proxies to a real server.
@Suite(.enabled(if: ProxyServer.areAvailable && NginxServer.isAvailable)) struct RealProxyTests {
  private static func settings(_ proxy: String, _ version: HTTPVersion) async throws -> TransportSettings {
    var settings = TransportSettings.patient
    settings.proxy = proxy
    settings.httpVersion = version
    settings.tls.ca = try await TestCertificates.shared().authority
    return settings
  }

  @Test(arguments: ProxyWay.all + ProxyWay.allWithUser, [HTTPVersion.http10, .http11, .http2])
  func `requests and their connections work as without a proxy`(_ way: ProxyWay, _ version: HTTPVersion) async throws {
    var configuration = NginxConfiguration()
    configuration.extraDirectives = "location = /who { return 200 \"$server_protocol [$http_proxy_authorization]\"; }"
    let nginx = try await NginxServer.start(configuration, certificates: TestCertificates.shared())
    let (proxy, url) = try await way.start()
    let wire = try await Wire(Self.settings(url, version))
    for base in ["http://localhost:\(nginx.ports.clear)", nginx.secureBaseURL] {
      let isHTTP2 = base.hasPrefix("https") && version == .http2
      let first = try await wire.get(base + "/who")
      let spoken = isHTTP2 ? "HTTP/2.0" : version == .http10 ? "HTTP/1.0" : "HTTP/1.1"
      // tinyproxy itself speaks HTTP/1.0 to the server.
      let isForwarded = base.hasPrefix("http:") && way.kind == .tinyproxy
      #expect(
        first.bodyText == "\(spoken) []" || isForwarded && first.bodyText == "HTTP/1.0 []",
        "\(first.bodyText) \(String(describing: first.error))")
      #expect((first.timings.tunnel > .zero) == !isForwarded)
      let body = [UInt8](repeating: 120, count: 300_000)
      // tinyproxy closes a connection after each response that it forwards, without saying so before. A POST could
      // meet this close.
      var options = TransferOptions()
      options.wantsFreshConnection = isForwarded
      let request = try Request(method: "POST", url: HTTPURL(base + "/post"), body: .bytes(body))
      let post = try await wire.send(request, options: options)
      #expect(post.bodyText == "ok\n", "\(String(describing: post.error))")
      if !isForwarded, version != .http10 { #expect(post.timings.isConnectionReused) }
    }
    _ = proxy
  }

  @Test(arguments: [("http", ProxyServer.Kind.tinyproxy), ("socks5h", .microsocks)])
  func `a wrong password is an error that names the proxy but not the password`(
    _ scheme: String, _ kind: ProxyServer.Kind
  ) async throws {
    let proxy = try await ProxyServer.start(kind, user: ("me", "right"))
    let settings = try await Self.settings("\(scheme)://me:wr0ng@127.0.0.1:\(proxy.port)", .http2)
    let record = try await Wire(settings).get("https://localhost:1/")
    #expect(record.code == .proxy && record.error?.isBeforeSending == true, "\(record.ends)")
    let message = try #require(record.error?.message)
    #expect(message.contains("127.0.0.1:\(proxy.port)") && !message.contains("wr0ng"), "\(message)")
  }

  @Test func `the certificate of an HTTPS proxy is verified, even if those of servers are not`() async throws {
    let proxy = try await ProxyServer.start(.tinyproxy, behindTLS: TestCertificates.shared())
    var settings = TransportSettings.patient
    settings.proxy = "https://localhost:\(proxy.port)"
    settings.tls.verify = false
    let record = try await Wire(settings).get("http://localhost:1/")
    #expect(record.code == .proxy && record.issued.isEmpty, "\(record.ends)")
    #expect(record.error?.message.contains("no TLS connection to the proxy") == true)
  }

  @Test func `the end of a proxy ends its connections, and the error names it`() async throws {
    let nginx = try await NginxServer.start(certificates: TestCertificates.shared())
    let proxy = try await ProxyServer.start(.microsocks)
    let wire = try await Wire(Self.settings("socks5h://127.0.0.1:\(proxy.port)", .http11))
    #expect(try await wire.get(nginx.secureBaseURL + "/").bodyText == "ok\n")
    try await proxy.kill()
    let refused = try await wire.get(nginx.secureBaseURL + "/")
    // The kept connection has ended, or no new one can be made.
    #expect(refused.code == .proxy || refused.code == .resent, "\(refused.ends)")
  }
}
