import Sluice
import SluiceIDNA
import SluiceServer
import SluiceTestServers
import SluiceTraceContext
import Testing

/// Which kinds of headers the built-in `headers` sends to which hosts.
@Suite struct HostKindsTests {
  private static let all: Set<String> = ["trace", "baggage", "requestId", "sessionId", "static"]

  private static let cases: [(String, Set<String>)] = [
    ("\"127.0.0.1\"", all), ("{\"host\": \"127.0.0.1\"}", all), ("{\"host\": \"127.0.0.1:PORT\", \"send\": null}", all),
    ("{\"host\": \"http://127.0.0.1\", \"send\": [\"trace\"]}", ["trace"]),
    ("{\"host\": \"*\", \"send\": [\"baggage\", \"static\"]}", ["baggage", "static"]),
    ("{\"host\": \"*\", \"send\": [\"requestId\", \"sessionId\"]}", ["requestId", "sessionId"]),
    ("{\"host\": \"*\", \"send\": []}", []), ("{\"host\": \"https://127.0.0.1\"}", []),
    ("{\"host\": \"127.0.0.1:1\"}", []),
    ("{\"host\": \"127.0.0.1\", \"send\": [\"trace\"]}, \"*\"", ["trace"]),
    ("\"*.example.com\", {\"host\": \"127.0.0.1\", \"send\": [\"trace\"]}, {\"host\": \"*\"}", ["trace"]),
  ]

  @Test(arguments: cases)
  func `a host gets the kinds that its first entry lists`(hosts: String, kinds: Set<String>) async throws {
    let arrived = try await HeaderPlaces.arrived("\"hosts\": [\(hosts)], \(HeaderPlaces.kinds)")
    #expect(arrived.result.error == nil)
    #expect(arrived.kinds == kinds)
    #expect((arrived.headers.first("tracestate") != nil) == kinds.contains("trace"))
  }

  @Test(arguments: [
    ("bücher.example", "xn--bcher-kva.example"), ("xn--bcher-kva.example", "bücher.example"),
    ("*.BÜCHER.example", "a.xn--bcher-kva.example"), ("bücher.example:80", "bu\u{308}cher.example"),
  ])
  func `an internationalized name is listed, excluded and matched as its A-labels`(
    _ listed: String, _ host: String
  ) async throws {
    let proxy = try LoopbackServer()
    let lists = [
      ("{\"hosts\": [\"\(listed)\"]}", "[\"headers\"]", true),
      ("{\"hosts\": [\"*\"], \"exclude\": [\"\(listed)\"]}", "[\"headers\"]", false),
      ("{\"hosts\": [\"*\"]}", "[{\"plugin\": \"headers\", \"match\": {\"hosts\": [\"\(listed)\"]}}]", true),
      ("{\"hosts\": [\"bucher.example\"]}", "[\"headers\"]", false),
    ]
    for (config, issue, isTraced) in lists {
      let text = """
        {"transport": {"proxy": "\(proxy.baseURL)"}, "plugins": {"headers": {"builtin": "headers", "config": \(config)}},
         "issue": \(issue)}
        """
      let engine = try Engine(Configuration(text: Array(text.utf8)))
      let result = await engine.transaction(Request(url: try HTTPURL("http://\(host)/", hosts: .idna)))
      #expect(result.error == nil)
      await engine.shutdown()
      #expect((proxy.requests.last?.headers.first("traceparent") != nil) == isTraced, "\(config) \(issue)")
    }
    proxy.stop()
  }

  @Test(arguments: [
    "\"127.0.0.1\"", "\"*\"", "\"http://127.0.0.1:PORT\"", "\"*:PORT\"", "\"[::ffff:127.0.0.1]\"",
    "\"[0:0:0:0:0:FFFF:7f00:1]:PORT\"",
  ])
  func `an excluded host gets nothing, even if it is listed`(host: String) async throws {
    let arrived = try await HeaderPlaces.arrived("\"hosts\": [\"*\"], \"exclude\": [\(host)], \(HeaderPlaces.kinds)")
    #expect(arrived.kinds == [])
    let base = try HeaderPlaces.configuration(
      "\"exclude\": [\(host.replacing("PORT", with: "1"))]",
      more: "\"transport\": {\"baseURL\": \"http://127.0.0.1:1\"},")
    _ = try Engine(base)
  }

  @Test(arguments: [
    (
      "/a", "Authorization",
      "AWS4-HMAC-SHA256 Credential=A/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature=f"
    ),
    ("/a", "authorization", "aws4-ecdsa-p256-sha256 Credential=A"), ("/a", "Authorization", "GOOG4-RSA-SHA256 a"),
    ("/a", "Authorization", "Signature keyId=\"a\""),
    ("/a", "Signature-Input", "sig1=(\"@method\");keyid=\"a\""), ("/a", "Signature", "keyId=\"a\",signature=\"b\""),
    ("/a?X-Amz-Signature=f", "X-A", "1"), ("/a?X-Goog-Signature=f", "X-A", "1"),
    ("/a?Expires=1&Signature=f&Key-Pair-Id=K", "X-A", "1"), ("/a?se=1&sig=f", "X-A", "1"),
  ])
  func `a signed request is not changed by default`(
    path: String, name: String, value: String
  ) async throws {
    let config = "\"hosts\": [\"*\"], \(HeaderPlaces.kinds)"
    let skipped = try await HeaderPlaces.arrived(config, path: path, headers: [name: value])
    #expect(skipped.result.error == nil)
    #expect(skipped.kinds == [])
    #expect(skipped.headers.first(name) == value)
    let injected = try await HeaderPlaces.arrived(
      config + ", \"signed\": \"inject\"", path: path, headers: [name: value])
    #expect(injected.kinds == Self.all)
  }

  @Test(arguments: ["Bearer AWS4-x", "Basic AWS4", "AWS4", "Signatures a", ""])
  func `a request with other credentials does not count as signed`(value: String) async throws {
    let arrived = try await HeaderPlaces.arrived(
      "\"hosts\": [\"*\"], \(HeaderPlaces.kinds)", headers: ["Authorization": value])
    #expect(arrived.kinds == Self.all)
  }

  @Test(arguments: [
    ParentContext(traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01\r\nX-Evil: 1"),
    ParentContext(
      traceparent: "cc-0123456789abcdef0011223344556677-8899aabbccddeeff-01-\r\nX-Evil: 1",
      tracestate: "a=1\r\nX-Evil: 1",
      baggage: "a=1\r\nX-Evil: 1"),
    ParentContext(
      traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01", tracestate: "a=1,b=\n2,c=\u{0}",
      baggage: "a=\u{0},b=\n,c=2\r"),
    ParentContext(baggage: "a\r=1;p\n=2,\u{0}=1"),
  ])
  func `CR, LF and NUL in a parent context never reach a header`(parent: ParentContext) async throws {
    let propagators = "\"propagators\": [\"tracecontext\", \"baggage\", \"b3\", \"b3multi\"]"
    let arrived = try await HeaderPlaces.arrived("\"hosts\": [\"*\"], \(propagators)", parent: parent)
    #expect(arrived.result.error == nil)
    #expect(arrived.headers.first("X-Evil") == nil)
    #expect(arrived.headers.first("traceparent")?.utf8.count == 55)
    #expect(arrived.headers.first("tracestate") == nil)
    #expect(arrived.headers.first("baggage") == nil)
  }
}
