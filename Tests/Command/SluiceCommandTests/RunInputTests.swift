import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Lines that are not requests. Each gets an error result, and the run continues.
@Suite struct RunInputTests {
  @Test(arguments: [
    ("hello", "not JSON"), (#"{"url": "#, "not JSON"), (#"["a"]"#, "expected an object"),
    (#"{"method": "GET"}"#, "missing key \"url\""), (#"{"url": 7}"#, "\"/url\""),
    (#"{"url": "http://h/", "headers": {"a": "b\r\nc"}}"#, "header \"a\""),
    (#"{"url": "http://h/", "headers": {"a b": "c"}}"#, "not a field name"),
    (#"{"url": "ftp://h/"}"#, "scheme \"ftp\" is not supported"), (#"{"url": "/relative"}"#, "not absolute"),
    (#"{"url": "http://💩.example/"}"#, "its host \"💩.example\""), (#"{"url": "ht!tp://x"}"#, "is not a scheme"),
    (#"{"url": "http://h/", "body": {"base64": "a?"}}"#, "not base64"),
    (#"{"url": "http://h/", "body": {"file": "/nonexistent"}}"#, "cannot read /nonexistent"),
    (#"{"url": "http://h/", "body": {"json": 12345678901234567890}}"#, "an integer of more than 64 bits"),
    (#"{"url": "http://h/", "body": {"json": [1e400]}}"#, "write the body as \"text\""),
    (#"{"url": "http://h/", "methd": "GET"}"#, "methd"), (#"{"url": "http://h/", "url": "http://i/"}"#, "not JSON"),
    (#"{"url": "http://h/", "timeout": "soon"}"#, "expected a number above 0"),
    (#"{"url": "http://h/", "id": {}}"#, "expected a string, a number"),
    (#"{"url": "http://h/", "method": "G T"}"#, "not a token"),
    (#"{"url": "http://h/", "method": "CONNECT"}"#, "method \"CONNECT\""),
    (#"{"url": "http://h/", "headers": {"host": ["a", "b"]}}"#, "header \"host\": the request has more than one"),
  ])
  func `the error of a bad line says what was expected, and the next line runs`(
    _ line: String, _ message: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run(
      "run", "-q", input: "\n\(line)\n{\"id\": \"good\", \"url\": \"\(server.baseURL)\"}\n")
    let documents = try result.documents
    let bad = try #require(documents.first { $0["id"]?.integer == 2 })
    #expect(bad.errorCode == "invalid_request")
    #expect(bad.errorMessage?.hasPrefix("line 2: ") == true)
    #expect(bad.errorMessage?.contains(message) == true)
    #expect(bad["attempts"]?.integer == 0)
    #expect(documents.first { $0["id"]?.string == "good" }?.status == 200)
    #expect(documents.count == 2)
    #expect(result.status == 1)
  }

  @Test func `the error result of a bad line with an id has this id`() async throws {
    let documents = try await Tool.run("run", "-q", input: #"{"id": "mine", "method": "GET"}"#).documents
    #expect(documents.first?["id"]?.string == "mine")
  }

  @Test(arguments: ["20.50", "1e3", "-0", "1.0", "1E-2", "-7", "9007199254740993", "0.1e1", "9223372036854775807"])
  func `a result has the id that was given, with the same spelling, and a resumed run recognizes it`(
    _ id: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let input = try folder.write(
      #"{"body": {"json": {"id": 1.50}}, "id" : \#(id) , "url": "\#(server.baseURL)"}"# + "\n"
        + #"{"id": \#(id), "url": "nope:"}"# + "\n", to: "in")
    let output = folder.path("out")
    for _ in 0..<2 {
      let result = try await Tool.run("run", "-q", "--resume", "-i", input, "-o", output)
      #expect(result.status == 1, "\(result.errorText)")
      let lines = try FileTree.readText(output).split(separator: "\n")
      #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix(#"{"id":\#(id),"line":"#) }, "\(lines)")
    }
    #expect(server.requestCount == 1)
  }

  @Test func `a body beyond the limit gets an error, even if it comes from a file`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"maxRequestBytes": 10}}"#, to: "c.json")
    let large = try folder.write("twelve bytes", to: "large")
    let text = """
      {"url": "\(server.baseURL)", "body": {"text": "eleven byte"}}
      {"url": "\(server.baseURL)", "body": {"file": "\(large)"}}
      """
    let documents = try await Tool.run("run", "-q", "-c", file, input: text).documents
    #expect(documents.count == 2)
    for document in documents {
      #expect(document.errorMessage?.contains("transport.maxRequestBytes allows 10") == true)
    }
  }

  @Test func `a line of 50 MB runs if the limit allows it, and otherwise gets an error`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let line =
      #"{"id":"big","method":"POST","url":"\#(server.baseURL)","body":{"text":"\#(String(repeating: "x", count: 50_000_000))"}}"#
    let text = line + "\n" + #"{"id":"small","url":"\#(server.baseURL)"}"# + "\n"
    let allowed = try await Tool.run("run", "-q", input: text)
    #expect(allowed.status == 0)
    #expect(try allowed.documents.count == 2)
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"maxRequestBytes": 1000000}}"#, to: "c.json")
    let refused = try await Tool.run("run", "-q", "-c", file, input: text)
    #expect(refused.status == 1)
    let documents = try refused.documents
    #expect(documents.first { $0["id"]?.integer == 1 }?.errorMessage?.contains("transport.maxRequestBytes") == true)
    #expect(documents.first { $0["id"]?.string == "small" }?.status == 200)
  }

  @Test func `a network failure gives a result with a code, the cause and advice`() async throws {
    let garbage = try ScriptedServer(.receiveHead, .send("SSH-2.0-x\r\n"))
    defer { garbage.stop() }
    let cut = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
    defer { cut.stop() }
    let clear = try ScriptedServer(.receive(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"))
    defer { clear.stop() }
    let large = try LoopbackServer { _ in .text(String(repeating: "x", count: 5000)) }
    defer { large.stop() }
    let cases = [
      ("dns", "http://no-such-host.invalid/", "cannot resolve \"no-such-host.invalid\"", "check the name"),
      ("connect", "http://127.0.0.1:1/", "http://127.0.0.1:1/: ", "check host and port"),
      ("invalid_response", garbage.baseURL, "not HTTP", "leads to an HTTP server"),
      ("connection_lost", cut.baseURL, "in the middle of the response", "the server's log"),
      ("response_too_large", large.baseURL, "larger than the 1000 bytes", "raise transport.maxResponseBytes"),
      ("tls", "https://127.0.0.1:\(clear.port)", "https://127.0.0.1:", "speaks TLS on this port"),
    ]
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"maxResponseBytes": 1000}}"#, to: "c.json")
    let text = cases.map { #"{"id": "\#($0.0)", "url": "\#($0.1)"}"# + "\n" }.joined()
    let result = try await Tool.run("run", "-q", "-c", file, input: text)
    #expect(result.status == 1)
    let documents = try result.documents
    #expect(documents.count == cases.count)
    for (code, _, happened, advice) in cases {
      let document = try #require(documents.first { $0["id"]?.string == code })
      #expect(document.errorCode == code)
      #expect(document.errorMessage?.contains(happened) == true, "\(document)")
      #expect(document.errorMessage?.contains(advice) == true, "\(document)")
    }
  }

  @Test(arguments: ["-o", "--events"], ["in.jsonl", "link", "hard-link"])
  func `if the output file is also the input, run ends with status 2, and the file does not change`(
    _ option: String, _ name: String
  ) async throws {
    let folder = try TemporaryDirectory()
    let text = #"{"url": "http://127.0.0.1:1/"}"# + "\n"
    let input = try folder.write(text, to: "in.jsonl")
    try #require(symlink(input, folder.path("link")) == 0 && link(input, folder.path("hard-link")) == 0)
    let output = folder.path(name)
    let result = try await Tool.run("run", "-q", "-i", input, option, output)
    #expect(result.status == 2)
    #expect(result.errorText.contains("\(output) is also the input; name another output"))
    #expect(result.outputText.isEmpty)
    #expect(try FileTree.readText(input) == text)
  }

  @Test func `if standard output is also the input, run ends with status 2`() async throws {
    let folder = try TemporaryDirectory()
    let text = #"{"url": "http://127.0.0.1:1/"}"# + "\n"
    let input = try folder.write(text, to: "in.jsonl")
    let result = try await Command.run("sh", ["-c", "exec \(Tool.path) run -q <\(input) >>\(input)"])
    #expect(result.status == 2)
    #expect(result.errorText.contains("standard output is also the input"))
    #expect(try FileTree.readText(input) == text)
  }

  @Test func `an existing output file is emptied`() async throws {
    let folder = try TemporaryDirectory()
    let input = try folder.write("bad\n", to: "in.jsonl")
    let output = try folder.write(String(repeating: "old\n", count: 1000), to: "out.jsonl")
    #expect(try await Tool.run("run", "-q", "-i", input, "-o", output).status == 1)
    let lines = try FileTree.readText(output).split(separator: "\n")
    #expect(lines.count == 1 && lines.allSatisfy { $0.contains("invalid_request") })
  }

  @Test func `a missing input ends run with status 2`() async throws {
    let result = try await Tool.run("run", "-i", "/nonexistent")
    #expect(result.status == 2)
    #expect(result.errorText.contains("cannot read /nonexistent"))
  }
}
