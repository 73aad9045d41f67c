import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import Testing

/// Fields that describe the bytes of a body go when a stage changes the body (RFC 9530, RFC 3230, RFC 1864, RFC 9110
/// §8.8.3). The stages are compiled C plugins in a real engine.
@Suite struct DerivedFieldTests {
  private static let fields = ["content-md5", "digest", "content-digest", "repr-digest"]

  /// A server, and an engine with one build of `marks-bodies`.
  private struct Setup {
    let server: LoopbackServer
    let engine: Engine
    let warnings = Locked<[String]>([])

    init(_ kind: String, isRequest: Bool, answer: [HeaderLine] = [], method: String = "PUT") async throws {
      let product = try await PluginCompiler.compile(
        "marks-bodies", defines: ["KIND=\(kind)", "SIDE_IS_REQUEST=\(isRequest ? 1 : 0)"])
      chmod(product.path, 0o755)
      server = try LoopbackServer { _ in ServerResponse(headers: answer, body: .bytes(Array("text".utf8))) }
      let list = isRequest ? "request" : "response"
      let text =
        #"{"plugins": {"a": {"library": "\#(product.path)"}}, "\#(list)": [{"plugin": "a", "match": {"methods": ["\#(method)"]}}], "transport": {"loops": 1}}"#
      let configuration = try Configuration(text: Array(text.utf8))
      engine = try Engine(configuration) { [warnings] line in
        if line.level == .warning { warnings.withLock { $0.append(line.message) } }
      }
      withExtendedLifetime(product) {}
    }

    func send(_ headers: HeaderFields, sink: TextSink? = nil) async throws -> Response {
      let request = Request(method: "PUT", url: try HTTPURL(server.baseURL), headers: headers, body: .text("text"))
      let result = await withCheckedContinuation { continuation in
        engine.submit(request, sink: sink) { continuation.resume(returning: $0) }
      }
      await engine.shutdown()
      server.stop()
      return try #require(result.response)
    }
  }

  private static var described: HeaderFields {
    [
      "Content-MD5": "HLIdN1y57gZ6nt7mYdHfBg==", "Digest": "SHA-256=AA==", "Content-Digest": "sha-256=:AA==:",
      "Repr-Digest": "sha-256=:AA==:",
    ]
  }

  @Test(arguments: ["PIECES", "SUSPENDS", "WHOLE", "DOCUMENT", "MAKES"])
  func `a request whose body is changed is sent without them`(_ kind: String) async throws {
    let setup = try await Setup(kind, isRequest: true)
    _ = try await setup.send(Self.described)
    let sent = try #require(setup.server.requests.first)
    #expect(String(decoding: sent.body, as: UTF8.self).hasSuffix("|a"))
    for name in Self.fields { #expect(sent.headers.first(name) == nil, "\(name)") }
    #expect(setup.warnings.withLock { $0 }.isEmpty)
  }

  @Test(arguments: ["PIECES", "SUSPENDS", "WHOLE", "DOCUMENT", "MAKES"], [false, true])
  func `a response whose body is changed comes without them and without a strong entity tag`(
    _ kind: String, _ isStreamed: Bool
  ) async throws {
    let lines = Self.fields.map { HeaderLine($0, "x") } + [HeaderLine("ETag", "\"strong\"")]
    let setup = try await Setup(kind, isRequest: false, answer: lines)
    let response = try await setup.send([:], sink: isStreamed ? TextSink() : nil)
    for name in Self.fields + ["etag"] { #expect(response.headers[name] == nil, "\(name)") }
    #expect(response.headers["content-length"].map { $0 == "6" } ?? true)
  }

  @Test func `a response without content keeps them`() async throws {
    let product = try await PluginCompiler.compile("marks-bodies", defines: ["KIND=PIECES", "SIDE_IS_REQUEST=0"])
    chmod(product.path, 0o755)
    let server = try LoopbackServer { request in
      ServerResponse(
        status: request.method == "HEAD" ? 200 : 304, headers: [HeaderLine("ETag", "\"strong\"")], body: .bytes([]))
    }
    let text = #"{"plugins": {"a": {"library": "\#(product.path)"}}, "response": ["a"]}"#
    let engine = try withExtendedLifetime(product) { try Engine(Configuration(text: Array(text.utf8))) }
    for method in ["HEAD", "GET"] {
      let result = await engine.transaction(Request(method: method, url: try HTTPURL(server.baseURL)))
      #expect(result.response?.headers["etag"] == "\"strong\"", "\(method)")
    }
    await engine.shutdown()
    server.stop()
  }

  @Test func `a weak entity tag stays`() async throws {
    let setup = try await Setup("WHOLE", isRequest: false, answer: [HeaderLine("ETag", "W/\"weak\"")])
    #expect(try await setup.send([:]).headers["etag"] == "W/\"weak\"")
  }

  @Test func `without a change they stay`() async throws {
    let setup = try await Setup(
      "WHOLE", isRequest: false, answer: [HeaderLine("ETag", "\"strong\"")], method: "POST")
    let response = try await setup.send(Self.described)
    #expect(response.headers["etag"] == "\"strong\"")
    let sent = try #require(setup.server.requests.first)
    for name in Self.fields { #expect(sent.headers.first(name) != nil, "\(name)") }
  }

  @Test(arguments: [
    ("Signature-Input", #"sig1=("@method" "content-digest");created=1618884473;keyid="k""#, "content-digest"),
    ("Signature", #"keyId="k",algorithm="hs2019",headers="(request-target) date digest",signature="AA==""#, "digest"),
    ("Authorization", "AWS4-HMAC-SHA256 Credential=k, SignedHeaders=content-md5;host, Signature=00", "content-md5"),
  ])
  func `a field that a signature covers stays, and a warning names it`(
    _ name: String, _ value: String, _ signed: String
  ) async throws {
    for kind in ["PIECES", "WHOLE", "DOCUMENT"] {
      let setup = try await Setup(kind, isRequest: true)
      var headers = Self.described
      headers[name] = value
      _ = try await setup.send(headers)
      let sent = try #require(setup.server.requests.first)
      for field in Self.fields { #expect((sent.headers.first(field) != nil) == (field == signed), "\(kind), \(field)") }
      let warnings = setup.warnings.withLock { $0 }
      #expect(warnings.count == 1 && warnings.first?.contains("covers \(signed)") == true, "\(kind): \(warnings)")
    }
  }
}
