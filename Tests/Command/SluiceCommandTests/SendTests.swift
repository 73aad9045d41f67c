import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// `sluice send` against a real server.
@Suite struct SendTests {
  @Test func `the body goes to standard output, and there is no other output`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("send", server.baseURL + "/a?b=c")
    #expect(result.status == 0)
    #expect(result.outputText == "ok\n")
    #expect(result.errorText.isEmpty)
    #expect(server.requests.first?.target == "/a?b=c")
  }

  @Test func `with --head no body is shown, even if a stage has set one`() async throws {
    let product = try await PluginCompiler.compile("answers")
    chmod(product.path, 0o755)
    let result = try await Tool.run(
      "send", "-I", "--plugin", product.path, "-H", "x-answer: respond", "http://127.0.0.1:1/")
    #expect(result.status == 0 && result.outputText.lowercased().contains("x-made: here"), "\(result.errorText)")
    #expect(result.outputText.hasSuffix("\n\n") || result.outputText.hasSuffix("\r\n\r\n"), "\(result.outputText)")
    withExtendedLifetime(product) {}
  }

  @Test func `several -d options are joined by ampersands and sent as a form by POST`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    _ = try await Tool.run("send", server.baseURL, "-d", "a=1", "-d@-", input: "b=2\r\n")
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(String(decoding: request.body, as: UTF8.self) == "a=1&b=2")
    #expect(request.headers.first("content-type") == "application/x-www-form-urlencoded")
  }

  @Test func `bytes of the command line that are not UTF-8 are sent unchanged`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    // A shell makes these bytes, because a test can pass only strings as arguments.
    let script = #"exec "$0" send -s -u "$(printf 'u:\374')" -d "$(printf 'a=\351')" "$1""#
    let result = try await Command.run("sh", ["-c", script, Tool.path, server.baseURL], environment: Tool.cleared)
    #expect(result.status == 0, "\(result.errorText)")
    let request = try #require(server.requests.first)
    #expect(request.body == Array("a=".utf8) + [0xE9])
    #expect(request.headers.first("authorization") == "Basic dTr8")
  }

  @Test func `--data-binary sends a file unchanged, with the caller's headers`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write([0, 10, 13, 255], to: "body")
    _ = try await Tool.run(
      "send", "PUT", server.baseURL, "--data-binary", "@\(file)", "-H", "Content-Type: a/b", "-HX-Empty;")
    let request = try #require(server.requests.first)
    #expect(request.method == "PUT")
    #expect(request.body == [0, 10, 13, 255])
    #expect(request.headers.first("content-type") == "a/b")
    #expect(request.headers.first("x-empty") == "")
  }

  @Test func `-H with a name and no value removes a header, even if it is sent by default`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    _ = try await Tool.run(
      "send", server.baseURL, "-d", "a=1", "-H", "X-A: 1", "-H", "accept:", "-H", "Accept-Encoding: ", "-HX-A:",
      "-H", "Content-Type:")
    _ = try await Tool.run("send", server.baseURL, "-H", "Accept:", "-H", "Accept: a/b")
    let names = server.requests.map { request in Set(request.headers.map { $0.name.lowercased() }) }
    try #require(names.count == 2)
    #expect(names[0].isDisjoint(with: ["x-a", "accept", "accept-encoding", "content-type"]))
    #expect(names[0].isSuperset(of: ["host", "content-length"]))
    #expect(server.requests[1].headers.first("accept") == "a/b")
  }

  @Test func `by default, a request has a User-Agent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let other = try folder.write(#"{"transport": {"userAgent": "shop/2"}}"#, to: "other.json")
    let nobody = try folder.write(#"{"transport": {"userAgent": ""}}"#, to: "nobody.json")
    _ = try await Tool.run("send", server.baseURL)
    _ = try await Tool.run("send", server.baseURL, "-H", "user-agent: mine")
    _ = try await Tool.run("send", server.baseURL, "-H", "User-Agent:")
    _ = try await Tool.run("send", "-c", other, server.baseURL)
    _ = try await Tool.run("send", "-c", nobody, server.baseURL)
    let agents = server.requests.map { $0.headers.first("user-agent") }
    #expect(agents == ["sluice/\(VersionCommand.version)", "mine", nil, "shop/2", nil])
  }

  @Test func `for an HTTP error, send prints head and body and ends with status 22`() async throws {
    let server = try LoopbackServer { _ in .text("no such thing", status: 404) }
    defer { server.stop() }
    let result = try await Tool.run("send", "-i", server.baseURL)
    #expect(result.status == 22)
    #expect(result.outputText.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    #expect(result.outputText.hasSuffix("\r\n\r\nno such thing"))
    #expect(result.errorText.hasPrefix("sluice: http_status: "))
    let silent = try await Tool.run("send", "-s", server.baseURL)
    #expect(silent.status == 22)
    #expect(silent.errorText.isEmpty)
  }

  @Test func `the body of a response that is retried does not appear in the output`() async throws {
    let isFirst = Watched(true)
    let server = try LoopbackServer { _ in
      let isBusy = isFirst.update { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      return isBusy ? .text("busy", status: 503) : .text("well")
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      #"{"retry": {"statuses": [503], "backoff": {"base": "1ms", "max": "1ms"}}}"#, to: "c.json")
    let result = try await Tool.run("send", "-v", "-c", file, server.baseURL)
    #expect(result.status == 0)
    #expect(result.outputText == "well")
    #expect(result.errorText.contains("* retry: http_status: the server answered 503 to GET \(server.baseURL)"))
    #expect(server.requestCount == 2)
  }

  @Test func `send --document prints a result document like run`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let document = try #require(try await Tool.run("send", "--document", server.baseURL).documents.first)
    #expect(document.status == 200)
    #expect(document["response"]?["body"]?["text"]?.string == "ok\n")
    #expect(document["attempts"]?.integer == 1)
    #expect(document["requestId"]?.string?.isEmpty == false)
  }

  @Test func `-v shows the heads of request and response, with secrets hidden`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run(
      "send", "-v", "-H", "Authorization: Bearer hidden", "-H", "X-Shown: yes", server.baseURL + "/?sig=hidden&a=1")
    #expect(result.errorText.contains("> GET /?sig=REDACTED&a=1 HTTP/1.1\n> Host: 127.0.0.1:\(server.port)\n"))
    #expect(result.errorText.contains("> Accept: */*\n"))
    #expect(result.errorText.contains("> User-Agent: sluice/"))
    #expect(result.errorText.contains("> X-Shown: yes"))
    #expect(result.errorText.contains("> Authorization: REDACTED"))
    #expect(result.errorText.contains("sig=REDACTED&a=1"))
    #expect(result.errorText.contains("< HTTP/1.1 200"))
    #expect(!result.errorText.contains("hidden"))
  }

  @Test func `a header that is not sent is reported on standard error`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("send", "-H", "Content-Length: 3", "-d", "hello", server.baseURL)
    #expect(result.status == 0)
    #expect(server.requests.first?.body == Array("hello".utf8))
    let words =
      "the header \"content-length\" is not sent, because the transport frames messages and manages connections itself"
    #expect(result.errorText == "sluice: warning: POST \(server.baseURL): \(words); leave it out\n")
  }

  @Test func `-v shows the head of each hop`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/end"
        ? .text("arrived") : ServerResponse(status: 302, headers: [HeaderLine("Location", "/end")])
    }
    defer { server.stop() }
    let result = try await Tool.run("send", "-v", server.baseURL + "/a", "-d", "x=1")
    let shown = result.errorText.split(separator: "\n").filter { $0.hasPrefix("> ") && $0.hasSuffix("HTTP/1.1") }
    #expect(shown == ["> POST /a HTTP/1.1", "> GET /end HTTP/1.1"])
    #expect(result.errorText.contains("> Content-Length: 3\n"))
    #expect(!result.errorText.contains("x=1"))
  }

  @Test func `-v hides header values that a stage marked as secret`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let config = #"{"hosts": ["*"], "token": "s3cret", "header": "X-Marked", "scheme": ""}"#
    let plugin = "\(BuiltProducts.library("bearer-auth"))=\(config)"
    let result = try await Tool.run("send", "-v", "--plugin", plugin, server.baseURL)
    #expect(server.requests.first?.headers.first("x-marked") == "s3cret")
    #expect(result.errorText.contains("> X-Marked: REDACTED\n"))
    #expect(!result.errorText.contains("s3cret"))
  }

  @Test func `--trace shows every phase of a request`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("send", "--trace", server.baseURL)
    for phase in ["total", "queue", "dns", "connect", "tls", "send", "wait", "receive"] {
      #expect(result.errorText.contains("\(phase) "))
    }
  }

  @Test func `a body of 64 MiB is streamed to a file with little memory`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: 64 << 20, chunked: true))
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = folder.path("out")
    let result = try await Command.run(
      "sh", ["-c", "\(Tool.path) send -o \(file) \(server.baseURL) && wc -c < \(file)"])
    #expect(result.outputText.trimmed == "\(64 << 20)")
  }

  @Test func `a slow reader delays the stream, and gets the whole body`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: 32 << 20, chunked: false))
    }
    defer { server.stop() }
    // The reader waits for a line of the test on descriptor 3.
    let script = "exec 3<&0; \(Tool.path) send \(server.baseURL) | { read -r go <&3; wc -c; }"
    let running = try Command("bash", ["-c", script], environment: Tool.cleared).start()
    try await server.waitForRequests(1)
    try running.write("go\n")
    #expect(try await running.wait().outputText.trimmed == "\(32 << 20)")
  }

  @Test func `a relative URL is resolved against the configuration's base URL`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"baseURL": "\#(server.baseURL)/v1/"}}"#, to: "c.json")
    let result = try await Tool.run("send", "-c", file, "items?x=1")
    #expect(result.status == 0)
    #expect(server.requests.first?.target == "/v1/items?x=1")
  }

  @Test func `with transport_decode off, a body is not decoded, and no coding is requested`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"))
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"decode": false}}"#, to: "c.json")
    let result = try await Tool.run("send", "-c", file, server.baseURL)
    #expect(result.status == 0 && result.outputText == "abc", "\(result.errorText)")
    #expect(!server.receivedText.joined().lowercased().contains("accept-encoding"))
  }

  @Test func `an IRI is sent as the URL that it stands for`() async throws {
    let proxy = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    defer { proxy.stop() }
    let result = try await Tool.run("send", "-x", proxy.baseURL, "http://bücher.example/süß?ü=1")
    #expect(result.status == 0)
    let head = proxy.receivedText.joined()
    #expect(head.hasPrefix("GET http://xn--bcher-kva.example/s%C3%BC%C3%9F?%C3%BC=1 HTTP/1.1\r\n"))
    #expect(head.contains("\r\nHost: xn--bcher-kva.example\r\n"))
  }

  @Test func `a URL that begins with a host and a port, without a scheme, uses http`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"baseURL": "http://127.0.0.1:1/"}}"#, to: "c.json")
    #expect(try await Tool.run("send", "127.0.0.1:\(server.port)/x?y").status == 0)
    #expect(try await Tool.run("send", "-c", file, "localhost:\(server.port)").status == 0)
    #expect(server.requests.map(\.target) == ["/x?y", "/"])
  }

  @Test func `SIGINT ends a waiting send with status 130`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let running = try Tool.start("send", server.baseURL)
    try await server.waitForHeld(1)
    running.send(signal: 2)
    #expect(try await running.wait().status == 130)
  }
}

extension String {
  var trimmed: String { String(self.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
