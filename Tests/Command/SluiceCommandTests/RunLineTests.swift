import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The forms of a line of `sluice run`, the options for all lines, and the bodies of the results.
@Suite struct RunLineTests {
  @Test func `a line can be a URL`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"baseURL": "\#(server.baseURL)/v1/"}}"#, to: "c.json")
    let scheme = server.baseURL.replacing("http:", with: "HTTP:")
    let input = "\(server.baseURL)/a?b=c\n\n \t\(scheme)/d \r\n/e\n{\"url\": \"f\"}\n"
    let result = try await Tool.run("run", "-q", "--concurrency", "1", "-c", file, input: input)
    #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
    #expect(server.requests.map(\.target) == ["/a?b=c", "/d", "/e", "/v1/f"])
    #expect(try result.documents.map { $0["id"]?.integer } == [1, 3, 4, 5])
  }

  @Test(arguments: [
    ("http://", "names no host"), ("http://a b/", "URL"), ("/no-base", "not absolute"), ("https", "not JSON"),
    ("hello", "not JSON"),
    ("ftp://127.0.0.1/", "not JSON"),
  ])
  func `a line that is neither a document nor a URL is an error that names it`(
    _ line: String, _ words: String
  ) async throws {
    let result = try await Tool.run("run", "-q", input: line + "\n")
    #expect(result.status == 1)
    let message = try #require(try result.documents.first?.errorMessage)
    #expect(message.hasPrefix("line 1: ") && message.contains(words), "\(message)")
  }

  @Test func `a line that begins like a URL and is not UTF-8 is an error`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(Array("http://127.0.0.1/".utf8) + [0xFF, 0x0A], to: "in")
    let result = try await Tool.run("run", "-q", "-i", file)
    #expect(result.status == 1)
    #expect(try result.documents.first?.errorMessage?.hasPrefix("line 1: ") == true)
  }

  @Test func `a method and headers for all lines give way to those of a line`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let more = try folder.write("X-Two: 2\r\n# a comment\n", to: "more")
    let input = """
      \(server.baseURL)/plain
      {"url": "\(server.baseURL)/own", "method": "DELETE", "headers": {"x-one": "mine"}}
      {"url": "\(server.baseURL)/body", "body": {"text": "a"}}

      """
    let result = try await Tool.run(
      "run", "-q", "--concurrency", "1", "-X", "PUT", "-H", "X-One: 1", "-H", "@\(more)", "-H", "User-Agent:",
      input: input)
    #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
    #expect(server.requests.map { "\($0.method) \($0.target)" } == ["PUT /plain", "DELETE /own", "PUT /body"])
    #expect(server.requests.map { $0.headers.first("x-one") } == ["1", "mine", "1"])
    #expect(server.requests.allSatisfy { $0.headers.first("x-two") == "2" && $0.headers.first("user-agent") == nil })
  }

  @Test(arguments: [
    (["-X", "A B"], "method"), (["-H", "no colon"], "-H: expected \"NAME: VALUE\""), (["-H", "a b: c"], "header"),
    (["-H", "Host:"], "\"Host\" cannot be removed"), (["-H", "@/nowhere"], "-H: cannot read /nowhere"),
    (["requests.jsonl"], "name the file of requests with -i, and the configuration with -c"),
  ])
  func `wrong options for all lines are refused before anything is read`(
    _ options: [String], _ words: String
  ) async throws {
    let result = try await Tool.run(arguments: ["run"] + options)
    #expect(result.status == 2 && result.errorText.contains(words), "\(result.errorText)")
  }

  @Test func `with --json-bodies a body that is JSON is JSON in the result`() async throws {
    let bodies = [
      "/number": ("application/json", #"{ "a": [1.10, 1E2, "\u00fc x"] }"#),
      "/suffix": ("application/x+json; a=b", "[]"),
      "/text": ("text/plain", "[]"), "/broken": ("application/json", "{"), "/empty": ("application/json", ""),
      "/twice": ("application/json", #"{"a": 1, "a": 2}"#), "/scalar": ("application/json", " true\n"),
    ]
    let server = try LoopbackServer { request in
      let (type, text) = bodies[request.target] ?? ("", "")
      return ServerResponse(headers: [HeaderLine("Content-Type", type)], body: .bytes(Array(text.utf8)))
    }
    defer { server.stop() }
    let paths = bodies.keys.sorted()
    let input = paths.map { "\(server.baseURL)\($0)\n" }.joined()
    let result = try await Tool.run("run", "-q", "--concurrency", "1", "--json-bodies", input: input)
    #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
    let lines = result.outputText.split(separator: "\n").map(String.init)
    let found = zip(paths, lines).map { path, line -> String in
      let body = line.firstRange(of: "\"body\":").map { line[$0.upperBound...] } ?? ""
      return path + " " + body.prefix { $0 != "}" }
    }
    #expect(
      found == [
        #"/broken {"unreadable":"line 1, column 1: not JSON: it ends too early","text":"{""#, "/empty ",
        #"/number {"json":{"a":[1.10,1E2,"\u00fc x"]"#, #"/scalar {"json":true"#, #"/suffix {"json":[]"#,
        #"/text {"text":"[]""#,
        #"/twice {"unreadable":"line 1, column 12: a duplicate member","text":"{\"a\": 1, \"a\": 2"#,
      ], "\(found)")
    let sent = try await Tool.run("send", "--document", "--json-bodies", server.baseURL + "/number")
    #expect(sent.outputText.contains(#""body":{"json":{"a":[1.10,1E2,"\u00fc x"]}}"#), "\(sent.outputText)")
  }
}
