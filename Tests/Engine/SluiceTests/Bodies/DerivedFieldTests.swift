import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
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

    init(
      _ kind: String, isRequest: Bool, answer: [HeaderLine] = [], status: Int = 200, trailers: [HeaderLine] = [],
      method: String = "PUT"
    ) async throws {
      let product = try await PluginCompiler.compile(
        "marks-bodies", defines: ["KIND=\(kind)", "SIDE_IS_REQUEST=\(isRequest ? 1 : 0)"])
      chmod(product.path, 0o755)
      let body: ServerResponse.Body =
        trailers.isEmpty
        ? .bytes(Array("text".utf8)) : .generated(.alphabet, byteCount: 4, chunked: true)
      server = try LoopbackServer { _ in
        ServerResponse(status: status, headers: answer, body: body, trailers: trailers)
      }
      let list = isRequest ? "request" : "response"
      let text =
        #"{"plugins": {"a": {"library": "\#(product.path)"}}, "\#(list)": [{"plugin": "a", "match": {"methods": ["\#(method)"]}}], "transport": {"loops": 1}}"#
      let configuration = try Configuration(text: Array(text.utf8))
      engine = try Engine(configuration) { [warnings] line in
        if line.level == .warning { warnings.withLock { $0.append(line.message) } }
      }
      withExtendedLifetime(product) {}
    }

    func send(
      _ headers: HeaderFields, sink: TextSink? = nil, trailers: HeaderFields = [:], method: String = "PUT"
    ) async throws -> Response {
      var request = Request(method: method, url: try HTTPURL(server.baseURL), headers: headers)
      if method == "PUT" { request.body = .text("text") }
      request.trailers = trailers
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

  // RFC 9110 §9.3.2: a response to HEAD has the fields that a response to GET would have.
  @Test(arguments: [("HEAD", 200, nil), ("GET", 200, nil), ("GET", 304, "\"strong\"")])
  func `a response to HEAD comes without them, status 304 keeps them`(
    _ method: String, _ status: Int, _ tag: String?
  ) async throws {
    let setup = try await Setup(
      "PIECES", isRequest: false, answer: [HeaderLine("ETag", "\"strong\"")], status: status, method: method)
    #expect(try await setup.send([:], method: method).headers["etag"] == tag)
  }

  // MARK: Trailers

  private static let lastFields: HeaderFields = [
    "Content-Digest": "sha-256=:AA==:", "Repr-Digest": "x", "Digest": "x", "Content-MD5": "x", "X-T": "1",
  ]

  @Test(arguments: ["PIECES", "SUSPENDS", "WHOLE", "DOCUMENT"], [false, true])
  func `trailers of a response whose body is changed go, and are not announced`(
    _ kind: String, _ isStreamed: Bool
  ) async throws {
    let names = Self.fields + ["ETag"]
    let setup = try await Setup(
      kind, isRequest: false, answer: [HeaderLine("Trailer", (names + ["X-T"]).joined(separator: ", "))],
      trailers: names.map { HeaderLine($0, "\"x\"") } + [HeaderLine("X-T", "1")])
    let response = try await setup.send([:], sink: isStreamed ? TextSink() : nil)
    #expect(response.trailers == ["X-T": "1"])
    #expect(response.headers["trailer"] == "X-T")
  }

  @Test(arguments: ["PIECES", "SUSPENDS", "WHOLE", "DOCUMENT", "MAKES"])
  func `trailers of a request whose body is changed go, and are not announced`(_ kind: String) async throws {
    let setup = try await Setup(kind, isRequest: true)
    _ = try await setup.send([:], trailers: Self.lastFields)
    let sent = try #require(setup.server.requests.first)
    #expect(sent.trailers.map { $0.name.lowercased() } == ["x-t"])
    #expect(sent.headers.first("trailer")?.lowercased() == "x-t")
  }

  @Test func `without a change trailers stay`() async throws {
    let setup = try await Setup("PIECES", isRequest: true, method: "POST")
    _ = try await setup.send([:], trailers: Self.lastFields)
    #expect(setup.server.requests.first?.trailers.count == 5)
  }

  @Test(arguments: ["PIECES", "WHOLE"])
  func `a trailer that a signature covers stays, and a warning names it`(_ kind: String) async throws {
    let setup = try await Setup(
      kind, isRequest: false,
      answer: [
        HeaderLine("Trailer", "Content-Digest, Digest"), HeaderLine("Signature-Input", #"a=("content-digest";tr)"#),
      ], trailers: [HeaderLine("Content-Digest", "x"), HeaderLine("Digest", "x")])
    let response = try await setup.send([:])
    #expect(response.trailers == ["Content-Digest": "x"] && response.headers["trailer"] == "Content-Digest")
    let warnings = setup.warnings.withLock { $0 }
    #expect(warnings.count == 1 && warnings.first?.contains("covers content-digest") == true, "\(warnings)")
  }

  // MARK: Parts

  @Test(arguments: ["PIECES", "WHOLE", "DOCUMENT"])
  func `a part that is changed comes without its range, and a warning says so`(_ kind: String) async throws {
    let setup = try await Setup(
      kind, isRequest: false, answer: [HeaderLine("Content-Range", "bytes 0-3/8")], status: 206)
    #expect(try await setup.send([:]).headers["content-range"] == nil)
    let warnings = setup.warnings.withLock { $0 }
    #expect(warnings.count == 1 && warnings.first?.contains("content-range was removed") == true, "\(warnings)")
  }

  @Test func `the range of status 416 stays`() async throws {
    let setup = try await Setup(
      "WHOLE", isRequest: false, answer: [HeaderLine("Content-Range", "bytes */8")], status: 416)
    #expect(try await setup.send([:]).headers["content-range"] == "bytes */8")
    #expect(setup.warnings.withLock { $0 }.isEmpty)
  }

  @Test(arguments: ["PIECES", "WHOLE", "DOCUMENT"])
  func `the range of a request stays, and a warning says so`(_ kind: String) async throws {
    let setup = try await Setup(kind, isRequest: true)
    _ = try await setup.send(["Content-Range": "bytes 0-3/8"])
    #expect(setup.server.requests.first?.headers.first("content-range") == "bytes 0-3/8")
    let warnings = setup.warnings.withLock { $0 }
    #expect(warnings.count == 1 && warnings.first?.contains("still describes the old part") == true, "\(warnings)")
  }

  // MARK: Signatures

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
    ("Authorization", "HMAC-SHA256 Credential=k&SignedHeaders=host;content-digest&Signature=AA==", "content-digest"),
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

  @Test(arguments: [
    (#"a=("@method");x="content-digest""#, false), (#"a=("content-digest";req "@status")"#, false),
    (#"a=("content-digest";tr)"#, false), (#"a=("x\"content-digest")"#, false), (#"a="content-digest""#, false),
    (#"a=("x";key="content-digest" "y")"#, false), (#"a=("repr-content-digest")"#, false),
    (#"a=("content-digest";req=?0)"#, true), (#"a=("content-digest";sf; bs)"#, true),
    (#"a=("x";key="a)b" "content-digest");created=1"#, true), (#"a=(), b=( "content-digest" )"#, true),
    (#"a=("content-digest""#, true),
  ])
  func `only the components of a signature are covered by it`(_ input: String, _ isSigned: Bool) {
    var request = Request(url: HTTPURL("http://a/"))
    request.headers = ["Signature-Input": input, "Content-Digest": "x"]
    let fields = request.removeDerivedFields()
    #expect(fields.signed == (isSigned ? ["content-digest"] : []))
    #expect(request.headers.contains("content-digest") == isSigned)
  }
}
