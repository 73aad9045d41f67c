import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceAssembly
@testable import Sluice

/// Bodies that can be sent only once, to servers that demand credentials. As with curl, Digest asks first, without the
/// body.
@Suite struct AskingTests {
  /// A body that can be produced only once.
  private static func once(_ text: String, byteCount: Int? = nil) -> Body {
    let pieces = Watched([text])
    return .stream(
      BodyStream(byteCount: byteCount) { _ in pieces.update { $0.isEmpty ? nil : Array($0.removeFirst().utf8) } })
  }

  private static func request(_ server: LoopbackServer, byteCount: Int? = nil) throws -> Request {
    Request(
      method: "PUT", url: try HTTPURL("http://u:p@127.0.0.1:\(server.port)/x?y"),
      body: once("body", byteCount: byteCount))
  }

  /// Runs a request, and checks the ledger of its events.
  private static func run(
    _ request: Request, _ policy: CredentialPolicy, _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> TransactionResult {
    let log = LedgerLog()
    var configuration = Configuration()
    configuration.credentialPolicy = policy
    configuration.addStage("log", log.code)
    change(&configuration)
    let engine = try Engine(configuration)
    let result = await engine.transaction(request)
    await engine.shutdown()
    #expect(log.violation == nil)
    return result
  }

  private static func bodies(_ server: LoopbackServer) -> [String] {
    server.requests.map { String(decoding: $0.body, as: UTF8.self) }
  }

  @Test(arguments: [nil, 4])
  func `Digest gets its challenge with an empty body, and the body follows with the answer`(
    byteCount: Int?
  ) async throws {
    let server = try ChallengeTests.digestServer()
    defer { server.stop() }
    let result = try await Self.run(Self.request(server, byteCount: byteCount), .digest)
    #expect(result.response?.status == 200 && result.attempts == 1)
    #expect(Self.bodies(server) == ["", "body"])
    #expect(server.requests.map { $0.value(of: "authorization")?.prefix(7) } == [nil, "Digest "])
    #expect(server.requests.first?.value(of: "content-length") == "0")
    #expect(server.requests.last?.value(of: "content-length") == byteCount.map { "\($0)" })
  }

  @Test func `a caller's Content-Length, Expect and trailers go only with the body`() async throws {
    let server = try ChallengeTests.digestServer()
    defer { server.stop() }
    var request = try Self.request(server, byteCount: 4)
    request.headers["content-length"] = "4"
    request.headers["expect"] = "100-continue"
    let result = try await Self.run(request, .digest)
    #expect(result.response?.status == 200 && Self.bodies(server) == ["", "body"])
    #expect(server.requests.map { $0.value(of: "content-length") } == ["0", "4"])
    #expect(server.requests.first?.value(of: "expect") == nil)
  }

  @Test func `a stage that changes the pieces of the body sees only the body`() async throws {
    let server = try ChallengeTests.digestServer()
    defer { server.stop() }
    let result = try await Self.run(Self.request(server), .digest) {
      $0.addStage("marks", StageCode(Marks()))
    }
    #expect(result.response?.status == 200 && Self.bodies(server) == ["", "body!"])
  }

  @Test func `a server that demands no credentials gets the body after the question`() async throws {
    let server = try LoopbackServer { request in ServerResponse(body: .bytes(request.body)) }
    defer { server.stop() }
    let result = try await Self.run(Self.request(server), .digest)
    #expect(result.response?.status == 200 && result.response?.body.bytes == Array("body".utf8))
    #expect(Self.bodies(server) == ["", "body"] && result.attempts == 1)
  }

  @Test func `another answer to the question is the response`() async throws {
    let server = try LoopbackServer { _ in .text("no", status: 403) }
    defer { server.stop() }
    let result = try await Self.run(Self.request(server), .digest)
    #expect(result.response?.status == 403 && Self.bodies(server) == [""])
  }

  @Test func `a wrong password is refused once the body was sent, as with any body`() async throws {
    let server = try ChallengeTests.digestServer()
    defer { server.stop() }
    let request = Request(
      method: "PUT", url: try HTTPURL("http://u:wrong@127.0.0.1:\(server.port)/"), body: Self.once("body"))
    let result = try await Self.run(request, .digest)
    #expect(result.response?.status == 401 && result.error?.code == .status && Self.bodies(server) == ["", "body"])
  }

  @Test func `a redirect before the body is followed, and the body goes only to the last server`() async throws {
    let server = try ChallengeTests.digestServer()
    defer { server.stop() }
    let first = try LoopbackServer { [port = server.port] request in
      let location = request.target == "/a" ? "/b" : "http://127.0.0.1:\(port)/to"
      return ServerResponse(status: 307, headers: [HeaderLine("Location", location)])
    }
    defer { first.stop() }
    let request = Request(
      method: "PUT", url: try HTTPURL("http://u:p@127.0.0.1:\(first.port)/a"), body: Self.once("body"))
    let result = try await Self.run(request, .digest)
    #expect(Self.bodies(first) == ["", ""])
    // The other origin gets no credentials, so it is not asked.
    #expect(result.response?.status == 401 && Self.bodies(server) == ["body"])
  }

  @Test func `if the server asks only after the body, the error says that the body cannot be repeated`()
    async throws
  {
    let server = try ChallengeTests.digestServer()
    defer { server.stop() }
    for policy in [CredentialPolicy.basicFirst, .whenAsked] {
      let before = server.requestCount
      let result = try await Self.run(Self.request(server), policy)
      #expect(result.error?.code == .bodyNotReplayable && result.response?.status == 401)
      #expect(result.error?.message.contains("--digest") == true)
      #expect(server.requestCount == before + 1)
    }
    let stale = try ChallengeTests.digestServer(nonce: { $0 == 1 ? "old" : "new" })
    defer { stale.stop() }
    let result = try await Self.run(Self.request(stale), .digest)
    #expect(result.error?.code == .bodyNotReplayable && Self.bodies(stale) == ["", "body"])
  }

  @Test func `a body that can be repeated is sent at once`() async throws {
    let server = try ChallengeTests.digestServer()
    defer { server.stop() }
    var request = try Self.request(server)
    request.body = .text("body")
    #expect(try await Self.run(request, .digest).response?.status == 200)
    #expect(Self.bodies(server) == ["body", "body"])
  }

  @Test func `the question and the body are sent over HTTP/2 too`() async throws {
    let refusal =
      HTTP2Frame.field(":status", "401")
      + HTTP2Frame.field("www-authenticate", #"Digest realm="r", nonce="n", qop="auth""#)
    let server = try ScriptedServer(
      .receive(24), .receiveFrame(type: 1), .send(HTTP2Frame.settings),
      .send(HTTP2Frame.headers(refusal, endsStream: true)), .receiveFrame(type: 1), .receiveFrame(type: 0),
      .send(HTTP2Frame.headers([0x88], stream: 3, endsStream: true)), .receiveToEnd)
    defer { server.stop() }
    let request = Request(
      method: "PUT", url: try HTTPURL("http://u:p@127.0.0.1:\(server.port)/"), body: Self.once("body"))
    let result = try await Self.run(request, .digest) {
      $0.transport.assumesHTTP2 = true
    }
    #expect(result.response?.status == 200)
    let frames = HTTP2Frame.parse(Array(try #require(server.received.first).dropFirst(24)))
    #expect(frames.filter { $0.type == 1 }.map { $0.flags & 1 } == [1, 0])
    #expect(frames.filter { $0.type == 0 }.flatMap(\.payload) == Array("body".utf8))
  }
}

/// Adds a mark to the end of each request body.
private struct Marks: BodyInterceptor {
  static let bodySides: Set<BodySide> = [.request]

  func interceptBody(_ body: PassingBody) -> (any BodyTransform)? { Mark() }

  final class Mark: BodyTransform {
    func transform(_ piece: [UInt8]) -> [UInt8] { piece }
    func finish() -> [UInt8] { Array("!".utf8) }
  }
}
