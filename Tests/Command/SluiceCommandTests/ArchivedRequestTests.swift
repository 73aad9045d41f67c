import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `run --from-har`: the requests of an HTTP Archive.
@Suite struct ArchivedRequestTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private static func archive(_ entries: String..., creator: String = "test") -> String {
    #"{"log": {"version": "1.2", "creator": {"name": "\#(creator)", "version": "1"}, "entries": ["#
      + entries.joined(separator: ", ") + "]}}"
  }

  private func run(_ text: String, _ words: String...) async throws -> CommandResult {
    let path = try folder.write(text, to: "in.har")
    return try await Tool.run(arguments: ["run", "--concurrency", "1", "--from-har", path] + words)
  }

  private func text(of request: ServerRequest) -> String { String(decoding: request.body, as: UTF8.self) }

  // MARK: Archives of other programs

  @Test(arguments: ["charles", "chrome", "fiddler", "firefox", "mitmproxy", "playwright", "safari"])
  func `the requests of another program's archive are sent as expected`(_ name: String) async throws {
    let server = try LoopbackServer { request in
      request.target == "/start"
        ? ServerResponse(status: 302, headers: [HeaderLine("Location", "/home?x=1")]) : .text("ok")
    }
    defer { server.stop() }
    let host = "127.0.0.1:\(server.port)"
    let cases = RepositoryRoot.path("Tests/Fixtures/Cases/har/\(name)")
    let expected = try JSONValue(
      parsing: FileTree.readText("\(cases).expected.json").replacing("{host}", with: host))
    let archive = try FileTree.readText("\(cases).har").replacing("server.example", with: host)
    let result = try await run(archive)
    let requests = expected["requests"].map { Array($0.elements) } ?? []
    try #require(server.requests.count == requests.count, "\(result.outputText)\(result.errorText)")
    for (request, expected) in zip(server.requests, requests) { try expect(request, expected) }
    let errors = try result.documents.compactMap(\.errorMessage)
    #expect(errors == expected["errors"].map { $0.elements.compactMap(\.string) } ?? [])
    for message in expected["messages"]?.elements.compactMap(\.string) ?? [] {
      #expect(result.errorText.contains(message), "\(result.errorText)")
    }
    #expect(result.status == (errors.isEmpty ? 0 : 1))
  }

  private func expect(_ request: ServerRequest, _ expected: JSONValue) throws {
    #expect(request.method == expected["method"]?.string && request.target == expected["target"]?.string)
    for (name, value) in expected["headers"]?.members.map({ $0 }) ?? [] {
      #expect(request.headers.first(name) == value.string, "\(name)")
    }
    for name in expected["absent"]?.elements.compactMap(\.string) ?? [] {
      #expect(request.headers.first(name) == nil, "\(name)")
    }
    let body =
      expected["base64"]?.string.flatMap { Base64.decode(Array($0.utf8)) }
      ?? expected["body"]?.string.map { Array($0.utf8) }
    #expect(request.body == body)
  }

  // MARK: Archives that --har has written

  @Test func `each request that --har has written is sent again once`() async throws {
    let failures = Watched(1)
    let server = try LoopbackServer { request in
      switch request.target {
      case "/a": return ServerResponse(status: 307, headers: [HeaderLine("Location", "/b")])
      case "/busy"
      where failures.update({ left in
        left -= 1
        return left >= 0
      }): return ServerResponse(status: 503, headers: [HeaderLine("Retry-After", "0")])
      default: return .text("ok")
      }
    }
    defer { server.stop() }
    let config = try folder.write(#"{"retry": {"statuses": [503]}}"#, to: "c.json")
    let lines = [
      #"{"method": "PUT", "url": "\#(server.baseURL)/a", "body": {"base64": "/wBB"}}"#,
      #"{"url": "\#(server.baseURL)/busy", "headers": {"x-a": ["1", "2"]}}"#,
    ]
    let path = folder.path("out.har")
    let first = try await Tool.run(
      "run", "-q", "-c", config, "--concurrency", "1", "--har", path, input: lines.joined(separator: "\n"))
    #expect(first.status == 0, "\(first.errorText)")
    let sent = server.requests
    #expect(sent.map(\.target) == ["/a", "/b", "/busy", "/busy"])
    let again = try await Tool.run("run", "--concurrency", "1", "--from-har", path)
    #expect(again.status == 0, "\(again.errorText)")
    let repeated = Array(server.requests.dropFirst(sent.count))
    #expect(repeated.map(\.target) == ["/a", "/b", "/busy"])
    #expect(repeated.map(\.body) == sent.prefix(3).map(\.body))
    #expect(repeated.last?.headers.filter { $0.isNamed("x-a") }.map(\.value) == ["1", "2"])
    #expect(try again.documents.compactMap { $0["line"]?.integer } == [1, 3])
    #expect(again.errorText.contains("1 entry after a redirect"), "\(again.errorText)")
    #expect(again.errorText.contains("1 entry of retries and challenges"))
  }

  @Test func `REDACTED headers are left out with a warning, but REDACTED in a URL or a form is an error`() async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let url = server.baseURL
    let headers =
      #""headers": [{"name": "authorization", "value": "REDACTED"}, {"name": "referer", "value": "http://a/?sig=REDACTED"}]"#
    let form = #""postData": {"mimeType": "application/x-www-form-urlencoded", "text": "a=1&password=REDACTED"}"#
    let params = #""postData": {"params": [{"name": "password", "value": "REDACTED"}]}"#
    let result = try await run(
      Self.archive(
        #"{"request": {"method": "GET", "url": "\#(url)/a", \#(headers), "cookies": [{"name": "a", "value": "REDACTED"}]}}"#,
        #"{"request": {"method": "GET", "url": "\#(url)/b?sig=REDACTED"}}"#,
        #"{"request": {"method": "GET", "url": "\#(url.replacing("http://", with: "http://REDACTED:REDACTED@"))/c"}}"#,
        #"{"request": {"method": "POST", "url": "\#(url)/d", \#(form)}}"#,
        #"{"request": {"method": "POST", "url": "\#(url)/d", \#(params)}}"#,
        #"{"request": {"method": "GET", "url": "\#(url)/e?a=REDACTED-not"}}"#), "-q")
    #expect(server.requests.map(\.target) == ["/a", "/e?a=REDACTED-not"])
    #expect(server.requests.first?.headers.first("authorization") == nil)
    #expect(server.requests.first?.headers.first("cookie") == nil)
    #expect(result.errorText.contains("left out 3 headers or cookies whose values are REDACTED"), "\(result.errorText)")
    let errors = try result.documents.compactMap(\.errorMessage)
    let reason = "a secret in it was replaced by REDACTED; put the secret back"
    #expect(
      errors == [
        "log.entries[1].request.url: \(reason)", "log.entries[2].request.url: \(reason)",
        "log.entries[3].request.postData: \(reason)", "log.entries[4].request.postData: \(reason)",
      ])
    #expect(try result.documents.allSatisfy { $0.errorCode == nil || $0.errorCode == "invalid_request" })
  }

  // MARK: Mistakes

  @Test(arguments: [
    ("5", "log.entries[0].request: expected an object, found nothing"),
    (#"{"request": []}"#, "log.entries[0].request: expected an object, found array"),
    (#"{"request": {"method": "GET"}}"#, "log.entries[0].request.url: expected a string, found nothing"),
    (#"{"request": {"method": "GET", "url": 5}}"#, "log.entries[0].request.url: expected a string, found integer"),
    (#"{"request": {"method": "GET", "url": "/a"}}"#, "log.entries[0].request.url: "),
    (#"{"request": {"method": "GET", "url": "http://a b/"}}"#, "log.entries[0].request.url: "),
    (#"{"request": {"url": "http://a/"}}"#, "log.entries[0].request.method: expected a string"),
    (#"{"request": {"method": "A B", "url": "http://a/"}}"#, "log.entries[0].request.method: "),
    (#"{"request": {"method": "CONNECT", "url": "http://a/"}}"#, "log.entries[0].request.method: "),
    (
      #"{"request": {"method": "GET", "url": "http://a/", "headers": {}}}"#,
      "log.entries[0].request.headers: expected an array"
    ),
    (
      #"{"request": {"method": "GET", "url": "http://a/", "headers": [{"name": "a", "value": "b"}, 5]}}"#,
      "log.entries[0].request.headers[1].name: expected a string"
    ),
    (
      #"{"request": {"method": "GET", "url": "http://a/", "headers": [{"name": "a", "value": "b\r\nc: d"}]}}"#,
      "log.entries[0].request.headers[0]: "
    ),
    (
      #"{"request": {"method": "GET", "url": "http://a/", "headers": [{"name": "a\u0000", "value": "b"}]}}"#,
      "log.entries[0].request.headers[0]: "
    ),
    (
      #"{"request": {"method": "GET", "url": "http://a/", "cookies": [{"name": "a", "value": "\n"}]}}"#,
      "log.entries[0].request.cookies: "
    ),
    (
      #"{"request": {"method": "PUT", "url": "http://a/", "postData": "x"}}"#,
      "log.entries[0].request.postData: expected an object"
    ),
    (
      #"{"request": {"method": "PUT", "url": "http://a/", "postData": {"text": 5}}}"#,
      "log.entries[0].request.postData.text: expected a string, found integer"
    ),
    (
      #"{"request": {"method": "PUT", "url": "http://a/", "postData": {"text": "?", "encoding": "base64"}}}"#,
      "log.entries[0].request.postData: text is not base64"
    ),
    (
      #"{"request": {"method": "PUT", "url": "http://a/", "bodySize": 1}}"#,
      "log.entries[0].request.postData: the archive does not have the 1 bytes"
    ),
    (
      #"{"request": {"method": "PUT", "url": "http://a/", "postData": {"mimeType": "a\nb", "text": "c"}}}"#,
      "log.entries[0].request.postData.mimeType: "
    ),
  ])
  func `an entry that is not a request gets an error that names its place, and the run continues`(
    _ entry: String, _ message: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await run(
      Self.archive(entry, #"{"request": {"method": "GET", "url": "\#(server.baseURL)/next"}}"#), "-q")
    #expect(result.status == 1)
    let documents = try result.documents
    #expect(documents.first?.errorCode == "invalid_request" && documents.first?["line"] == 1)
    #expect(documents.first?.errorMessage?.hasPrefix(message) == true, "\(documents.first?.errorMessage ?? "none")")
    #expect(documents.count == 2 && server.requests.map(\.target) == ["/next"])
  }

  @Test(arguments: [
    ("", "not JSON"), ("[]", "log.entries: expected an array, found nothing"), ("{\"log\": {}}", "log.entries"),
    (#"{"log": {"entries": {}}}"#, "log.entries: expected an array, found object"), ("{\n\"log\"", "line 2, column 5"),
    (#"{"log": {"entries": [{"a": "\u12"#, "line 1"),
    (String(repeating: "[", count: 100_000), "nested deeper than 2048 levels"),
  ])
  func `if the file is not an archive, run names the place of the mistake and ends with status 2`(
    _ text: String, _ message: String
  ) async throws {
    let result = try await run(text)
    #expect(result.status == 2 && result.outputText.isEmpty)
    #expect(result.errorText.contains("in.har: ") && result.errorText.contains(message), "\(result.errorText)")
  }

  @Test func `a file that is too large is refused`() async throws {
    let path = try folder.writeSparse(byteCount: 257 << 20, to: "large.har")
    let result = try await Tool.run("run", "--from-har", path)
    #expect(result.status == 2 && result.errorText.contains("larger than \(256 << 20) bytes"), "\(result.errorText)")
  }

  @Test func `a body that is too large is an error of its entry`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let config = try folder.write(#"{"transport": {"maxRequestBytes": 10}}"#, to: "c.json")
    let bodies = [11, 2 << 20].map { String(repeating: "x", count: $0) }
    let entries = bodies.map {
      #"{"request": {"method": "PUT", "url": "\#(server.baseURL)/", "postData": {"text": "\#($0)"}}}"#
    }
    let result = try await run(Self.archive(entries[0], entries[1]), "-q", "-c", config)
    let errors = try result.documents.compactMap(\.errorMessage)
    #expect(errors.count == 2 && server.requestCount == 0)
    #expect(errors.first?.hasPrefix("log.entries[0].request: body: it has 11 bytes") == true, "\(errors)")
    #expect(errors.last?.hasPrefix("log.entries[1].request: longer than") == true, "\(errors)")
  }

  // MARK: Together with other options

  @Test func `a run of an archive can be resumed`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let entries = ["a", "b", "data:", "c"].map { name in
      let url = name.hasSuffix(":") ? "data:," : "\(server.baseURL)/\(name)"
      return #"{"request": {"method": "GET", "url": "\#(url)"}}"#
    }
    let output = folder.path("out.jsonl")
    let archive = Self.archive(entries[0], entries[1], entries[2], entries[3])
    #expect(try await run(archive, "-q", "-o", output).status == 0)
    let lines = try FileTree.readText(output).split(separator: "\n")
    try #require(lines.count == 3)
    try folder.write("\(lines[0])\n\(lines[2])\n", to: "out.jsonl")
    let resumed = try await run(archive, "-q", "--resume", "-o", output)
    #expect(resumed.status == 0, "\(resumed.errorText)")
    #expect(server.requests.map(\.target) == ["/a", "/b", "/c", "/b"])
    #expect(try FileTree.readText(output).split(separator: "\n").count == 3)
  }

  @Test func `the recorded hops of a redirect are all sent, even if the run follows no redirects`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/a" ? ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")]) : .text("ok")
    }
    defer { server.stop() }
    let config = try folder.write(#"{"redirects": {"max": 0}}"#, to: "c.json")
    let entries = ["a", "b"].map { name in
      #"{"request": {"method": "GET", "url": "\#(server.baseURL)/\#(name)"}, "response": {"status": 302, "redirectURL": "b"}}"#
    }
    let archive = Self.archive(entries[0], entries[1])
    #expect(try await run(archive, "-q", "-c", config).status == 0)
    #expect(server.requests.map(\.target) == ["/a", "/b"])
    #expect(try await run(archive, "-q").status == 0)
    #expect(server.requests.map(\.target) == ["/a", "/b", "/a", "/b"])
  }

  @Test func `--from-har refuses --input, and an output that would overwrite the archive`() async throws {
    let path = try folder.write(Self.archive(), to: "in.har")
    for words in [["--input", "-"], ["-o", path], ["--har", path], ["-o", path, "--resume"]] {
      let result = try await Tool.run(arguments: ["run", "--from-har", path] + words)
      #expect(result.status == 2, "\(words): \(result.errorText)")
    }
    #expect(try FileTree.readText(path) == Self.archive())
  }
}
