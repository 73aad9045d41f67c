import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import Testing

/// The caller streams a request body, and a stage wants the whole body. The stage is the shipped plugin json-edit, in
/// C.
@Suite struct StreamedRequestTests {
  private static func configuration(
    _ transport: String = "{}", onUnreadable: String = "fail"
  ) throws -> Configuration {
    let text = """
      {"plugins": {"edit": {"library": "\(BuiltProducts.library("json-edit"))", "config": {
         "onUnreadable": "\(onUnreadable)", "request": [{"op": "set", "path": "/tenant", "value": "a"}]}}},
       "request": ["edit"], "transport": \(transport)}
      """
    return try Configuration(text: Array(text.utf8))
  }

  private static func request(_ url: String, _ body: BodyStream) throws -> Request {
    Request(
      method: "POST", url: try HTTPURL(url), headers: ["content-type": "application/json"], body: .stream(body))
  }

  /// Returns the pieces one after the other. An empty piece means that no data is available yet.
  private static func stream(_ pieces: [String], announcing count: Int? = nil) -> BodyStream {
    PieceStream.make(pieces.map { Array($0.utf8) }, announcing: count)
  }

  @Test func `a stage that wants the request body gets the whole streamed body`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Self.configuration())
    let body = Self.stream([#"{"na"#, "", #"me": "#, "", "", #""x"}"#])
    _ = try await engine.perform(Self.request(server.baseURL + "/", body))
    let sent = try #require(server.requests.first)
    #expect(try JSONValue(parsing: sent.body) == ["name": "x", "tenant": "a"])
    #expect(sent.value(of: "content-length") == "\(sent.body.count)")
    await engine.shutdown()
  }

  @Test func `a streamed body too large for memory is read into a file, and not edited there`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Self.configuration(#"{"spillBytes": 4096}"#))
    let body = Self.stream([String(repeating: " ", count: 5000), #"{"a": 1}"#])
    let result = await engine.transaction(try Self.request(server.baseURL + "/", body))
    #expect(result.error?.code == "unreadable_json")
    #expect(server.requests.isEmpty)
    await engine.shutdown()
  }

  @Test func `a streamed body too large for memory is sent from its file if the stage lets it pass`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Self.configuration(#"{"spillBytes": 4096}"#, onUnreadable: "pass"))
    let piece = String(repeating: "0123456789abcdef", count: 4096)
    let body = Self.stream(Array(repeating: piece, count: 40))
    _ = try await engine.perform(Self.request(server.baseURL + "/", body))
    let sent = try #require(server.requests.first)
    #expect(sent.body == Array(String(repeating: piece, count: 40).utf8))
    await engine.shutdown()
  }

  @Test func `a streamed body that was read for a stage can be sent again`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = try Self.configuration()
    configuration.addStage(
      "again",
      StageCode(response: { response, context in
        if server.requests.count == 1 { throw RetryRequestError() }
      }))
    let engine = try Engine(configuration)
    let response = try await engine.perform(Self.request(server.baseURL + "/", Self.stream([#"{"a": 1}"#])))
    #expect(response.status == 200)
    let bodies = try server.requests.map { try JSONValue(parsing: $0.body) }
    #expect(bodies == [["a": 1, "tenant": "a"], ["a": 1, "tenant": "a"]])
    await engine.shutdown()
  }

  @Test(
    arguments: [
      (["1234", "56789"], nil, "request_too_large", "transport.maxRequestBytes"),
      (["12"], 3, "body_file", "ended after 2 of 3 bytes"),
      (["12", "34"], 3, "body_file", "longer than the 3 bytes"),
    ] as [([String], Int?, String, String)])
  func `a streamed body that cannot be read for a stage fails the request before it is sent`(
    _ pieces: [String], _ announced: Int?, _ code: String, _ words: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Self.configuration(#"{"maxRequestBytes": 8}"#))
    let body = Self.stream(pieces, announcing: announced)
    let result = await engine.transaction(try Self.request(server.baseURL + "/", body))
    #expect(result.error?.code.rawValue == code)
    #expect(result.error?.message.contains(words) == true, "\(String(describing: result.error))")
    #expect(server.requests.isEmpty)
    await engine.shutdown()
  }

  @Test func `a request is cancelled while its body is read for a stage`() async throws {
    let engine = try Engine(Self.configuration())
    let asked = Watched(0)
    let body = BodyStream { _ in
      asked.update { $0 += 1 }
      return []
    }
    let request = try Self.request("http://127.0.0.1:9/", body)
    let task = Task { await engine.transaction(request) }
    try await asked.wait { $0 > 0 }
    task.cancel()
    #expect(await task.value.outcome == .cancelled)
    // A producer that has not woken its reader is not asked again.
    #expect(asked.value == 1)
    await engine.shutdown()
  }
}
