import Glibc
import SluiceJSON
import SluiceJSONSchema
import SluiceMessages
import SluiceTestKit
import Testing

struct RequestDocumentTests {
  private let url = "https://api.example.com/v1/items?x=1"

  private func made(_ body: Body = .empty, _ filling: BodyDocument.Filling = .plain, type: String = "application/json")
    throws -> JSONValue
  {
    let headers: HeaderFields = ["Content-Type": type]
    let document = RequestDocument.make(
      Request(method: "POST", url: try HTTPURL(url), headers: headers, body: body), body: filling)
    try ShippedSchemas.shared.get().request.check(document)
    return document
  }

  @Test func `a request is written with names in lower case and repeated fields as an array in wire order`() throws {
    let headers: HeaderFields = [
      "Content-Type": "application/json", "Accept": "text/html", "ACCEPT": "application/json",
    ]
    let document = RequestDocument.make(Request(method: "POST", url: try HTTPURL(url), headers: headers))
    let expected = try request(
      #"""
      {"method": "POST", "url": "https://api.example.com/v1/items?x=1",
       "headers": {"content-type": "application/json", "accept": ["text/html", "application/json"]}}
      """#)
    #expect(document == expected)
  }

  @Test func `three lines of one field stay in order, and bytes that are not UTF-8 become base64`() throws {
    var headers: HeaderFields = ["x": "a"]
    headers.append("x".utf8.span, ([0x67, 0xFC] as [UInt8]).span)
    headers.append("x", "ü")
    let document = RequestDocument.make(Request(url: try HTTPURL(url), headers: headers))
    #expect(document["headers"] == ["x": ["a", ["base64": "Z/w="], "ü"]])
    #expect(try RequestDocument.read(document, rules: .live).headers == headers)
  }

  @Test func `a body is text if it is UTF-8 without NUL, otherwise base64, and an empty body is absent`() throws {
    #expect(try made(.text("grüß"))["body"] == ["text": "grüß"])
    #expect(try made(.bytes([0x61, 0x00]))["body"] == ["base64": "YQA="])
    #expect(try made(.bytes([0xFF]))["body"] == ["base64": "/w=="])
    #expect(try made(.empty)["body"] == nil)
    #expect(try made(.text("x"), .none)["body"] == nil)
    #expect(try made(.file(FileBody(path: "/f", byteCount: 7)))["body"] == ["file": "/f", "bytes": 7])
  }

  @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "application/problem+json", "a/b+JSON ;x=y"])
  func `a body of a JSON media type is parsed on request`(type: String) throws {
    #expect(try made(.text(#"{"name": "a"}"#), .parsed, type: type)["body"] == ["json": ["name": "a"]])
    #expect(try made(.text(#"{"name": "a"}"#), .plain, type: type)["body"]?["text"] != nil)
  }

  @Test(arguments: [
    ("{", "line 1, column 1: not JSON: it ends too early"),
    (#"{"a": 18446744073709551616}"#, "an integer of more than 64 bits, or a number too large for a double"),
    (#"{"a": 1, "a": 2}"#, "a duplicate member"), (#"["\u0000"]"#, "U+0000 in a string"),
    ("1e999", "an integer of more than 64 bits, or a number too large for a double"),
    (#"{"secret" "hidden"}"#, "not JSON"),
  ])
  func `content that cannot be parsed without loss stays text, and the document says why`(
    text: String, reason: String
  ) throws {
    let body = try #require(try made(.text(text), .parsed)["body"])
    #expect(body["text"]?.string == text)
    #expect(body["unreadable"]?.string?.hasSuffix(reason) == true, "\(body)")
    #expect(body.count == 2)
  }

  @Test func `the reason why content cannot be parsed is not part of the message`() throws {
    for body in [Body.text("{"), .bytes([0xFF])] {
      let document = try made(body, .parsed)
      #expect(document["body"]?["unreadable"] != nil)
      _ = try request(document.serializedText())
      #expect(try RequestDocument.read(document, rules: .line).body.bytes == body.bytes)
    }
  }

  @Test func `the document says that a body in a file cannot be parsed, but only if its media type is JSON`() throws {
    let file = Body.file(FileBody(path: "/f", byteCount: 7))
    #expect(try made(file, .parsed)["body"]?["unreadable"]?.string?.contains("file") == true)
    #expect(try made(file, .parsed, type: "text/plain")["body"] == ["file": "/f", "bytes": 7])
  }

  @Test func `if there are several content types, one JSON type is enough to parse the body`() throws {
    let document = try made(.text("[1]"), .none)
    document["headers"] = ["content-type": ["text/plain", "application/json"]]
    BodyDocument.fill(document, from: .text("[1]"), .parsed)
    #expect(document["body"] == ["json": [1]])
  }

  @Test func `a body that a stage has set is parsed, and the note about an unreadable body is updated`() throws {
    let document = try made(.text("{"), .parsed)
    document["body"]?["text"] = "[2]"
    BodyDocument.fill(document, from: .text("{"), .parsed)
    #expect(document["body"] == ["json": [2]])
    document["body"] = ["base64": "WzNd"]
    BodyDocument.fill(document, from: .text("{"), .parsed)
    #expect(document["body"] == ["json": [3]])
    document["body"] = ["base64": "/w=="]
    BodyDocument.fill(document, from: .text("{"), .parsed)
    #expect(document["body"]?["unreadable"] != nil)
  }

  @Test(arguments: ["text/plain", "application/jsonp", "text/json+x", ""])
  func `a body of another media type stays text`(type: String) throws {
    #expect(try made(.text("{}"), .parsed, type: type)["body"] == ["text": "{}"])
  }

  @Test func `a body can be filled in later, and a text that a stage then sets is parsed`() throws {
    let document = try made(.text("[1]"), .none)
    BodyDocument.fill(document, from: .text("[1]"), .parsed)
    #expect(document["body"] == ["json": [1]])
    document["body"] = ["text": "[2]"]
    BodyDocument.fill(document, from: .text("[1]"), .parsed)
    #expect(document["body"] == ["json": [2]])
  }

  @Test func `a written document can be read back`() throws {
    let document = try request(
      #"{"method": "PUT", "url": "http://h/", "headers": {"a": "1", "b": ["2", {"base64": "Mw=="}]}, "body": {"json": [1]}}"#
    )
    let read = try RequestDocument.read(document, rules: .line)
    #expect(read.method == "PUT")
    #expect(read.url.string == "http://h/")
    #expect(read.headers == ["a": "1", "b": "2", "b": "3", "content-type": "application/json"])
    #expect(read.body.bytes == Array("[1]".utf8))
    #expect(try RequestDocument.read(request(#"{"url": "http://h/"}"#), rules: .line).method == "GET")
  }

  @Test func `trailers are written to a request's document and read back, and a new trailer is marked as added`()
    throws
  {
    let text =
      #"{"method": "PUT", "url": "http://h/", "headers": {}, "body": {"text": "b"}, "trailers": {"x-sum": "1"}}"#
    var changed = try RequestLine(request(text)).request
    #expect(changed.trailers == ["x-sum": "1"])
    changed.trailers.mark(at: 0, .sensitive)
    let document = RequestDocument.make(changed)
    #expect(document == (try request(text)))
    document["trailers"]?["x-new"] = "2"
    try RequestDocument.update(&changed, from: document, bodyWasFilled: true)
    #expect(changed.trailers == ["x-sum": "1", "x-new": "2"])
    #expect(changed.trailers.indices.map { changed.trailers.marks(at: $0) } == [.sensitive, .addedByStage])
    document["trailers"] = nil
    try RequestDocument.update(&changed, from: document, bodyWasFilled: true)
    #expect(!changed.hasTrailers && RequestDocument.make(changed)["trailers"] == nil)
    document["trailers"] = ["content-length": "1"]
    #expect(throws: MessageError.self) { try RequestDocument.update(&changed, from: document, bodyWasFilled: true) }
  }

  @Test func `a URL can be an IRI, whose host needs an encoder`() throws {
    let hosts = HostEncoder { _ in "xn--bcher-kva.example" }
    let document = try request(#"{"url": "http://bücher.example/ä"}"#)
    let url = "http://xn--bcher-kva.example/%C3%A4"
    #expect(try RequestDocument.read(document, rules: .line, hosts: hosts).url.string == url)
    #expect(try RequestLine(document, hosts: hosts).request.url.string == url)
    #expect(throws: MessageError.self) { try RequestDocument.read(document, rules: .line) }
    var changed = Request(url: HTTPURL("http://h/"))
    document["method"] = "GET"
    document["headers"] = .object()
    #expect(try RequestDocument.target(of: document, from: changed, hosts: hosts).url.string == url)
    try RequestDocument.update(&changed, from: document, bodyWasFilled: true, hosts: hosts)
    #expect(changed.url.string == url)
  }

  private static let invalid: [(String, String)] = [
    (#"[]"#, "document: expected an object, found an array"),
    (#"{}"#, #"document: missing key "url""#),
    (#"{"url": 5}"#, #""/url": expected a string, found an integer"#),
    (#"{"url": "ftp://h/"}"#, "only http and https"),
    (#"{"url": "/path"}"#, "not absolute"), (#"{"url": "http://bücher.example/"}"#, "write it with A-labels"),
    (#"{"url": "http://h/", "methd": "GET"}"#, #""/methd": unknown key; known here: id, method, url"#),
    (#"{"url": "http://h/", "method": "GE T"}"#, "not a token"),
    (#"{"url": "http://h/", "method": "CONNECT"}"#, "method \"CONNECT\""),
    (#"{"url": "http://h/", "headers": {"host": ["a", "a"]}}"#, "more than one"),
    (#"{"url": "http://h/", "headers": {"host": "a b"}}"#, "header \"host\""),
    (#"{"url": "http://h/", "headers": []}"#, #""/headers": expected an object"#),
    (#"{"url": "http://h/", "headers": {"a": 1}}"#, #""/headers/a": expected a string, {"base64": "…"} or an array"#),
    (#"{"url": "http://h/", "headers": {"a": [["b"]]}}"#, #"/headers/a~10": expected a string"#),
    (#"{"url": "http://h/", "headers": {"a": "x\r\nb: y"}}"#, "CR, LF, NUL"),
    (#"{"url": "http://h/", "headers": {"a b": "x"}}"#, "not a field name"),
    (#"{"url": "http://h/", "headers": {"a": {"base64": "!"}}}"#, "an object without valid base64"),
    (#"{"url": "http://h/", "trailers": {"x-a": "1"}}"#, "trailers: the request has no body"),
    (
      #"{"url": "http://h/", "body": {"text": "b"}, "trailers": {"host": "h"}}"#,
      "trailer \"host\": this field frames, routes"
    ),
    (#"{"url": "http://h/", "body": {"text": "b"}, "trailers": {"a": "x\r\nb: y"}}"#, "CR, LF, NUL"),
    (#"{"url": "http://h/", "trailers": []}"#, #""/trailers": expected an object"#),
    (#"{"url": "http://h/", "body": "x"}"#, #""/body": expected an object, found a string"#),
    (#"{"url": "http://h/", "body": {}}"#, #""/body": expected one of text, base64, json, file, found none"#),
    (#"{"url": "http://h/", "body": {"text": "", "json": 1}}"#, "found several"),
    (#"{"url": "http://h/", "body": {"txt": ""}}"#, #""/body/txt": unknown key"#),
    (#"{"url": "http://h/", "body": {"base64": "Zg"}}"#, #""/body/base64": not base64"#),
    (#"{"url": "http://h/", "body": {"file": "/nowhere/at-all"}}"#, "cannot read /nowhere/at-all: No such file"),
    (#"{"url": "http://h/", "body": {"file": "/dev/zero"}}"#, "not a regular file"),
    (#"{"url": "http://h/", "timeout": "5"}"#, #""/timeout": expected a number above 0 with ms, s, m or h"#),
    (#"{"url": "http://h/", "id": [1]}"#, #""/id": expected a string"#),
    (#"{"url": "http://h/", "url": "http://i/"}"#, "not JSON: duplicate object key"),
    (#"{"url": "#, "column 8: not JSON"),
  ]

  @Test(arguments: invalid)
  func `an invalid line is refused, and the error names the key and what was expected`(text: String, message: String) {
    #expect {
      _ = try Array(text.utf8).withUnsafeBytes { try RequestLine(parsing: $0) }
    } throws: { error in
      #expect("\(error)".contains(message), "\(error)")
      return error is MessageError
    }
  }

  @Test func `a line can have an id of any scalar type and a timeout`() throws {
    for id in [#""a""#, "5", "1.5", "true", "null"] {
      let line = try RequestLine(request(#"{"id": \#(id), "url": "http://h/", "timeout": "1.5s"}"#))
      #expect(line.id == (try JSONValue(parsing: id)))
      #expect(line.request.timeout == .milliseconds(1500))
    }
    #expect(try RequestLine(request(#"{"url": "http://h/"}"#)).id == nil)
  }

  @Test func `a body from a file is refused if the rules do not allow files`() throws {
    let document = try request(#"{"url": "http://h/", "body": {"file": "/etc/hostname"}}"#)
    #expect(throws: MessageError.self) { try RequestLine(document, rules: [.knownKeysOnly, .namesInAnyCase]) }
  }

  @Test func `if a line names a file and a size, the file's real size is used`() throws {
    let path = RepositoryRoot.path("docs/schema/request.schema.json")
    let document = try request(#"{"url": "http://h/", "body": {"file": "\#(path)", "bytes": 1}}"#)
    #expect(try RequestLine(document).request.body.byteCount == FileTree.read(path).count)
  }
}

struct LiveDocumentTests {
  @Test(arguments: [
    (#"{"body": {"json": {}}}"#, ["application/json"]),
    (#"{"headers": {"Content-Type": "application/problem+json"}, "body": {"json": {}}}"#, ["application/problem+json"]),
    (#"{"headers": {"content-type": "text/plain"}, "body": {"json": null}}"#, ["text/plain"]),
    (#"{"body": {"text": "{}"}}"#, []), (#"{"body": {"base64": "e30="}}"#, []), ("{}", []),
  ])
  func `a body that is given as JSON gets the JSON media type, unless the document names another type`(
    _ text: String, _ types: [String]
  ) throws {
    let document = try JSONValue(parsing: text)
    document["url"] = "http://h/"
    #expect(try RequestDocument.read(document, rules: .line).headers[values: "content-type"] == types)
    document["url"] = nil
    document["status"] = 200
    #expect(try ResponseDocument.read(document, rules: .line).headers[values: "content-type"] == types)
  }

  @Test func `JSON that a stage puts into a document gets a Content-Type that is not marked as added by a stage`()
    throws
  {
    var changed = try sample(.empty)
    let document = RequestDocument.make(changed)
    document["body"] = ["json": ["name": "a"]]
    try RequestDocument.update(&changed, from: document, bodyWasFilled: true)
    let index = try #require(changed.headers.indices.first { changed.headers.name(at: $0) == "content-type" })
    #expect(changed.headers.value(at: index) == "application/json")
    // Because the field has no mark, it is kept together with the body when a redirect leads to another origin.
    #expect(changed.headers.marks(at: index) == [])
    #expect(changed.body.bytes == Array(#"{"name":"a"}"#.utf8))
  }

  @Test func `a content type that a stage removes from a document stays removed`() throws {
    var changed = try sample(.text("{}"))
    changed.headers["content-type"] = "application/json"
    let document = RequestDocument.make(changed, body: .parsed)
    document["headers"]?["content-type"] = nil
    BodyDocument.nameMediaType(in: document, original: changed.headers)
    try RequestDocument.update(&changed, from: document, bodyWasFilled: true)
    #expect(changed.headers["content-type"] == nil)
  }

  @Test func `the next stage sees the media type of a JSON body in the live document`() throws {
    let document = try JSONValue(parsing: #"{"body": {"json": 1}}"#)
    BodyDocument.nameMediaType(in: document, original: [:])
    #expect(document == ["headers": ["content-type": "application/json"], "body": ["json": 1]])
    let invalid = try JSONValue(parsing: #"{"headers": 5, "body": {"json": 1}}"#)
    BodyDocument.nameMediaType(in: invalid, original: [:])
    #expect(invalid["headers"] == 5)
  }

  @Test func `a value becomes a JSON body that names its media type`() throws {
    struct Item: Encodable { let name: String }
    let url = HTTPURL("http://h/")
    let request = Request(url: url, body: try .json(Item(name: "a")))
    #expect(request.method == "POST" && request.headers == ["content-type": "application/json"])
    #expect(request.body.bytes == Array(#"{"name":"a"}"#.utf8))
    let mixed = Request(
      method: "PATCH", url: url, headers: ["Content-Type": "application/merge-patch+json"],
      body: try .json(["name": "b", "count": 1]))
    #expect(mixed.method == "PATCH" && mixed.headers == ["Content-Type": "application/merge-patch+json"])
    var response = Response(status: 200, body: try .json([1, 2]))
    #expect(response.headers == ["content-type": "application/json"] && response.body.bytes == Array("[1,2]".utf8))
    response.setBody(TypedBody(.text("x"), contentType: "text/plain"))
    #expect(response.headers == ["content-type": "application/json"] && response.body.bytes == Array("x".utf8))
  }

  private func sample(_ body: Body = .text("x")) throws -> Request {
    var headers: HeaderFields = ["accept": "text/html"]
    headers.append("authorization", "secret", marks: .sensitive)
    return Request(url: HTTPURL("http://h/"), headers: headers, body: body)
  }

  @Test func `a document that no stage has changed changes nothing in the request, not even marks`() throws {
    let original = try sample()
    var changed = original
    try RequestDocument.update(&changed, from: RequestDocument.make(original), bodyWasFilled: true)
    #expect(changed.headers == original.headers)
    #expect(changed.headers.marks(at: 0) == [])
    #expect(changed.headers.marks(at: 1) == .sensitive)
    #expect(changed.body.bytes == original.body.bytes)
  }

  @Test func `a new field is marked as added, and a changed secret stays a secret`() throws {
    var changed = try sample()
    let document = RequestDocument.make(changed)
    document["headers"]?["x-new"] = "1"
    document["headers"]?["authorization"] = "other"
    try RequestDocument.update(&changed, from: document, bodyWasFilled: true)
    let marks = Dictionary(
      uniqueKeysWithValues: changed.headers.indices.map {
        (changed.headers.name(at: $0), changed.headers.marks(at: $0))
      })
    #expect(marks == ["accept": [], "authorization": [.sensitive, .addedByStage], "x-new": .addedByStage])
  }

  @Test func `a document without a body removes the request's body only if the document had that body before`() throws {
    var kept = try sample()
    try RequestDocument.update(&kept, from: RequestDocument.make(kept, body: .none), bodyWasFilled: false)
    #expect(kept.body.bytes == Array("x".utf8))
    let document = RequestDocument.make(kept)
    document["body"] = nil
    try RequestDocument.update(&kept, from: document, bodyWasFilled: true)
    #expect(kept.body.isEmpty)
  }

  @Test func `a file that the document still names stays the same object, and a streamed body does not change`()
    throws
  {
    let file = FileBody(path: "/no/such/file", byteCount: 3)
    var request = try sample(.file(file))
    try RequestDocument.update(&request, from: RequestDocument.make(request), bodyWasFilled: true)
    guard case .file(let after) = request.body else {
      Issue.record("the body is no longer a file")
      return
    }
    #expect(after === file)
    request.body = .stream(BodyStream { _ in nil })
    try RequestDocument.update(&request, from: RequestDocument.make(request), bodyWasFilled: true)
    #expect(!request.body.isReplayable)
  }

  @Test func `unknown keys in a live document are ignored, but header names must be in lower case`() throws {
    var request = try sample()
    let document = RequestDocument.make(request)
    document["note"] = "from a plugin"
    try RequestDocument.update(&request, from: document, bodyWasFilled: true)
    document["headers"]?["X-Upper"] = "1"
    #expect {
      try RequestDocument.update(&request, from: document, bodyWasFilled: true)
    } throws: { "\($0)" == #""/headers/X-Upper": expected the header name in lower case"# }
  }

  @Test func `a document that is no longer a valid request does not change the request`() throws {
    var request = try sample()
    let document = RequestDocument.make(request)
    document["method"] = "PUT"
    document["headers"] = 5
    #expect(throws: MessageError.self) {
      try RequestDocument.update(&request, from: document, bodyWasFilled: true)
    }
    #expect(request.method == "GET")
  }
}
