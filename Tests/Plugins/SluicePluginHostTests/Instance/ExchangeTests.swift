import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import SluiceTraceContext
import Testing

@testable import SluicePluginHost

/// What a plugin can do with an exchange during a call.
struct ExchangeTests {
  private static let headers: HeaderFields = ["X-Old": "old", "x-gone": "1", "x-secret": "s"]

  @Test(arguments: [[], ["WITH_DOCUMENT"]])
  func `every header function works on the native form and on the live document`(defines: [String]) async throws {
    let stage = try await StageFixture("edits-headers", defines: defines)
    let result = try stage.run(
      StageFixture.request("GET", Self.headers), parent: ParentContext(traceparent: "00-parent"))
    #expect(result.error == nil)
    for name in ["set", "add", "replace", "remove", "mark", "get", "method", "url", "body", "context"] {
      #expect(stage.told(name) == ["0"], "\(name)")
    }
    #expect(stage.told("remove-absent") == ["1"])
    #expect(stage.told("get-absent") == ["1"])
    #expect(stage.told("response") == ["1"])
    #expect(stage.told("value") == ["one"])
    #expect(stage.told("line").sorted() == ["new", "one", "s", "two"])
    #expect(stage.told("method-is") == ["PUT"])
    #expect(stage.told("url-is") == ["http://example.com/changed?b=2"])
    #expect(stage.told("body-is") == ["hello"])
    #expect(stage.told("path") == ["/changed"])
    #expect(stage.told("context-method") == ["PUT"])
    #expect(stage.told("parent") == ["00-parent"])
    let sent = try #require(stage.transport.issued.first)
    #expect(sent.method == "PUT")
    #expect(sent.url.string == "http://example.com/changed?b=2")
    #expect(sent.body.bytes == Array("hello".utf8))
    #expect(sent.headers[values: "x-set"] == ["one", "two"])
    #expect(sent.headers["x-old"] == "new")
    #expect(!sent.headers.contains("x-gone"))
    #expect(sent.headers["x-hop"] == "0")
  }

  @Test func `the host fills a context up to the size that the caller states, and sets unknown members to zero`()
    async throws
  {
    let stage = try await StageFixture("edits-headers")
    _ = try stage.run(StageFixture.request("GET", Self.headers))
    #expect(stage.told("small") == ["0"] && stage.told("small-is") == ["7"])
    #expect(stage.told("large") == ["0"] && stage.told("large-is") == ["7"])
    #expect(stage.told("large-path") == ["/changed"])
  }

  @Test(arguments: [[], ["WITH_DOCUMENT"]])
  func `fields that a stage adds are marked as added, and fields that it declares secret as secret`(
    defines: [String]
  ) async throws {
    let stage = try await StageFixture("edits-headers", defines: defines)
    _ = try stage.run(StageFixture.request("GET", Self.headers))
    let sent = try #require(stage.transport.issued.first?.headers)
    func marks(_ name: String) -> HeaderFields.Marks? {
      sent.firstIndex(named: name.utf8.span).map { sent.marks(at: $0) }
    }
    #expect(marks("x-set") == .addedByStage)
    #expect(marks("x-secret") == .sensitive)
  }

  @Test(arguments: [[], ["WITH_DOCUMENT"]])
  func `on_response can change the response, but not the request`(defines: [String]) async throws {
    let stage = try await StageFixture("edits-headers", defines: defines)
    let result = try stage.run(StageFixture.request("GET", Self.headers))
    #expect(result.response?.status == 201)
    #expect(result.response?.headers["x-answer"] == "42")
    #expect(stage.told("status-is") == ["200"])
    #expect(stage.told("response-request") == ["-2"])
  }

  @Test func `on_issue changes the headers of the hop and nothing else`() async throws {
    let stage = try await StageFixture("edits-headers")
    _ = try stage.run(StageFixture.request("GET", Self.headers))
    #expect(stage.told("issue-set") == ["0"])
    #expect(stage.told("issue-url") == ["-2"])
    #expect(stage.told("issue-response") == ["-2"])
    #expect(stage.told("issue-json") == ["0"])
  }

  @Test func `changes of the live documents are sent on the wire and returned to the caller`() async throws {
    let stage = try await StageFixture("edits-documents") { _ in
      .response(
        Response(status: 200, headers: ["content-type": "application/json"], body: .text(#"{"ok": true}"#)))
    }
    let result = try stage.run(
      StageFixture.request("POST", ["content-type": "application/json"], body: .text(#"{"a": 1}"#)))
    #expect(result.error == nil)
    #expect(stage.told("view") == ["1"])
    #expect(stage.told("same") == ["1"])
    #expect(stage.told("native") == ["1"])
    #expect(stage.told("a") == ["1"])
    let sent = try #require(stage.transport.issued.first)
    #expect(sent.method == "PATCH")
    #expect(sent.headers["x-document"] == "yes")
    #expect(sent.headers["x-native"] == "yes")
    #expect(sent.body.bytes == Array(#"{"a":1,"b":2}"#.utf8))
    #expect(stage.told("status-is") == ["202"])
    #expect(stage.told("request") == ["0"])
    #expect(result.response?.status == 202)
    #expect(result.response?.body.bytes == Array(#"{"ok":true,"seen":true}"#.utf8))
  }

  @Test(arguments: [
    #"{ "price": 19.990, "e": 1E2, "s": "\u0041\/" }"#, "[1.10]", "1.0e0", #"{"b":0.1,"a":1}"#, " null ", "{}",
  ])
  func `a JSON body that no stage changes keeps its text, although its document was taken for writing`(
    text: String
  ) async throws {
    let stage = try await StageFixture("edits-documents", defines: ["KEEPS_BODY"]) { _ in
      .response(Response(status: 200, headers: ["content-type": "application/json"], body: .text(text)))
    }
    let result = try stage.run(StageFixture.request("POST", ["content-type": "application/json"], body: .text(text)))
    let sent = try #require(stage.transport.issued.first)
    #expect(sent.headers["x-document"] == "yes")
    #expect(sent.body.bytes == Array(text.utf8))
    #expect(stage.told("size") == ["\(text.utf8.count)"])
    #expect(result.response?.status == 202)
    #expect(result.response?.body.bytes == Array(text.utf8))
  }

  @Test func `a text that a stage has set, and that is then read as JSON, is sent as it was set`() async throws {
    let stage = try await StageFixture(
      "edits-documents", defines: ["KEEPS_BODY", #"SETS_TEXT="{\"n\": 1.10}""#])
    _ = try stage.run(StageFixture.request("POST", ["content-type": "application/json"], body: .text("[2]")))
    #expect(stage.told("parsed") == ["1"])
    #expect(stage.told("size") == ["11"])
    #expect(stage.transport.issued.first?.body.bytes == Array(#"{"n": 1.10}"#.utf8))
  }

  @Test(arguments: [(#"{"a": 19.990}"#, #"{"a":19.99,"b":2}"#), (#"{"b": 1.5, "a": 1e2}"#, #"{"b":2,"a":100.0}"#)])
  func `in a JSON body that a stage changes, real numbers have their shortest form`(
    given: String, sent: String
  ) async throws {
    let stage = try await StageFixture("edits-documents")
    _ = try stage.run(StageFixture.request("POST", ["content-type": "application/json"], body: .text(given)))
    #expect(stage.transport.issued.first?.body.bytes == Array(sent.utf8))
    #expect(stage.told("size") == ["\(sent.utf8.count)"])
  }

  @Test func `an invalid document fails the transaction, and the error names the stage`() async throws {
    let stage = try await StageFixture("edits-documents", defines: ["INVALID"])
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.stage == "stage")
    #expect(result.error?.message.contains("url") == true)
    #expect(stage.instance.violations[.invalidDocument] == 1)
  }

  @Test(arguments: [
    ("REQUEST_FIELD", "connection"), ("REQUEST_FIELD", "transfer-encoding"), ("RESPONSE_FIELD", "keep-alive"),
    ("RESPONSE_FIELD", "upgrade"), ("RESPONSE_TRAILER", "connection"), ("RESPONSE_TRAILER", "te"),
  ])
  func `a document with a hop-by-hop field fails the transaction, and the error names the stage and the field`(
    _ place: String, _ name: String
  ) async throws {
    let stage = try await StageFixture("edits-documents", defines: ["\(place)=\"\(name)\""])
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.stage == "stage")
    #expect(result.error?.message.contains("\"\(name)\": a stage must not set a hop-by-hop field") == true)
    #expect(stage.transport.issued.isEmpty == (place == "REQUEST_FIELD"))
    #expect(stage.instance.violations[.invalidDocument] == 1)
  }

  @Test(arguments: ["content-length", "host", "content-encoding", "content-type", "content-range"])
  func `a document with a trailer that describes the message fails the transaction`(
    _ name: String
  ) async throws {
    let stage = try await StageFixture("edits-documents", defines: ["RESPONSE_TRAILER=\"\(name)\""])
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.stage == "stage")
    #expect(
      result.error?.message.contains("trailer \"\(name)\": this field is not allowed as a trailer") == true
    )
    #expect(stage.instance.violations[.invalidDocument] == 1)
  }

  @Test(arguments: ["content-length", "host", "connection", "te"])
  func `a request document with a trailer that describes the message fails before anything is sent`(
    _ name: String
  ) async throws {
    let stage = try await StageFixture("edits-documents", defines: ["REQUEST_TRAILER=\"\(name)\""])
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.stage == "stage")
    #expect(result.error?.message.contains("\"\(name)\"") == true)
    #expect(result.error?.message.contains("must come before the body") == true)
    #expect(stage.transport.issued.isEmpty)
    #expect(stage.instance.violations[.invalidDocument] == 1)
  }

  @Test func `trailers that a document changes reach the caller, and a document can keep every field from the server`()
    async throws
  {
    let sent = Response(status: 200, headers: ["keep-alive": "timeout=5"], trailers: ["content-type": "a/b"])
    let own = try await StageFixture("edits-documents", defines: ["RESPONSE_TRAILER=\"x-sum\""]) { _ in .response(sent)
    }
    let replaced = try own.run(StageFixture.request())
    #expect(replaced.error == nil && replaced.response?.headers["keep-alive"] == "timeout=5")
    #expect(replaced.response?.trailers == ["x-sum": "x"])
    let kept = try await StageFixture("edits-documents") { _ in .response(sent) }
    let result = try kept.run(StageFixture.request())
    #expect(result.error == nil && result.response?.trailers == ["content-type": "a/b"])
    #expect(own.instance.violations[.invalidDocument] == 0 && kept.instance.violations[.invalidDocument] == 0)
  }

  @Test func `calls with a pointer to an ended exchange return STALE and change nothing`() async throws {
    let stage = try await StageFixture("keeps-exchange")
    let result = try stage.run(StageFixture.request())
    #expect(result.error == nil)
    #expect(stage.told("set") == ["3"])
    #expect(stage.told("get") == ["3"])
    #expect(stage.told("status") == ["0"])
    #expect(stage.told("json") == ["0"])
    #expect(stage.told("respond") == ["3"])
    #expect(result.response?.headers.contains("x-kept") == false)
    #expect(stage.instance.violations[.keptExchange] == 5)
    #expect(stage.warnings.count == 1)
    #expect(stage.warnings.first?.contains(#"stage "stage" (plugin fixture, generation 1)"#) == true)
  }

  @Test func `the use of an exchange on another thread is refused and changes nothing`() async throws {
    let stage = try await StageFixture("uses-other-thread")
    let result = try stage.run(StageFixture.request())
    #expect(result.error == nil)
    #expect(stage.told("set") == ["-3"])
    #expect(stage.transport.issued.first?.headers.contains("x-thread") == false)
    #expect(stage.instance.violations[.wrongThread] == 1)
  }

  @Test func `forbidden changes of a message are refused and counted`() async throws {
    let stage = try await StageFixture("breaks-headers")
    let result = try stage.run(StageFixture.request())
    #expect(result.error == nil)
    let invalid = [
      "crlf", "name", "empty", "nul", "null", "side", "url", "method", "connect", "bad-host", "add-bad-host",
      "second-host",
    ]
    for name in invalid {
      #expect(stage.told(name) == ["-1"], "\(name)")
    }
    for name in ["hop", "add-hop", "response", "status", "write"] { #expect(stage.told(name) == ["-2"], "\(name)") }
    #expect(stage.instance.violations[.hopByHopField] == 2)
    #expect(stage.instance.violations[.invalidArgument] == invalid.count)
    #expect(stage.instance.violations[.refusedWrite] == 3)
    #expect(stage.told("host") == ["0"])
    #expect(stage.transport.issued.first?.headers == ["Host": "a.example:81"])
  }

  @Test func `data of an exchange remains in the next attempt, and each value is released once`() async throws {
    let stage = try await StageFixture("keeps-data")
    let outcome = stage.begin(try StageFixture.request())
    #expect(stage.told("release").isEmpty)
    stage.loop.advance(by: .milliseconds(1))
    #expect(outcome.result?.error == nil)
    #expect(outcome.result?.attempts == 2)
    #expect(stage.told("data") == ["0", "1"])
    #expect(stage.told("kept") == ["2"])
    #expect(stage.told("release") == ["1", "2"])
  }
}
