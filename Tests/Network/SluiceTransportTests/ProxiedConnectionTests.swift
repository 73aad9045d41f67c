@testable import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What works without a proxy, in a tunnel through a real one.
@Suite(.enabled(if: ProxyServer.areAvailable && NginxServer.isAvailable)) struct ProxiedConnectionTests {
  private static func settings(_ proxy: String) async throws -> TransportSettings {
    var settings = TransportSettings.patient
    settings.proxy = proxy
    settings.tls.ca = try await TestCertificates.shared().authority
    return settings
  }

  @Test(arguments: ProxyWay.all) func `trailers of request and response`(_ way: ProxyWay) async throws {
    let server = try await TLSServer.start(TestCertificates.shared().server)
    let (proxy, url) = try await way.start()
    let wire = try await Wire(Self.settings(url))
    var request = try Request(method: "PUT", url: HTTPURL(server.baseURL + "/"), body: .text("body"))
    request.trailers = ["x-sum": "1"]
    let probe = Probe()
    wire.start(request, probe)
    try await server.waitForInput(containing: "\r\n\r\n4\r\nbody\r\n0\r\nx-sum: 1\r\n\r\n")
    try server.send(
      Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n2\r\nok\r\n0\r\n".utf8))
    try server.send(Array("x-sum: 2\r\n\r\n".utf8))
    let record = try await probe.waitForEnd()
    #expect(record.bodyText == "ok" && record.ends.first?.trailers?["x-sum"] == "2", "\(record.ends)")
    _ = proxy
  }

  /// The certificate of the server is for other.example, and the name of the server is looked up nowhere.
  @Test(arguments: ProxyWay.all) func `a given address over TLS`(_ way: ProxyWay) async throws {
    var configuration = NginxConfiguration()
    configuration.flaw = .otherName
    let nginx = try await NginxServer.start(configuration, certificates: TestCertificates.shared())
    let (proxy, url) = try await way.start()
    var settings = try await Self.settings(url)
    settings.sockets.addresses[SocketSettings.Place(host: "other.example", port: nginx.securePort)] = ["127.0.0.1"]
    let resolver = NameResolver { name in
      name == "localhost" ? .success(["127.0.0.1"]) : .failure(NameError("nobody may ask"))
    }
    let wire = try Wire(settings, resolver: resolver)
    let record = try await wire.get("https://other.example:\(nginx.securePort)/")
    #expect(record.bodyText == "ok\n" && record.head?.version == .http2, "\(record.ends)")
    let wrong = try await wire.get(nginx.secureBaseURL + "/")
    #expect(wrong.code == .tls && wrong.error?.message.contains("(through the proxy ") == true, "\(wrong.ends)")
    _ = proxy
  }

  @Test(arguments: ProxyWay.all) func `a pinned key of the server, which is not asked of the proxy`(
    _ way: ProxyWay
  ) async throws {
    let certificates = try await TestCertificates.shared()
    // The HTTPS proxy has the ordinary certificate, whose key is another one.
    var configuration = NginxConfiguration()
    configuration.flaw = .selfSigned
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let path = try certificates.server(.selfSigned).certificate
    let command =
      "openssl x509 -pubkey -noout -in \(path) | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary"
    let hash = try await Command.check("/bin/sh", ["-c", command]).standardOutput
    let (proxy, url) = try await way.start()
    var settings = try await Self.settings(url)
    settings.tls.verify = false
    settings.tls.keyHashes = [hash]
    let right = try await Wire(settings).get(nginx.secureBaseURL + "/")
    #expect(right.bodyText == "ok\n", "\(right.ends)")
    settings.tls.keyHashes = [[UInt8](repeating: 0, count: 32)]
    let wrong = try await Wire(settings).get(nginx.secureBaseURL + "/")
    #expect(wrong.code == .tls && wrong.error?.isBeforeSending == true && wrong.issued.isEmpty, "\(wrong.ends)")
    #expect(wrong.error?.message.contains("the server's public key is sha256//") == true, "\(wrong.ends)")
    _ = proxy
  }
}
