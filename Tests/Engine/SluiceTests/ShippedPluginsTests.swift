import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The shipped plugins as built, loaded by path, in a real engine against a real server.
@Suite struct ShippedPluginsTests {
  private static func engine(_ text: String) throws -> Engine {
    try Engine(Configuration(text: Array(text.utf8)))
  }

  private static func library(_ name: String) -> String { BuiltProducts.library(name) }

  @Test func `bearer-auth in C sends its token to the listed host and to no other`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Self.engine(
      """
      {"plugins": {"auth": {"library": "\(Self.library("bearer-auth"))",
                            "config": {"token": "s3cret", "hosts": ["127.0.0.1"]}}}, "issue": ["auth"]}
      """)
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    _ = try await engine.perform(Request(url: HTTPURL("http://localhost:\(server.port)/b")))
    let sent = server.requests.map { $0.value(of: "authorization") }
    #expect(sent == ["Bearer s3cret", nil])
    await engine.shutdown()
  }

  /// The engine follows a redirect to another host, which is not in the plugin's list.
  @Test func `bearer-auth checks the URL of each hop`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let server = try LoopbackServer { request in
      request.path == "/to"
        ? ServerResponse(status: 302, headers: [HeaderLine("location", "http://localhost:\(other.port)/b")])
        : ServerResponse()
    }
    defer { server.stop() }
    let engine = try Self.engine(
      """
      {"plugins": {"auth": {"library": "\(Self.library("bearer-auth"))",
                            "config": {"token": "s3cret", "hosts": ["[::ffff:127.0.0.1]:\(server.port)"]}}},
       "issue": ["auth"]}
      """)
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/to")))
    #expect(server.requests.map { $0.value(of: "authorization") } == ["Bearer s3cret"])
    #expect(other.requests.map { $0.value(of: "authorization") } == [nil])
    await engine.shutdown()
  }

  @Test(arguments: ["a/b", "*.1.2.3.4", "fe80::1", "a:65536", "x@y", ""])
  func `the error of bearer-auth names a host that is not valid in a host list`(host: String) throws {
    let error = #expect(throws: EngineError.self) {
      try Self.engine(
        """
        {"plugins": {"auth": {"library": "\(Self.library("bearer-auth"))",
                              "config": {"token": "s3cret", "hosts": ["a.test", "\(host)"]}}}, "issue": ["auth"]}
        """)
    }
    let text = String(describing: error)
    #expect(text.contains(host.isEmpty ? "hosts" : "\"hosts\"[1]"), "\(text)")
    #expect(!text.contains("s3cret"), "\(text)")
  }

  @Test func `json-edit in C changes request and response through the live document`() async throws {
    let server = try LoopbackServer { request in
      ServerResponse(
        headers: [HeaderLine("content-type", "application/json")],
        body: .bytes(Array("{\"secret\": 1, \"got\": \(String(decoding: request.body, as: UTF8.self))}".utf8)))
    }
    defer { server.stop() }
    let engine = try Self.engine(
      """
      {"plugins": {"edit": {"library": "\(Self.library("json-edit"))", "config": {
        "request": [{"op": "set", "path": "/tenant", "value": "a"}],
        "response": [{"op": "remove", "path": "/secret"}, {"op": "rename", "path": "/got", "to": "echo"}]}}},
       "request": ["edit"], "response": ["edit"]}
      """)
    let response = try await engine.perform(
      Request(
        method: "POST", url: HTTPURL(server.baseURL + "/"), headers: ["content-type": "application/json"],
        body: .text("{\"name\": \"x\"}")))
    let document = try JSONValue(parsing: response.body.bytes ?? [])
    #expect(document == ["echo": ["name": "x", "tenant": "a"]])
    await engine.shutdown()
  }

  private static let unreadable = [
    #"{"password":"s3cret","id":18446744073709551615}"#, #"{"password":"s3cret","text":"\u0000"}"#,
    #"{"password":"s3cret","password":"s3cret"}"#, #"{"password":"s3cret","number":1e400}"#, #"{"password":"s3cret""#,
    "\u{FEFF}" + #"{"password":"s3cret"}"#,
  ]

  /// Returns the result of a response with this body, from which json-edit must remove a password.
  private static func removal(of body: String, policy: String = "") async throws -> TransactionResult {
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("content-type", "application/json")], body: .bytes(Array(body.utf8)))
    }
    defer { server.stop() }
    let engine = try Self.engine(
      """
      {"plugins": {"edit": {"library": "\(Self.library("json-edit"))", "config": {\(policy)
        "response": [{"op": "remove", "path": "/password"}]}}}, "response": ["edit"]}
      """)
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/")))
    await engine.shutdown()
    return result
  }

  @Test(arguments: unreadable)
  func `if json-edit cannot parse a JSON body, it does not let the body through`(body: String) async throws {
    let result = try await Self.removal(of: body)
    #expect(result.error?.code == "unreadable_json")
    #expect(result.error?.stage == "edit")
    #expect(result.error?.message.contains("s3cret") == false, "\(String(describing: result.error))")
  }

  @Test func `if the configuration says so, json-edit passes on a body that it cannot parse, without a change`()
    async throws
  {
    for body in Self.unreadable {
      let result = try await Self.removal(of: body, policy: #""onUnreadable": "pass", "#)
      #expect(result.error == nil)
      #expect(result.response?.body.bytes == Array(body.utf8))
    }
  }

  @Test func `error-enrichment logs a record about a transaction that got no response`() async throws {
    let log = Watched<[LogLine]>([])
    let text = """
      {"plugins": {"errors": {"library": "\(Self.library("error-enrichment"))"}}, "response": ["errors"]}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line) } }
    let port = try Loopback.freePort()
    let result = await engine.transaction(
      Request(url: try HTTPURL("http://me:s3cret@127.0.0.1:\(port)/a"), headers: ["x-request-id": "r-1"]))
    await engine.shutdown()
    let line = try #require(log.value.first { $0.message.contains("got no response") })
    #expect(line.level == .warning && line.stage == "errors" && line.plugin == "error-enrichment")
    #expect(line.transaction == result.id && line.requestID == "r-1" && line.attempt == 0)
    #expect(line.attributes.map(\.name) == ["error.type", "http.request.method", "url.full"])
    #expect(line.attributes["error.type"] == "connect" && line.attributes["http.request.method"] == "GET")
    #expect(line.attributes["url.full"] == .text("http://REDACTED:REDACTED@127.0.0.1:\(port)/a"))
  }

  @Test func `access-log writes the configured attributes, without secrets`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let product = try await PluginCompiler.compile("sets-attributes")
    chmod(product.path, 0o755)
    let engine = try Self.engine(
      """
      {"plugins": {"first": {"library": "\(product.path)"},
                   "log": {"library": "\(Self.library("access-log"))",
                           "config": {"output": "\(folder.path("access.log"))",
                                      "attributes": ["tries", "http.route", "share", "is-new", "user.id", "absent"]}}},
       "request": ["first"], "response": ["first"], "tracers": ["log"]}
      """)
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    await engine.shutdown()
    let line = try FileTree.readText(folder.path("access.log"))
    let attributes =
      #""attributes":{"tries":2,"http.route":"/items/{id}","share":0.5,"is-new":false,"user.id":"REDACTED"}"#
    #expect(line.contains(attributes), "\(line)")
    withExtendedLifetime(product) {}
  }

  @Test func `traffic-metrics in C counts transactions by method, status and outcome`() async throws {
    let server = try LoopbackServer { ServerResponse(status: $0.path == "/missing" ? 404 : 200) }
    defer { server.stop() }
    let engine = try Self.engine(
      """
      {"plugins": {"traffic": {"library": "\(Self.library("traffic-metrics"))"}}, "tracers": ["traffic"],
       "transport": {"loops": 2}}
      """)
    for _ in 0..<3 { _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a"))) }
    _ = await engine.transaction(Request(method: "DELETE", url: try HTTPURL(server.baseURL + "/missing")))
    let report = engine.pluginMetrics
    let transactions = try #require(report["traffic", "transactions"])
    #expect(transactions["GET", "200", "succeeded"]?.value == 3)
    #expect(transactions["DELETE", "404", "failed"]?.value == 1)
    #expect(transactions.series.count == 2)
    #expect(report["traffic", "duration"]?.series.first?.count == 4)
    #expect(report.prometheusText().contains("traffic_duration_seconds_count 4\n"))
    await engine.shutdown()
  }

  @Test func `static-headers in C adds, replaces and removes headers of requests and responses`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Self.engine(
      """
      {"plugins": {"fixed": {"library": "\(Self.library("static-headers"))", "config": {
        "request": {"x-team": "core", "x-drop": null}, "response": {"x-via": "sluice"}}}},
       "request": ["fixed"], "response": ["fixed"]}
      """)
    let response = try await engine.perform(
      Request(url: HTTPURL(server.baseURL + "/"), headers: ["x-drop": "1"]))
    #expect(server.requests.first?.value(of: "x-team") == "core")
    #expect(server.requests.first?.value(of: "x-drop") == nil)
    #expect(response.headers["x-via"] == "sluice")
    await engine.shutdown()
  }

  @Test func `access-log in Swift writes one JSON line for each transaction and hides secrets`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let log = folder.path("access.log")
    let engine = try Self.engine(
      """
      {"plugins": {"log": {"library": "\(Self.library("access-log"))", "config": {"output": "\(log)"}}},
       "tracers": ["log"]}
      """)
    for index in 0..<20 {
      _ = try await engine.perform(Request(url: HTTPURL("\(server.baseURL)/\(index)?X-Amz-Signature=abc")))
    }
    await engine.shutdown()
    let lines = try FileTree.readText(log).split(separator: "\n")
    #expect(lines.count == 20)
    let first = try JSONValue(parsing: String(try #require(lines.first)))
    #expect(first["status"]?.integer == 200)
    #expect(first["url"]?.string == "\(server.baseURL)/0?X-Amz-Signature=REDACTED")
  }

  @Test func `error-enrichment in Swift adds the facts of the transaction to a JSON error`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(
        status: 500, headers: [HeaderLine("content-type", "application/json")], body: .bytes(Array("{}".utf8)))
    }
    defer { server.stop() }
    let engine = try Self.engine(
      """
      {"plugins": {"errors": {"library": "\(Self.library("error-enrichment"))"}}, "response": ["errors"]}
      """)
    let result = try await engine.transaction(Request(url: HTTPURL(server.baseURL + "/")))
    let body = String(decoding: result.response?.body.bytes ?? [], as: UTF8.self)
    #expect(body.contains(result.requestID))
    await engine.shutdown()
  }
}
