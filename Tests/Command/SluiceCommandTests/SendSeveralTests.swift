import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// A `send` with several requests, and the limits for one request.
@Suite struct SendSeveralTests {
  @Test func `with -Z, the bodies are printed in the order of the URLs and do not mix`() async throws {
    let text = (0..<5).map { number in String(repeating: "\(number)", count: 300_000) }
    let server = try LoopbackServer { .text(text[Int(String($0.path.dropFirst())) ?? 0]) }
    defer { server.stop() }
    let result = try await Tool.run("send", "-Z", "\(server.baseURL)/[0-4]")
    #expect(result.status == 0)
    #expect(result.outputText == text.joined(), "\(result.outputText.count) \(result.errorText)")
  }

  @Test func `with -Z, --parallel-max requests are in flight at the same time`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let command = try Tool.start("send", "-Z", "--parallel-max", "3", "\(server.baseURL)/[1-5]")
    try await server.waitForHeld(3)
    #expect(server.requestCount == 3)
    server.release()
    #expect(try await command.wait().status == 0)
    #expect(server.requestCount == 5)
  }

  @Test func `the exit status is that of the last failed request`() async throws {
    let server = try LoopbackServer { $0.path == "/bad" ? .text("no", status: 404) : .text("ok") }
    defer { server.stop() }
    let result = try await Tool.run("send", "\(server.baseURL)/bad", "\(server.baseURL)/good")
    #expect(result.status == 22 && result.outputText == "nook")
    let early = try await Tool.run("send", "--fail-early", "\(server.baseURL)/bad", "\(server.baseURL)/good")
    #expect(early.status == 22 && early.outputText == "no")
  }

  @Test func `SIGINT ends all requests of a parallel send`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let command = try Tool.start("send", "-Z", "\(server.baseURL)/[1-4]")
    try await server.waitForHeld(4)
    command.send(signal: 2)
    #expect(try await command.wait().status == 130)
  }

  @Test func `-D empties the file first, and -s hides warnings`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let heads = try folder.write("of an earlier command\n", to: "heads")
    let result = try await Tool.run(
      "send", "-s", "-H", "Connection: close", "-D", heads, server.baseURL, server.baseURL)
    #expect(result.status == 0 && result.errorText.isEmpty, "\(result.errorText)")
    let text = try FileTree.readText(heads)
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.split(separator: "HTTP/1.1 200 OK").count == 2, "\(text)")
  }

  @Test func `with --retry, the time limit applies to each attempt`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let result = try await Tool.run(
      "send", "--document", "-m", "0.2", "--retry", "1", "--retry-connrefused", "--retry-delay", "0.3", server.baseURL)
    let document = try #require(result.documents.first)
    #expect(result.status == 28 && document.errorCode == "timeout" && document["attempts"]?.integer == 2)
    #expect(
      result.errorText.contains("timeout: ") && result.errorText.contains("; sending the request again in 300 ms"),
      "\(result.errorText)")
  }

  @Test func `standard input is read once for several URLs`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    _ = try await Tool.run(arguments: ["send", "-d", "@-", server.baseURL, server.baseURL], input: "a=1")
    #expect(server.requests.map(\.body) == [Array("a=1".utf8), Array("a=1".utf8)])
  }

  @Test(arguments: [
    ("socks5://me:s3cret@h:1", "-x socks5://REDACTED:REDACTED@h:1"), ("me:s3cret@h:1", "-x REDACTED:REDACTED@h:1"),
    ("http://h:1", "-x http://h:1"),
  ])
  func `--curl hides the password of a proxy`(_ proxy: String, _ shown: String) async throws {
    let result = try await Tool.run(
      "send", "--curl", "-x", proxy, "-e", "http://u:s3cret@r/", "--url-query", "a=1", "http://h/")
    #expect(
      result.outputText
        == "curl -L --compressed --fail-with-body \(shown) -e http://REDACTED:REDACTED@r/ 'http://h/?a=1'\n")
  }

  @Test func `the error for a wrong proxy does not contain its password`() async throws {
    let result = try await Tool.run("send", "-x", "http://me:s3cret@bad host", "http://h/")
    #expect(result.status == 7 && !result.errorText.contains("s3cret"), "\(result.errorText)")
  }

  @Test(arguments: ["99999999999g", "1e300", "nan", "inf", "-0.5", "k", ""])
  func `a rate that is not a number of bytes is refused`(_ rate: String) async throws {
    let result = try await Tool.run("send", "--limit-rate", rate, "http://127.0.0.1:9/")
    #expect(result.status == 2 && result.errorText.contains("--limit-rate: expected"), "\(result.errorText)")
  }

  @Test func `--curl prints options that curl accepts, and no secret`() async throws {
    let result = try await Tool.run(
      "send", "--curl", "-m", "500ms", "--connect-timeout", "2s", "--limit-rate", "1.5M", "-b", "sid=s3cret; t=s3cret",
      "-u", "me:s3cret", "-d", "password=s3cret&a=b", "http://h/?token=s3cret")
    #expect(
      result.outputText == """
        curl -L --compressed --fail-with-body -m 0.5 --connect-timeout 2 --limit-rate 1572864 \
        -b 'sid=REDACTED; t=REDACTED' -u me:REDACTED -d 'password=REDACTED&a=b' 'http://h/?token=REDACTED'

        """)
  }

  @Test(arguments: [
    ("-R", "-R is not available: files get"),
    ("-U", "-U is not available: user and password belong into the URL of the proxy"), ("-V", "use \"sluice version\""),
  ])
  func `if only curl has an option letter, the error explains the alternative`(
    _ letter: String, _ message: String
  ) async throws {
    let result = try await Tool.run("send", letter, "http://127.0.0.1:1/")
    #expect(result.status == 2 && result.errorText.contains(message), "\(result.errorText)")
  }

  @Test func `each URL has its own document`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let documents = try await Tool.run("send", "--document", "\(server.baseURL)/[1-3]").documents
    #expect(documents.map(\.status) == [200, 200, 200])
  }

  @Test(arguments: [["--limit-rate", "200k"], ["--limit-rate", "200k", "-o", "/dev/null"]])
  func `a limited rate is not exceeded`(_ options: [String]) async throws {
    let body = [UInt8](repeating: 7, count: 200_000)
    let server = try LoopbackServer { _ in ServerResponse(body: .bytes(body)) }
    defer { server.stop() }
    let start = ContinuousClock.now
    let result = try await Tool.run(arguments: ["send"] + options + [server.baseURL])
    #expect(result.status == 0)
    // At this rate, the body takes one second, except for the last part, which fits into buffers.
    #expect(ContinuousClock.now - start > .milliseconds(400))
  }

  @Test func `the rate of an upload is limited too, and its body arrives completely`() async throws {
    let folder = try TemporaryDirectory()
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let file = try folder.write(bytes, to: "file")
    let server = try LoopbackServer()
    defer { server.stop() }
    let start = ContinuousClock.now
    #expect(try await Tool.run("send", "--limit-rate", "200k", "-T", file, "\(server.baseURL)/x").status == 0)
    #expect(ContinuousClock.now - start > .milliseconds(400))
    #expect(server.requests.first?.body == bytes)
    #expect(server.requests.first?.headers.first("content-length") == "100000")
  }

  @Test func `standard input is sent while it is read`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run(
      arguments: ["send", "-T", "-", server.baseURL], input: String(repeating: "0123456789", count: 100_000))
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.first?.body.count == 1_000_000)
    #expect(server.requests.first?.headers.first("transfer-encoding") == "chunked")
  }

  @Test func `send asks for a password on the terminal, and the terminal does not show it`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    // script(1) gives the command a terminal.
    let command = try Command(
      "script", ["-qec", "\(Tool.path) send -u me \(server.baseURL)", "/dev/null"], environment: Tool.cleared
    ).start()
    try await command.waitForOutput(containing: "Enter password for user \"me\":")
    try command.write("s3cret\n")
    let result = try await command.wait()
    #expect(!result.outputText.contains("s3cret"))
    #expect(server.requests.first?.headers.first("authorization") == "Basic bWU6czNjcmV0", "\(result.outputText)")
  }

  @Test func `Ctrl-C at the password prompt ends send, and the terminal echoes again`() async throws {
    // The shell gets the signal too. The trap keeps the shell alive.
    let script = "trap : INT; \(Tool.path) send -u me http://127.0.0.1:1/; echo status $?; stty -a"
    let command = try Command("script", ["-qec", script, "/dev/null"], environment: Tool.cleared).start()
    try await command.waitForOutput(containing: "Enter password")
    try command.write("\u{3}")
    let result = try await command.wait()
    #expect(result.outputText.contains("status 130"), "\(result.outputText)")
    #expect(result.outputText.contains(" echo ") && !result.outputText.contains("-echo "), "\(result.outputText)")
  }

  @Test func `without a terminal the password must be given`() async throws {
    let result = try await Command.run(
      "setsid", ["-w", Tool.path, "send", "-u", "me", "http://127.0.0.1:1/"], environment: Tool.cleared)
    #expect(
      result.status == 2 && result.errorText.contains("no terminal to ask for the password"), "\(result.errorText)")
  }

  @Test(arguments: [
    (["--resolve", "h:80"], "--resolve: expected HOST:PORT:ADDRESS"),
    (["--resolve", "h:80:name"], "expected IPv4 or IPv6"),
    (["--resolve", "h:0x50:1.2.3.4"], "--resolve: expected"), (["--connect-to", "a:b:c:d"], "--connect-to: expected"),
    (["--interface", "nosuch0"], "no interface \"nosuch0\""), (["--limit-rate", "fast"], "--limit-rate: expected"),
    (["--pinnedpubkey", "sha256//x"], "--pinnedpubkey: expected"),
    (["--pinnedpubkey", "/etc/passwd"], "is neither a public key"),
    (["--tlsv1.3", "--tls-max", "1.2"], "leave no version"), (["--tls-max", "1.1"], "--tls-max: expected 1.2 or 1.3"),
    (["--parallel-max", "3"], "--parallel-max needs -Z"), (["-C", "x"], "-C: expected a number"),
    (["-C", "-"], "-C - needs -o"),
    (["-C", "1", "-r", "0-"], "give either -C or -r"), (["-J"], "-J needs -O"),
    (["--pass", "x"], "--pass needs --cert"),
    (["--aws-sigv4", "aws"], "does not say the service"), (["--aws-sigv4", "aws:amz:r:s"], "needs -u KEY-ID:SECRET"),
    (["--netrc-file", "/nowhere"], "--netrc-file: cannot read /nowhere"),
    (["--tlsv1.0"], "--tlsv1.0 is not available: TLS 1.2"),
    (["--max-filesize", "-1"], "--max-filesize: expected"),
    (["--retry-max-time", "1"], "--retry-max-time needs --retry N"),
  ])
  func `wrong values are refused before anything is sent`(_ options: [String], _ message: String) async throws {
    let result = try await Tool.run(arguments: ["send"] + options + ["http://127.0.0.1:9/"])
    #expect(result.status == 2 && result.errorText.contains(message), "\(result.status) \(result.errorText)")
  }

  @Test(arguments: [
    ("h.test.", ["--resolve", "H.test.:PORT:127.0.0.1"], true),
    ("h.test.", ["--resolve", "h.test:PORT:127.0.0.1"], false),
    ("h.test", ["--resolve", "h.test.:PORT:127.0.0.1"], false), ("h.test.", ["--resolve", "*:PORT:127.0.0.1"], true),
    ("h.test.", ["--connect-to", "h.test.::127.0.0.1:PORT"], true),
    ("127.0.0.1.", ["--resolve", "h:80:127.0.0.2"], true),
    ("localhost.", [], true), ("a.localhost.", [], true),
  ])
  func `the final dot of a host is a part of its name for options and for the look-up`(
    _ host: String, _ options: [String], _ isReached: Bool
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let options = options.map { $0.replacing("PORT", with: "\(server.port)") }
    let result = try await Tool.run(arguments: ["send"] + options + ["http://\(host):\(server.port)/x"])
    #expect((result.status == 0) == isReached, "\(result.status) \(result.errorText)")
    guard !isReached else { return }
    #expect(result.status == 6 && result.errorText.contains("cannot resolve \"\(host)\""), "\(result.errorText)")
  }

  @Test(arguments: [["--resolve", "h:80:127.0.0.1"], ["--connect-to", "h:80:127.0.0.1:80"]])
  func `an address that an option gives is used in a tunnel through the proxy`(_ options: [String]) async throws {
    let proxy = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .receiveHead,
      .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    defer { proxy.stop() }
    let result = try await Tool.run(arguments: ["send", "-x", proxy.baseURL] + options + ["http://h/a"])
    #expect(result.outputText == "ok", "\(result.errorText)")
    #expect(proxy.receivedText.first?.hasPrefix("CONNECT 127.0.0.1:80 HTTP/1.1\r\n") == true)
    #expect(proxy.receivedText.joined().contains("GET /a HTTP/1.1\r\nHost: h\r\n"))
  }
}
