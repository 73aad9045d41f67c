import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceGateway

/// The gateway over real sockets: what an upstream gets, and what a client gets.
@Suite struct GatewayTests {
  @Test func `a request and its response pass, without the fields of their connections`() async throws {
    let upstream = try ScriptedServer(
      ScriptStep.receiveHead,
      .send(
        "HTTP/1.1 203 Fine\r\nContent-Length: 2\r\nX-A: 1\r\nConnection: X-Own, keep-alive\r\nX-Own: 1\r\nKeep-Alive: timeout=9\r\n"
          + "ETag: \"a\"\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nhi"), .receiveToEnd)
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    let response = try client.request(
      "PURGE", "/a%20b?c=d&e",
      headers: [
        "Host: localhost:1", "X-B: \u{FC}", "Connection: X-Mine, close", "X-Mine: 2", "Keep-Alive: 1", "TE: trailers",
        "Proxy-Connection: keep-alive",
      ])
    #expect(response.status == 203 && response.bodyText == "hi")
    #expect(
      response.headers.map(\.name) == ["Content-Length", "X-A", "ETag", "Date"].sorted()
        || Set(response.headers.map(\.name)) == ["Content-Length", "X-A", "ETag", "Date", "Connection"])
    #expect(await fixture.end())
    let lines = upstream.receivedText[0].split(separator: "\r\n").map(String.init)
    #expect(lines[0] == "PURGE /a%20b?c=d&e HTTP/1.1")
    let names = lines.dropFirst().map { $0.prefix { $0 != ":" } }
    #expect(
      names == ["Host", "X-B", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via"],
      "\(names)")
    #expect(lines.contains("Host: localhost:1"))
    #expect(lines.contains("Forwarded: for=127.0.0.1;proto=http;host=\"localhost:1\""))
    #expect(lines.contains("X-Forwarded-For: 127.0.0.1"))
    #expect(lines.contains { $0.hasPrefix("Via: 1.1 sluice-") })
  }

  @Test func `connections of clients and upstreams are kept`() async throws {
    let upstream = try ScriptedServer { _, number in [.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")] }
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    for number in 0..<5 { #expect(try client.request().bodyText == "\(number)") }
    #expect(await fixture.end())
  }

  @Test(arguments: [
    ("http://127.0.0.1:%/base", "/a?b", "/base/a?b"), ("http://127.0.0.1:%/base/", "/", "/base/"),
    ("http://127.0.0.1:%", "http://localhost/x?y=z", "/x?y=z"), ("http://127.0.0.1:%", "http://localhost?q", "/?q"),
    ("http://127.0.0.1:%/base", "/a/../b", "/base/a/../b"), ("http://127.0.0.1:%", "//a/b", "//a/b"),
    ("http://127.0.0.1:%", "/a:b@c", "/a:b@c"),
  ])
  func `the target is put behind the path of the upstream`(
    _ base: String, _ target: String, _ expected: String
  ) async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: base.replacing("%", with: "\(upstream.port)"))
    #expect(try fixture.client().request("GET", target).status == 200)
    #expect(await fixture.end())
    #expect(upstream.receivedText[0].hasPrefix("GET \(expected) HTTP/1.1\r\n"), "\(upstream.receivedText[0])")
  }

  @Test(arguments: ["/../admin", "/%2e%2e/admin", "/../base/../admin", "//../x"])
  func `a target cannot leave the path of the upstream`(_ target: String) async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: "\(upstream.baseURL)/base")
    #expect(try fixture.client().request("GET", target).status == 400)
    #expect(await fixture.end())
    #expect(upstream.connectionCount == 0)
  }

  @Test func `a Connection with many options is refused`() async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: upstream.port)
    let many = (0..<40).map { "x\($0)" }.joined(separator: ",")
    #expect(try fixture.client().request(headers: ["Connection: \(many)"]).status == 400)
    let empty = String(repeating: ",", count: 50_000)
    #expect(try fixture.client().request(headers: ["Connection: \(empty)"]).status == 200)
    #expect(await fixture.end())
  }

  @Test func `fields that name the client are replaced, appended or passed on`() async throws {
    let sent = [
      "Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4, 5.6.7.8", "X-Forwarded-Proto: https",
      "X-Forwarded-Host: a.example", "X_Forwarded_For: 9.9.9.9",
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ]
    let expected: [ServeSettings.Forwarded: [String]] = [
      .replace: [
        "Forwarded: for=127.0.0.1;proto=http;host=localhost", "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-Host: localhost", "X-Forwarded-Proto: http",
      ],
      .append: [
        "Forwarded: for=1.2.3.4, for=127.0.0.1;proto=http;host=localhost",
        "X-Forwarded-For: 1.2.3.4, 5.6.7.8, 127.0.0.1", "X-Forwarded-Host: a.example", "X-Forwarded-Proto: https",
      ],
      .none: Array(sent.prefix(4)),
    ]
    for mode in ServeSettings.Forwarded.allCases {
      let upstream = try ScriptedServer([ScriptStep.respond()])
      let fixture = try GatewayFixture(
        to: "http://127.0.0.1:\(upstream.port)",
        settings: {
          $0.forwarded = mode
          $0.host = mode == .none ? .upstream : .keep
          $0.trace = mode == .none ? .ignore : .extract
        })
      #expect(try fixture.client().request(headers: sent).status == 200)
      #expect(await fixture.end())
      let lines = upstream.receivedText[0].split(separator: "\r\n").map(String.init)
      let named = lines.filter { $0.lowercased().contains("forwarded") }
      #expect(Set(named) == Set(expected[mode] ?? []), "\(mode): \(named)")
      #expect(lines.contains { $0.hasPrefix("traceparent") } == (mode != .none))
      #expect(lines.contains("Host: 127.0.0.1:\(upstream.port)") == (mode == .none))
    }
  }

  @Test func `a client waits at an inherited socket for the next gateway`() async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let kept = try SharedListener(on: .tcp())
    var settings = ServeSettings()
    settings.upstream = try HTTPURL(upstream.baseURL)
    func gateway() throws -> Gateway {
      let socket = try #require(SharedListener(adopting: dup(kept.descriptor)))
      return try Gateway(fixture.engine, on: GatewayFixture.loopback, settings, socket: socket)
    }
    let first = try gateway()
    #expect(first.endpoint == kept.endpoint)
    #expect(await WaitingRoom.run { first.drain(within: Patience.limit) })
    let client = try RawClient(port: kept.endpoint.port)
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let second = try gateway()
    #expect(try client.readResponse().status == 200)
    #expect(await WaitingRoom.run { second.drain(within: Patience.limit) })
    #expect(await fixture.end())
  }

  @Test func `a request that comes back is answered as a loop`() async throws {
    let port = try Loopback.freePort()
    var configuration = Configuration()
    configuration.transport.loops = 1
    let engine = try Engine(configuration)
    var settings = ServeSettings()
    settings.upstream = try HTTPURL("http://127.0.0.1:\(port)")
    let gateway = try Gateway(engine, on: ServeSettings.Listener(host: "127.0.0.1", port: port), settings)
    let response = try RawClient(port: port).request()
    #expect(response.status == 502)
    #expect(response.headers.first("proxy-status") == "sluice; error=proxy_loop_detected")
    #expect(await WaitingRoom.run { gateway.drain(within: Patience.limit) })
    await engine.shutdown()
  }

  @Test(arguments: [
    ("Host: evil.example", 421), ("Host: localhost", 200), ("Host: [::1]:80", 200), ("Host: a.localhost:1", 200),
    ("Host: 127.0.0.1", 200),
  ])
  func `on loopback, a host of elsewhere is not served`(_ host: String, _ status: Int) async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: upstream.port)
    #expect(try fixture.client().request(headers: [host]).status == status)
    #expect(await fixture.end())
  }

  @Test func `only clients in the given ranges are served`() async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    for (range, status) in [("127.0.0.0/8", 200), ("10.0.0.0/8", 403)] {
      var configuration = Configuration()
      configuration.transport.loops = 1
      let engine = try Engine(configuration)
      var settings = ServeSettings()
      settings.upstream = try HTTPURL(upstream.baseURL)
      var listener = GatewayFixture.loopback
      listener.clients = .ranges([try #require(AddressRange(range))])
      let gateway = try Gateway(engine, on: listener, settings)
      let response = try RawClient(port: gateway.endpoint.port).request()
      #expect(response.status == status)
      let last = try RawClient(port: gateway.endpoint.port).request("OPTIONS", headers: ["Max-Forwards: 0"])
      #expect(last.status == status)
      if status == 403 { #expect(response.headers.first("proxy-status") == "sluice; error=http_request_denied") }
      #expect(await WaitingRoom.run { gateway.drain(within: Patience.limit) })
      await engine.shutdown()
    }
  }

  @Test func `upgrades are refused by name, and CONNECT and asterisk too`() async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: upstream.port)
    let refused = try fixture.client().request(headers: ["Connection: Upgrade", "Upgrade: websocket"])
    #expect(refused.status == 501 && refused.bodyText.contains("websocket"))
    #expect(try fixture.client().request(headers: ["Connection: Upgrade", "Upgrade: h2c"]).status == 200)
    #expect(try fixture.client().request("OPTIONS", "*").status == 501)
    #expect(try fixture.client().request("CONNECT", "a:1").status == 501)
    #expect(await fixture.end())
    #expect(upstream.connectionCount == 1)
    #expect(!upstream.receivedText[0].lowercased().contains("upgrade"))
  }

  @Test(arguments: [
    ("HEAD", "200 OK", ["Content-Length: 5"], "5"), ("HEAD", "200 OK", ["Transfer-Encoding: chunked"], nil),
    ("GET", "304 Not Modified", ["Content-Length: 5"], "5"), ("GET", "304 Not Modified", [], nil),
    ("GET", "204 No Content", [], nil), ("GET", "200 OK", ["Content-Length: 0"], "0"),
  ])
  func `responses without a body keep what their fields say`(
    _ method: String, _ status: String, _ fields: [String], _ length: String?
  ) async throws {
    let lines = (["HTTP/1.1 \(status)"] + fields).joined(separator: "\r\n")
    let upstream = try ScriptedServer { _, _ in [.send(lines + "\r\n\r\n")] }
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    for _ in 0..<2 {
      let response = try client.request(method)
      #expect("\(response.status)" == status.prefix(3) && response.body.isEmpty)
      #expect(response.headers.first("content-length") == length)
      #expect(response.headers.first("transfer-encoding") == nil && response.headers.first("date") != nil)
    }
    #expect(await fixture.end())
  }

  @Test func `redirects, challenges and errors are the client's`() async throws {
    for status in [301, 302, 307, 401, 404, 407, 429, 500] {
      let head =
        "HTTP/1.1 \(status) X\r\nLocation: /next\r\nWWW-Authenticate: Basic realm=a\r\nContent-Length: 2\r\n\r\nno"
      let upstream = try ScriptedServer { _, _ in [.send(head)] }
      let fixture = try GatewayFixture(to: upstream.port) { $0.retry = RetryPolicy() }
      let response = try fixture.client().request()
      #expect(response.status == status && response.bodyText == "no")
      #expect(response.headers.first("location") == "/next")
      #expect(await fixture.end())
    }
  }
}
