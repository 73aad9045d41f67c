import Glibc
import SluiceAssembly
import SluiceClient
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestServers
import Testing

@Suite struct DataTests {
  @Test func `a URL is read as bytes and a response`() async throws {
    let server = try LoopbackServer { _ in .text("hello") }
    defer { server.stop() }
    try await withClient { client in
      let (bytes, response) = try await client.data(from: server.url())
      #expect(bytes == Array("hello".utf8) && response.status == 200)
      #expect(response.headers["content-type"] == "text/plain; charset=utf-8")
    }
  }

  @Test func `a field that is not UTF-8 is text with U+FFFD, and its bytes are available`() async throws {
    let name: [UInt8] = Array("caf".utf8) + [0xE9]
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("X-Name", bytes: name), HeaderLine("x-name", "b")])
    }
    defer { server.stop() }
    try await withClient { client in
      let headers = try await client.data(from: server.url()).response.headers
      #expect(headers["x-name"] == "caf\u{FFFD}" && headers[values: "X-NAME"] == ["caf\u{FFFD}", "b"])
      #expect(headers[bytes: "x-name"] == [name, Array("b".utf8)] && headers[bytes: "x-none"].isEmpty)
    }
  }

  @Test func `an error status is a normal result, or an error if the client does not accept every status`()
    async throws
  {
    let server = try LoopbackServer { _ in .text("no such thing", status: 404) }
    defer { server.stop() }
    try await withClient { client in
      let (bytes, response) = try await client.data(from: server.url())
      #expect(bytes == Array("no such thing".utf8) && response.status == 404)
    }
    try await withClient(acceptsEveryStatus: false) { client in
      let url = try server.url()
      let error = await failure { () throws(TransactionError) in _ = try await client.data(from: url) }
      #expect(error?.code == .status)
    }
  }

  private struct User: Codable, Equatable, Sendable { var name: String }

  @Test func `json decodes the body, and asks for JSON unless the request asks for something else`() async throws {
    let server = try LoopbackServer { request in .text(#"{"name": "\#(request.value(of: "accept") ?? "")"}"#) }
    defer { server.stop() }
    try await withClient { client in
      #expect(try await client.json(User.self, from: server.url()) == User(name: "application/json"))
      let other = Request(url: try server.url(), headers: ["accept": "application/problem+json"])
      #expect(try await client.json(User.self, for: other) == User(name: "application/problem+json"))
      #expect(try await client.json(JSONValue.self, for: other)["name"] == "application/problem+json")
    }
  }

  @Test(arguments: [
    (200, "", ErrorCode.extraction, "the body is empty"), (200, "{", .extraction, "the body is not JSON"),
    (200, "[]", .extraction, "is no User: "), (200, #"{"name": 1}"#, .extraction, "name"),
    (404, #"{"name": "a"}"#, .status, "the server answered 404 to GET"), (204, "", .extraction, "empty"),
  ])
  func `json fails if there is no value`(_ status: Int, _ body: String, _ code: ErrorCode, _ words: String) async throws
  {
    let server = try LoopbackServer { _ in .text(body, status: status) }
    defer { server.stop() }
    for acceptsEveryStatus in [true, false] {
      try await withClient(acceptsEveryStatus: acceptsEveryStatus) { client in
        let url = try server.url()
        let error = await failure { () throws(TransactionError) in _ = try await client.json(User.self, from: url) }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      }
    }
  }

  @Test func `a body that the engine keeps in a file is read into memory`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(pattern, byteCount: 700_001, chunked: true))
    }
    defer { server.stop() }
    try await withClient {
      $0.transport.spillBytes = 1000
    } _: { client in
      let (bytes, _) = try await client.data(from: server.url())
      #expect(bytes == pattern.bytes(from: 0, count: 700_001))
    }
  }

  @Test func `a client for an existing engine uses the engine's stages, and does not stop the engine`() async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage("mark", StageCode(request: { request, _ in request.headers["x-mark"] = "yes" }))
    let engine = try Engine(configuration)
    let client = Client(engine: engine)
    _ = try await client.data(from: server.url())
    await client.shutdown()
    _ = try await Client(engine: engine).data(from: server.url())
    #expect(server.requests.map { $0.value(of: "x-mark") } == ["yes", "yes"])
    await engine.shutdown()
  }

  @Test func `if the connection is refused, the call throws the engine's error`() async throws {
    try await withClient { client in
      let error = await failure { () throws(TransactionError) in _ = try await client.data(from: "http://127.0.0.1:1/")
      }
      #expect(error?.code == .connect && error?.isBeforeSending == true)
    }
  }

  @Test func `a body that is cut off is an error, not a short body`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close)
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      let error = await failure { () throws(TransactionError) in _ = try await client.data(from: url) }
      #expect(error?.code == .connectionLost)
    }
  }

  @Test func `a request of a client that was shut down is refused`() async throws {
    let client = try Client()
    await client.shutdown()
    await client.shutdown()
    let error = await failure { () throws(TransactionError) in _ = try await client.data(from: "http://127.0.0.1:1/") }
    #expect(error?.code == .shutdown)
  }
}
