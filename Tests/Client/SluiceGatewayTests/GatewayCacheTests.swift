import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceGateway

/// The shipped cache behind a gateway, where it serves several clients.
@Suite struct GatewayCacheTests {
  private static func fixture(
    _ listener: ServeSettings.Listener = GatewayFixture.loopback, _ upstream: LoopbackServer,
    _ forwarded: ServeSettings.Forwarded = .replace
  ) throws -> GatewayFixture {
    let text = """
      {"plugins": {"cache": {"library": "\(BuiltProducts.library("cache"))"}}, "request": ["cache"], "response": ["cache"]}
      """
    let configuration = try Configuration(text: Array(text.utf8))
    return try GatewayFixture(
      to: upstream.baseURL, on: listener,
      {
        $0 = configuration
        $0.isShared = true
      }, settings: { $0.forwarded = forwarded })
  }

  /// Answers with the number of the request.
  private static func upstream(_ fields: [HeaderLine]) throws -> LoopbackServer {
    let count = Watched(0)
    return try LoopbackServer { _ in
      count.update { $0 += 1 }
      return ServerResponse(status: 200, headers: fields, body: .bytes(Array("\(count.value)".utf8)))
    }
  }

  // CVE-2026-2836: the key of Pingora's cache left out the host.
  @Test func `the host that a client asks for is part of the key`() async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream)
    let client = try fixture.client()
    func body(_ host: String) throws -> String {
      String(decoding: try client.request(headers: ["Host: \(host)"]).body, as: UTF8.self)
    }
    let port = fixture.gateway.endpoint.port
    #expect(try body("localhost:\(port)") == "1")
    #expect(try body("127.0.0.1:\(port)") == "2")
    #expect(try body("LOCALHOST:\(port)") == "1")
    #expect(try body("127.0.0.1:\(port)") == "2")
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test func `the scheme is part of the key`() async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let listener = GatewayTLSTests.listener(certificates)
    let fixture = try Self.fixture(listener, upstream, .none)
    let clear = try Gateway(fixture.engine, on: GatewayFixture.loopback, Self.settings(upstream))
    let secure = try GatewayTLSTests.client(.http2, certificates)
    var request = Request(url: try GatewayTLSTests.url(fixture, .http2, "/"))
    request.headers.append("Host", "localhost")
    #expect(try await secure.perform(request).body.bytes == Array("1".utf8))
    let client = try RawClient(port: clear.endpoint.port)
    #expect(try client.request(headers: ["Host: localhost"]).body == Array("2".utf8))
    #expect(try await secure.perform(request).body.bytes == Array("1".utf8))
    await secure.shutdown()
    #expect(await WaitingRoom.run { clear.drain(within: Patience.limit) })
    #expect(await fixture.end())
    upstream.stop()
  }

  private static func settings(_ upstream: LoopbackServer) throws -> ServeSettings {
    var settings = ServeSettings()
    settings.upstream = try HTTPURL(upstream.baseURL)
    settings.forwarded = .none
    return settings
  }

  @Test(arguments: [
    ["X-Forwarded-Host: evil"], ["X-Forwarded-Proto: https"], ["Forwarded: for=1.2.3.4;host=evil"],
    ["Forwarded: for=a, for=b;proto=https"],
  ])
  func `fields that an upstream makes links from are part of the key`(_ fields: [String]) async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream, .append)
    let client = try fixture.client()
    #expect(try client.request(headers: fields).body == Array("1".utf8))
    #expect(try client.request().body == Array("2".utf8))
    #expect(try client.request(headers: ["Forwarded: for=5.6.7.8"]).body == Array("2".utf8))
    #expect(try client.request(headers: fields).body == Array("1".utf8))
    #expect(await fixture.end())
    upstream.stop()
  }

  private static func fixture(
    _ upstream: LoopbackServer, _ forwarded: ServeSettings.Forwarded
  ) throws -> GatewayFixture {
    try fixture(GatewayFixture.loopback, upstream, forwarded)
  }

  private static func fixture(_ upstream: LoopbackServer) throws -> GatewayFixture {
    try fixture(GatewayFixture.loopback, upstream)
  }

  @Test func `what a client with credentials or a cookie gets is not for others`() async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream)
    let client = try fixture.client()
    func body(_ fields: [String]) throws -> String {
      String(decoding: try client.request(headers: fields).body, as: UTF8.self)
    }
    #expect(try body(["Authorization: Bearer a"]) == "1")
    #expect(try body(["Authorization: Bearer a"]) == "2")
    #expect(try body([]) == "3")
    #expect(try body(["Authorization: Bearer b"]) == "4")
    #expect(try body(["Cookie: a=b"]) == "5")
    #expect(try body(["Cookie: a=b"]) == "5")
    #expect(try body(["Cookie: a=c"]) == "6")
    #expect(try body([]) == "3")
    #expect(await fixture.end())
    upstream.stop()
  }

  // CVE-2025-4366: after an answer from its cache, Pingora read the rest of a request's body as the next request.
  @Test func `the body of a request that is answered from the cache is no request`() async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream)
    let client = try fixture.client()
    #expect(try client.request().body == Array("1".utf8))
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for (framing, body) in [
      ("Content-Length: \(smuggled.utf8.count)", smuggled),
      ("Transfer-Encoding: chunked", "\(String(smuggled.utf8.count, radix: 16))\r\n\(smuggled)\r\n0\r\n\r\n"),
    ] {
      try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\(framing)\r\n\r\n" + body)
      #expect(try client.readResponse().status == 200)
      // The next response is the one to this request.
      #expect(try client.request("HEAD").status == 200)
    }
    #expect(await fixture.end())
    #expect(upstream.requestCount < 4)
    upstream.stop()
  }
}
