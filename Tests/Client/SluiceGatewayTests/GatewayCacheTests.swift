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
    _ upstream: LoopbackServer, on listener: ServeSettings.Listener = GatewayFixture.loopback,
    _ forwarded: ServeSettings.Forwarded = .replace, config: String = "{}",
    _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> GatewayFixture {
    let text = """
      {"plugins": {"cache": {"library": "\(BuiltProducts.library("cache"))", "config": \(config)}},
       "request": ["cache"], "response": ["cache"]}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.isShared = true
    change(&configuration)
    return try GatewayFixture(
      to: upstream.baseURL, on: listener, { $0 = configuration }, settings: { $0.forwarded = forwarded })
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
    #expect(try body("localhost:\(port)") == "1")
    #expect(try body("127.0.0.1:\(port)") == "2")
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test func `the scheme is part of the key`() async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let listener = GatewayTLSTests.listener(certificates)
    let fixture = try Self.fixture(upstream, on: listener, .none)
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
    ["Forwarded: for=a, for=b;proto=https"], ["X-Forwarded-Prefix: /evil"], ["X-Original-URL: /b"],
    ["X-Forwarded-Proto: HTTP"],
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

  @Test func `in the usual mode, a client cannot set other fields of a gateway`() async throws {
    let upstream = try LoopbackServer { request in
      let names = request.headers.map { $0.name.lowercased() }.filter { $0.hasPrefix("x") || $0.hasPrefix("client") }
      return .text(names.sorted().joined(separator: " "))
    }
    let fixture = try Self.fixture(upstream)
    let fields = [
      "X-Forwarded-Port: 1", "X-Forwarded-Prefix: /a", "X_Forwarded_Prefix: /b", "X-A: 1", "Client-Cert: :a:",
      "Client-Cert-Chain: :b:",
    ]
    #expect(
      try fixture.client().request(headers: fields).bodyText
        == "x-a x-forwarded-for x-forwarded-host x-forwarded-proto")
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test(arguments: [
    "Transfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n", "Content-Length: 4\r\n\r\nevil",
    "Expect: 100-continue\r\nContent-Length: 4\r\n\r\nevil",
  ])
  func `the response to a request with a body is not stored`(_ rest: String) async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream)
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\(rest)")
    #expect(try client.readResponse().body == Array("1".utf8))
    #expect(try fixture.client().request().body == Array("2".utf8))
    #expect(try fixture.client().request().body == Array("2".utf8))
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test func `credentials of an issue stage count as credentials`() async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream) {
      $0.addStage("auth", StageCode(issue: { request, _ in request.headers["authorization"] = "Bearer a" }))
    }
    #expect(try fixture.client().request().body == Array("1".utf8))
    #expect(try fixture.client().request().body == Array("2".utf8))
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test func `a field that a stage of a single client has set is not that of others`() async throws {
    let upstream = try Self.upstream([
      HeaderLine("Cache-Control", "max-age=60"), HeaderLine("Vary", "X-User"),
    ])
    let fixture = try Self.fixture(upstream) {
      $0.addStage("user", StageCode(issue: { request, _ in request.headers["x-user"] = "a" }))
    }
    #expect(try fixture.client().request().body == Array("1".utf8))
    #expect(try fixture.client().request().body == Array("2".utf8))
    #expect(await fixture.end())
    upstream.stop()
  }

  // RFC 9111 §4.1, §4.3.4
  @Test func `a 304 can make a response that of one client`() async throws {
    let upstream = try LoopbackServer { request in
      guard request.value(of: "if-none-match") != nil else {
        return ServerResponse(
          status: 200, headers: [HeaderLine("Cache-Control", "public, max-age=0"), HeaderLine("ETag", "\"a\"")],
          body: .bytes(Array("body".utf8)))
      }
      return ServerResponse(
        status: 304,
        headers: [
          HeaderLine("ETag", "\"a\""), HeaderLine("Cache-Control", "max-age=60"), HeaderLine("Vary", "Cookie"),
          HeaderLine("X-User", request.value(of: "cookie") ?? "none"),
        ])
    }
    let fixture = try Self.fixture(upstream)
    func user(_ fields: [String]) throws -> String? {
      let response = try fixture.client().request(headers: fields)
      #expect(response.bodyText == "body")
      return response.headers.first("x-user")
    }
    #expect(try user([]) == nil)
    #expect(try user(["Cookie: alice"]) == "alice")
    #expect(try user(["Cookie: alice"]) == "alice")
    #expect(try user(["Cookie: bob"]) != "alice")
    #expect(await fixture.end())
    upstream.stop()
  }

  // RFC 9111 §4.3.4
  @Test func `the client gets the fields of a 304 that must not be stored`() async throws {
    let upstream = try LoopbackServer { request in
      let isAsked = request.value(of: "if-none-match") != nil
      return ServerResponse(
        status: isAsked ? 304 : 200,
        headers: [HeaderLine("ETag", "\"a\"")]
          + (isAsked
            ? [HeaderLine("Cache-Control", "private, no-cache"), HeaderLine("Set-Cookie", "sid=new")]
            : [HeaderLine("Cache-Control", "public, max-age=0")]),
        body: .bytes(isAsked ? [] : Array("body".utf8)))
    }
    let fixture = try Self.fixture(upstream)
    #expect(try fixture.client().request().bodyText == "body")
    let second = try fixture.client().request()
    #expect(second.bodyText == "body" && second.headers.first("set-cookie") == "sid=new")
    #expect(second.headers.first("cache-control") == "private, no-cache")
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test func `partitionBy adds to the fields that tell clients apart`() async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream, config: "{\"partitionBy\": [\"X-Tenant\"]}")
    let fields = [["Cookie: a"], ["Cookie: b"], ["X-Tenant: a"], ["X-Tenant: b"], ["Cookie: a"], ["X-Tenant: a"]]
    let bodies = try fields.map { try fixture.client().request(headers: $0).bodyText }
    #expect(bodies == ["1", "2", "3", "4", "1", "3"])
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test func `what a client with a certificate gets is not for others`() async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream, on: GatewayTLSTests.listener(certificates, clients: .certificate))
    for (identity, body) in [
      (certificates.client, "1"), (certificates.clientRSA, "2"), (certificates.client, "1"),
    ] {
      let client = try GatewayTLSTests.client(.http2, certificates, identity)
      let response = try await client.perform(Request(url: try GatewayTLSTests.url(fixture, .http2, "/")))
      #expect(response.body.bytes == Array(body.utf8))
      await client.shutdown()
    }
    #expect(await fixture.end())
    upstream.stop()
  }

  // RFC 9111 §4.4
  @Test func `an unsafe method invalidates all responses for its target`() async throws {
    let upstream = try Self.upstream([HeaderLine("Cache-Control", "max-age=60")])
    let fixture = try Self.fixture(upstream, .append)
    #expect(try fixture.client().request().bodyText == "1")
    #expect(try fixture.client().request().bodyText == "1")
    #expect(try fixture.client().request("POST", headers: ["Forwarded: for=1;rid=77"], body: "x").bodyText == "2")
    #expect(try fixture.client().request().bodyText == "3")
    #expect(await fixture.end())
    upstream.stop()
  }
}
