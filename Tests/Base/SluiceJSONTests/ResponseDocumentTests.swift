import SluiceJSON
import SluiceJSONSchema
import SluiceMessages
import Testing

struct ResponseDocumentTests {
  @Test func `a response is written to its document and read back, including trailers`() throws {
    let original = Response(
      status: 201, headers: ["set-cookie": "a=1", "Set-Cookie": "b=2"], body: .text("{}"), trailers: ["x-sum": "9"])
    let document = ResponseDocument.make(original)
    let expected = try response(
      #"{"status": 201, "headers": {"set-cookie": ["a=1", "b=2"]}, "body": {"text": "{}"}, "trailers": {"x-sum": "9"}}"#
    )
    #expect(document == expected)
    let read = try ResponseDocument.read(document, rules: .line)
    #expect(read.status == 201)
    #expect(read.headers == original.headers)
    #expect(read.trailers == original.trailers)
    #expect(read.body.bytes == original.body.bytes)
  }

  @Test(arguments: [
    (#"{}"#, #"missing key "status""#), (#"{"status": 199}"#, "from 200 to 999, found 199"),
    (#"{"status": "200"}"#, #""/status": expected an integer, found a string"#),
    (#"{"status": 200, "trailers": {"a": {}}}"#, #""/trailers/a""#),
    (#"{"status": 200, "url": ""}"#, #""/url": unknown key; known here: status, headers, body, trailers"#),
  ])
  func `a document that is not a response is refused`(text: String, message: String) throws {
    let document = try JSONValue(parsing: text)
    #expect(!(try ShippedSchemas.shared.get().response.allows(document)))
    #expect {
      _ = try ResponseDocument.read(document, rules: .line)
    } throws: { error in
      #expect("\(error)".contains(message), "\(error)")
      return true
    }
  }

  @Test func `a change in the document changes the response, but not its HTTP version`() throws {
    var changed = Response(status: 500, body: .text("no"), version: .http2)
    let document = ResponseDocument.make(changed, body: .none)
    document["status"] = 200
    try ResponseDocument.update(&changed, from: document, bodyWasFilled: false)
    #expect(changed.status == 200)
    #expect(changed.body.bytes == Array("no".utf8))
    #expect(changed.version == .http2)
  }

  @Test func `fields keep their marks, even if the order or other fields change`() throws {
    var changed = Response(status: 200, headers: ["x-a": "1", "x-gone": "2", "x-b": "3", "X-A": "4", "x-c": "5"])
    for index in [2, 3, 4] { changed.headers.mark(at: index, .sensitive) }
    let document = ResponseDocument.make(changed)
    DocumentHeaders(document)["x-gone"] = nil
    DocumentHeaders(document)["x-c"] = "6"
    DocumentHeaders(document)["x-new"] = "7"
    try ResponseDocument.update(&changed, from: document, bodyWasFilled: true, added: [])
    #expect(changed.headers.map { "\($0.name): \($0.value)" } == ["x-a: 1", "x-a: 4", "x-b: 3", "x-c: 6", "x-new: 7"])
    let marks: [HeaderFields.Marks] = [[], .sensitive, .sensitive, .sensitive, []]
    #expect(changed.headers.indices.map { changed.headers.marks(at: $0) } == marks)
  }

  @Test(arguments: [false, true])
  func `thirty thousand fields with the same name are written to the document and read back`(isMarked: Bool) throws {
    var changed = Response(status: 200)
    for number in 0..<30_000 { changed.headers.append("a", "\(number)") }
    if isMarked { changed.headers.mark(at: 29_999, .sensitive) }
    let headers = changed.headers
    let document = ResponseDocument.make(changed)
    try ResponseDocument.update(&changed, from: document, bodyWasFilled: true, added: [])
    #expect(changed.headers == headers)
    #expect(changed.headers.indices.allSatisfy { changed.headers.marks(at: $0) == headers.marks(at: $0) })
  }
}

struct ResultDocumentTests {
  private func line(_ result: ResultDocument) throws -> String {
    let line = try result.line()
    try ShippedSchemas.shared.get().result.check(JSONValue(parsing: line))
    return String(decoding: line, as: UTF8.self)
  }

  @Test func `the result document of a success has the response and no error`() throws {
    let result = ResultDocument(
      id: ResultID(7), response: Response(status: 200), attempts: 1,
      duration: .microseconds(1930) + .nanoseconds(400), requestID: "r-1")
    #expect(
      try line(result)
        == #"{"id":7,"response":{"status":200,"headers":{}},"attempts":1,"durationMs":1.93,"requestId":"r-1"}"# + "\n")
  }

  @Test func `the result document of a failure has the code, the message and the stage`() throws {
    let result = ResultDocument(
      id: ResultID("a"), failure: .init(code: "invalid_url", message: "a \"b\"", stage: "auth"), attempts: 0,
      duration: .zero)
    #expect(
      try line(result)
        == #"{"id":"a","error":{"code":"invalid_url","message":"a \"b\"","stage":"auth"},"attempts":0,"durationMs":0.0}"#
        + "\n")
  }

  @Test func `the schema refuses a result without response and error`() throws {
    let schemas = try ShippedSchemas.shared.get()
    #expect(!schemas.result.allows(["id": 1, "attempts": 1, "durationMs": 1.0]))
  }
}

struct DurationTextTests {
  @Test(arguments: [
    ("250ms", Duration.milliseconds(250)), ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)), ("1h", .seconds(3600)),
    ("0s", .zero), ("0.000001ms", .nanoseconds(1)), ("1.25h", .seconds(4500)),
  ])
  func `a number with a unit is a duration`(text: String, duration: Duration) {
    #expect(DurationText.duration(text) == duration)
  }

  @Test(arguments: [
    "", "5", "s", "-1s", "1 s", "1.s", ".5s", "1..5s", "1S", "1e3s", "99999999999999999999s", "9999999h", "١s",
  ])
  func `any other text is not a valid duration`(text: String) {
    #expect(DurationText.duration(text) == nil)
  }

  @Test(arguments: ["250ms", "1500ms", "2s", "2m", "1h", "0ms", "90m"])
  func `a duration is written in its largest whole unit`(text: String) {
    #expect(DurationText.duration(text).map(DurationText.text) == text)
  }
}
