import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Proxies that break the rules, over real sockets.
@Suite(.enabled(if: NginxServer.isAvailable)) struct HostileProxyTests {
  /// Sends a request through the proxy, and then another one, for which the proxy is a good one.
  @Test(arguments: HostileProxy.all)
  func `a hostile proxy fails the request once, learns nothing of it, and does not harm the next one`(
    _ hostile: HostileProxy
  ) async throws {
    var configuration = NginxConfiguration()
    configuration.accessLogFormat = "$request"
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let proxy = try ScriptedServer(hostile.scripts + [hostile.good(toPort: nginx.securePort)])
    defer { proxy.stop() }
    var settings = TransportSettings.patient
    settings.httpVersion = .http11
    settings.tls.ca = certificates.authority
    settings.proxy = hostile.url(port: proxy.port)
    if let limit = hostile.connectTimeout { settings.connectTimeout = limit }
    let wire = try Wire(settings)
    let probe = Probe()
    let secret = "private-words"
    let request = try Request(
      method: "POST", url: HTTPURL("\(nginx.secureBaseURL)/post?\(secret)"), headers: ["X-Key": secret],
      body: .text(secret))
    let record = try await wire.send(request, probe)
    let error = try #require(record.error, "\(record.ends)")
    #expect(error.code == hostile.code && error.isBeforeSending, "\(error)")
    #expect(error.message.contains(hostile.words), "\(error.message)")
    #expect(error.message.contains("\"127.0.0.1:\(proxy.port)\""), "\(error.message)")
    #expect(![HostileProxy.password, HostileProxy.basic].contains(where: error.message.contains), "\(error.message)")
    #expect(error.message.utf8.count < 4000, "\(error.message)")

    try await proxy.waitForConnections(hostile.scripts.count)
    // The next request needs time to connect, and a proxy that speaks its language.
    settings.connectTimeout = TransportSettings.patient.connectTimeout
    settings.proxy = hostile.goodURL(port: proxy.port)
    let isSame = hostile.connectTimeout == nil && settings.proxy == hostile.url(port: proxy.port)
    let next = isSame ? wire : try Wire(settings)
    let good = try await next.get(nginx.secureBaseURL + "/")
    #expect(good.bodyText == "ok\n", "\(good.ends)")
    #expect(proxy.connectionCount == hostile.scripts.count + 1)
    await wire.onLoop {}
    let end = probe.record.value
    #expect(end.ends.count == 1 && end.issued.isEmpty && end.sent.isEmpty)
    #expect(end.head == nil && end.informational.isEmpty && end.streamedBytes == 0 && end.received.isEmpty)
    #expect(!proxy.receivedText.joined().contains(secret))
    #expect(!hostile.hasSentTooMuch.isSet)
    try await nginx.stop()
    #expect(nginx.accessLog == ["GET / HTTP/1.1"])
  }

  /// RFC 9110 §9.3.6: the fields that frame a body mean nothing in the answer to CONNECT.
  @Test(arguments: ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"])
  func `a tunnel is open after a 200 answer with any field`(_ field: String) async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let proxy = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\n\(field)\r\n"), .tunnel(toPort: nginx.securePort))
    defer { proxy.stop() }
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    settings.proxy = "http://127.0.0.1:\(proxy.port)"
    let record = try await Wire(settings).get(nginx.secureBaseURL + "/")
    #expect(record.bodyText == "ok\n", "\(record.ends)")
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake\n", ErrorCode.tls, "through the proxy"),
    ("HTTP/1.1 502 Bad\r\nContent-Length: 5\r\n\r\nwhy?\n", .proxy, "status 502"),
    ("HTTP/1.1 101 Upgrade\r\n\r\n", .proxy, "upgrade"), ("SSH-2.0-x\r\n", .proxy, "begins with"),
  ])
  func `what an HTTPS proxy says over TLS is never the response`(
    _ answer: String, _ code: ErrorCode, _ words: String
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let proxy = try await TLSServer.start(certificates.server)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    settings.proxy = proxy.baseURL
    let probe = Probe()
    let wire = try Wire(settings)
    wire.start(Request(url: HTTPURL("https://localhost:1/")), probe)
    try await proxy.waitForInput(containing: "CONNECT localhost:1 HTTP/1.1")
    try proxy.send(Array(answer.utf8))
    let record = try await probe.waitForEnd()
    let error = try #require(record.error, "\(record.ends)")
    #expect(error.code == code && error.isBeforeSending && error.message.contains(words), "\(error)")
    #expect(error.message.contains("\"localhost:\(proxy.port)\""), "\(error.message)")
    #expect(record.ends.count == 1 && record.head == nil && record.issued.isEmpty)
  }
}
