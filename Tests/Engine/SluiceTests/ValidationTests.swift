import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Tests the checks that the configuration sets for a response, over real sockets.
@Suite struct ValidationTests {
  private static let schema = """
    {"type": "object", "required": ["items"], "properties": {"items": {"type": "array",
     "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}}}
    """

  /// The events of a success before ``TraceEvent/Kind/didComplete``. A transaction that fails has only the first of
  /// them.
  private static let steps: [TraceEvent.Kind] = [
    .willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .didValidateResponse, .didExtract,
    .didValidatePayload,
  ]

  private struct Run {
    let result: TransactionResult
    let events: [TraceEvent.Kind]

    var error: TransactionError? { result.error }
    var bodyText: String? { try? result.response?.text() }
  }

  /// Runs one transaction on an engine whose configuration has these members in `validate`.
  private static func run(
    _ validate: String, _ answer: ServerResponse, method: String = "GET", spill: Bool = false
  ) async throws -> Run {
    let server = try LoopbackServer { _ in answer }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    _ = try folder.write(schema, to: "item.schema.json")
    let file = try folder.write(
      "{\"validate\": {\(validate)}, \"transport\": {\"spillBytes\": \(spill ? 1 : 1_048_576)}}", to: "sluice.json")
    var configuration = try Configuration(file: file)
    let events = EventLog()
    configuration.addStage("trace", StageCode(observing: { events.append($0.kind) }))
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(method: method, url: try HTTPURL(server.baseURL + "/a")))
    await engine.shutdown()
    return Run(result: result, events: events.kinds)
  }

  private static func json(_ text: String, status: Int = 200) -> ServerResponse {
    .text(text, status: status, type: "application/json")
  }

  @Test(arguments: [false, true])
  func `a valid payload is reported before a successful end`(spill: Bool) async throws {
    let run = try await Self.run(
      #""payloadSchema": "item.schema.json""#, Self.json(#"{"items": [{"id": 1}]}"#), spill: spill)
    #expect(run.error == nil)
    #expect(run.events == Self.steps + [.didComplete])
  }

  @Test func `a payload that violates the schema is extracted but not validated, and the error names the place`()
    async throws
  {
    let text = #"{"items": [{"id": 1}, {"id": "two"}]}"#
    let run = try await Self.run(#""extract": "json", "payloadSchema": "item.schema.json""#, Self.json(text))
    #expect(run.error?.code == "payload")
    #expect(run.error?.message.contains("/items/1/id") == true)
    #expect(run.events == Self.steps.dropLast() + [.didComplete])
    #expect(run.result.response?.status == 200)
    #expect(run.bodyText == text)
  }

  @Test func `the error for a payload whose top value violates the schema says so`() async throws {
    let run = try await Self.run(#""payloadSchema": "item.schema.json""#, Self.json("[]"))
    #expect(run.error?.code == "payload")
    #expect(run.error?.message.contains("the whole payload: ") == true)
  }

  @Test(arguments: ["<html>", "", "{\"a\": 1", "{\"a\": 1, \"a\": 2}", "\u{FEFF}", "9223372036854775808"])
  func `a body that is not JSON is neither extracted nor validated, and the result keeps it`(text: String)
    async throws
  {
    let run = try await Self.run(#""extract": "json""#, .text(text, type: "text/html"))
    #expect(run.error?.code == "extraction")
    #expect(run.error?.stage == nil)
    #expect(run.error?.message.hasSuffix("(Content-Type: text/html)") == true)
    #expect(run.events == Self.steps.dropLast(2) + [.didComplete])
    #expect(run.bodyText == text)
  }

  @Test func `if the status is not accepted, the body is not extracted`() async throws {
    let run = try await Self.run(#""statuses": ["2xx"], "extract": "json""#, Self.json("{}", status: 404))
    #expect(run.error?.code == "http_status")
    #expect(run.events == Self.steps.dropLast(3) + [.didComplete])
    #expect(run.bodyText == "{}")
  }

  @Test(
    arguments: [
      ("text/plain", [0xC3, 0xA9], true), ("text/plain", [0xE9], false),
      ("text/plain; charset=ISO-8859-1", [0xE9], true), ("text/plain;charset=\"us-ascii\"", [0x65], true),
      ("text/plain; charset=us-ascii", [0xE9], false), ("text/plain; charset=koi8-r", [0x65], false),
      ("text/plain; format=flowed; Charset=UTF-8", [0xE9], false),
    ] as [(String, [UInt8], Bool)])
  func `text is extracted only if it is valid in the charset of its media type`(
    type: String, bytes: [UInt8], isText: Bool
  ) async throws {
    let answer = ServerResponse(headers: [HeaderLine("Content-Type", type)], body: .bytes(bytes))
    let run = try await Self.run(#""extract": "text""#, answer)
    #expect(run.error?.code == (isText ? nil : "extraction"))
    #expect(run.events.contains(.didExtract) == isText)
  }

  @Test(arguments: [("HEAD", 200), ("DELETE", 204), ("GET", 304)])
  func `a response that cannot have content passes without a payload`(method: String, status: Int) async throws {
    let run = try await Self.run(
      #""payloadSchema": "item.schema.json""#, ServerResponse(status: status), method: method)
    #expect(run.error == nil)
    #expect(run.events == Self.steps + [.didComplete])
  }

  @Test func `if a stage has replaced the body, the new body is extracted`() async throws {
    let server = try LoopbackServer { _ in .text("<html>") }
    defer { server.stop() }
    var configuration = try Configuration(text: Array(#"{"validate": {"extract": "json"}}"#.utf8))
    configuration.addStage("mend", StageCode(response: { response, _ in response.body = Array("{}".utf8) }))
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a")))
    #expect(result.error == nil)
    await engine.shutdown()
  }

  @Test func `if the body is extracted, a sink gets nothing, and the body is in the result`() async throws {
    let server = try LoopbackServer { _ in Self.json("[1]") }
    defer { server.stop() }
    let engine = try Engine(Configuration(text: Array(#"{"validate": {"extract": "json"}}"#.utf8)))
    let sink = ByteSink()
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let result = await withCheckedContinuation { continuation in
      engine.submit(request, sink: sink) { continuation.resume(returning: $0) }
    }
    #expect(result.error == nil)
    #expect(result.response?.body.bytes == Array("[1]".utf8))
    #expect(sink.bytes.value.isEmpty)
    await engine.shutdown()
  }

  @Test func `only the response of the last attempt is extracted`() async throws {
    let first = Watched(true)
    let server = try LoopbackServer { _ in
      let isFirst = first.update { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      return isFirst ? .text("<html>", status: 503) : Self.json("{}")
    }
    defer { server.stop() }
    var configuration = try Configuration(
      text: Array(#"{"validate": {"extract": "json"}, "retry": {"statuses": [503], "backoff": {"base": "1ms"}}}"#.utf8))
    let events = EventLog()
    configuration.addStage("trace", StageCode(observing: { events.append($0.kind) }))
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a")))
    #expect(result.error == nil)
    #expect(
      events.kinds
        == Self.steps.prefix(5) + [.willRetry] + Self.steps.dropFirst() + [.didComplete])
    await engine.shutdown()
  }

  @Test(arguments: [
    (#"{"validate": {"payloadSchema": "nope.json"}}"#, "validate.payloadSchema: cannot read nope.json: "),
    (#"{"validate": {"payloadSchema": "LICENSE"}}"#, "LICENSE is not a JSON Schema: line "),
    (#"{"validate": {"extract": "xml"}}"#, "validate.extract: expected one of \"json\", \"text\", \"raw\""),
    (
      #"{"validate": {"extract": "raw", "payloadSchema": "docs/schema/configuration.schema.json"}}"#,
      "set \"extract\" to \"json\""
    ),
  ])
  func `the error for a payload schema that cannot be used names the key`(text: String, message: String) throws {
    let error = #expect(throws: ConfigurationError.self) {
      _ = try Configuration(text: Array(text.utf8), file: RepositoryRoot.path("sluice.json"))
    }
    let words = (error?.description ?? "").replacing(RepositoryRoot.path(""), with: "")
    #expect(words.contains(message), "\(words)")
  }
}

private final class ByteSink: BodySink {
  let bytes = Watched<[UInt8]>([])

  func begin(_ head: Response) {}
  func receive(_ piece: [UInt8]) -> BodyProgress {
    bytes.update { $0 += piece }
    return .proceed
  }
}
