import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestServers
import Testing

/// Tests how Swift code checks the response of one transaction, over real sockets.
@Suite struct TypedTransactionTests {
  private struct Item: Decodable, Equatable {
    var id: Int
    var name: String
  }

  private struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  private static let steps: [TraceEvent.Kind] = [
    .willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .didValidateResponse, .didExtract,
    .didValidatePayload, .didComplete,
  ]

  private static func without(_ kinds: TraceEvent.Kind...) -> [TraceEvent.Kind] {
    steps.filter { !kinds.contains($0) }
  }

  /// Runs a transaction against a server that sends `answer`. Returns the typed result and the events.
  private static func run<Payload>(
    _ answer: ServerResponse, configuration text: String = "{}",
    _ make: (TypedTransaction<Response>) -> TypedTransaction<Payload>
  ) async throws -> (outcome: TypedResult<Payload>, events: [TraceEvent.Kind]) {
    let server = try LoopbackServer { _ in answer }
    defer { server.stop() }
    var configuration = try Configuration(text: Array(text.utf8))
    let events = EventLog()
    configuration.addStage("trace", StageCode(observing: { events.append($0.kind) }))
    let engine = try Engine(configuration)
    let outcome = await engine.transaction(make(TypedTransaction(Request(url: try HTTPURL(server.baseURL + "/a")))))
    await engine.shutdown()
    return (outcome, events.kinds)
  }

  private static func json(_ text: String, status: Int = 200) -> ServerResponse {
    .text(text, status: status, type: "application/json")
  }

  @Test func `a payload is decoded, and the validations of response and payload are called`() async throws {
    let (outcome, events) = try await Self.run(Self.json(#"{"id": 1, "name": "a", "more": true}"#)) {
      $0.validating { #expect($0.status == 200) }.decoding(Item.self).validatingPayload { #expect($0.id == 1) }
    }
    #expect(outcome.payload == Item(id: 1, name: "a"))
    #expect(outcome.result.error == nil)
    #expect(events == Self.steps)
  }

  @Test func `perform with decoding returns the payload, or throws an error that has the response`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/good" ? Self.json(#"[{"id": 1, "name": "a"}]"#) : Self.json("null")
    }
    defer { server.stop() }
    let engine = try Engine(Configuration())
    let items = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/good")), decoding: [Item].self)
    #expect(items == [Item(id: 1, name: "a")])
    let bad = Request(url: try HTTPURL(server.baseURL + "/bad"))
    let failure = await #expect(throws: TransactionFailure.self) {
      try await engine.perform(bad, decoding: [Item].self)
    }
    #expect(failure?.error.code == "extraction")
    #expect(failure?.result.response?.body.bytes == Array("null".utf8))
    await engine.shutdown()
  }

  @Test func `a payload that cannot be decoded is not extracted, and the error says where it is wrong`() async throws {
    let text = #"{"id": "one", "name": "a"}"#
    let (outcome, events) = try await Self.run(Self.json(text)) { $0.decoding(Item.self) }
    #expect(outcome.payload == nil)
    #expect(outcome.result.error?.code == "extraction")
    #expect(outcome.result.error?.message.contains("\"id\"") == true)
    #expect(events == Self.without(.didExtract, .didValidatePayload))
    #expect(try outcome.result.response?.text() == text)
  }

  @Test func `a payload that the validation refuses has a did_extract but no did_validate_payload`() async throws {
    let (outcome, events) = try await Self.run(Self.json(#"{"id": 1, "name": ""}"#)) {
      $0.decoding(Item.self).validatingPayload { _ in }.validatingPayload { item in
        if item.name.isEmpty { throw Refusal(description: "item \(item.id) has no name") }
      }
    }
    #expect(outcome.payload == nil)
    #expect(outcome.result.error == TransactionError(code: "payload", message: "item 1 has no name"))
    #expect(outcome.result.response?.status == 200)
    #expect(events == Self.without(.didValidatePayload))
  }

  @Test func `a transaction's own validation replaces the check of accepted statuses`() async throws {
    let (missing, events) = try await Self.run(Self.json("{}", status: 404)) {
      $0.validating { if $0.status != 404 { throw Refusal(description: "found") } }
    }
    #expect(missing.result.error == nil)
    #expect(missing.payload?.status == 404)
    #expect(events == Self.steps)
    let (found, foundEvents) = try await Self.run(Self.json("{}")) {
      $0.validating { if $0.status != 404 { throw Refusal(description: "found") } }
    }
    #expect(found.result.error == TransactionError(code: "response", message: "found"))
    #expect(found.result.response?.status == 200)
    #expect(foundEvents == Self.without(.didValidateResponse, .didExtract, .didValidatePayload))
  }

  @Test func `if a transaction has no validation of its own, the statuses of the configuration apply`() async throws {
    let (outcome, _) = try await Self.run(
      Self.json("{}", status: 201), configuration: #"{"validate": {"statuses": [200]}}"#
    ) { $0.extracting { try $0.json().kind } }
    #expect(outcome.result.error?.code == "http_status")
    #expect(outcome.payload == nil)
  }

  @Test func `a transaction's own extraction replaces the configured one`() async throws {
    let (outcome, _) = try await Self.run(.text("plain"), configuration: #"{"validate": {"extract": "json"}}"#) {
      $0.extracting { try $0.text() }
    }
    #expect(outcome.payload == "plain")
  }

  @Test func `a failure has the code that the validation gave it`() async throws {
    let (outcome, _) = try await Self.run(Self.json("{}")) {
      $0.extracting { _ -> Int in throw StageFailure(code: "no_item", message: "none") }
    }
    #expect(outcome.result.error == TransactionError(code: "no_item", message: "none"))
  }

  @Test func `a body in a file is decoded from the file`() async throws {
    let (outcome, _) = try await Self.run(
      Self.json(#"{"id": 7, "name": "far"}"#), configuration: #"{"transport": {"spillBytes": 1}}"#
    ) { $0.decoding(Item.self) }
    #expect(outcome.payload == Item(id: 7, name: "far"))
  }

  @Test func `transactions of one engine do not share their checks`() async throws {
    let server = try LoopbackServer { request in Self.json("{\"id\": \(request.query ?? "0"), \"name\": \"n\"}") }
    defer { server.stop() }
    let engine = try Engine(Configuration())
    let base = server.baseURL
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask {
          let request = Request(url: try HTTPURL("\(base)/a?\(number)"))
          let outcome = await engine.transaction(
            TypedTransaction(request).decoding(Item.self).validatingPayload { item in
              if item.id % 2 == 1 { throw Refusal(description: "odd") }
            })
          #expect(outcome.payload?.id == (number % 2 == 1 ? nil : number))
          #expect(outcome.result.error?.code == (number % 2 == 1 ? "payload" : nil))
        }
      }
      try await group.waitForAll()
    }
    await engine.shutdown()
  }

  @Test func `a cancelled typed transaction has no payload and validates nothing`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let events = EventLog()
    var configuration = Configuration()
    configuration.addStage("trace", StageCode(observing: { events.append($0.kind) }))
    let engine = try Engine(configuration)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let task = Task { await engine.transaction(TypedTransaction(request).decoding(Item.self)) }
    try await server.waitForHeld(1)
    task.cancel()
    let outcome = await task.value
    #expect(outcome.payload == nil)
    #expect(outcome.result.outcome == .cancelled)
    #expect(events.kinds == [.willExecute, .didConfigure, .didIssue, .didEndHop, .didComplete])
    server.release()
    await engine.shutdown()
  }
}
