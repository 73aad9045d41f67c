import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice dev --listen`: what clients see when an engine crashes, is started again, and answers.
@Suite struct DevEndpointTests {
  private static func port(of address: String) throws -> UInt16 {
    try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
  }

  /// A session with a plugin that crashes at the path `/crash`.
  private static func crashing() async throws -> (run: DevRun, port: UInt16) {
    let product = try await PluginCompiler.compile("crashes-on-request", defines: ["BUILD=1", "CRASHES=1"])
    let build = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    let run = try await DevRun(
      "--listen", "0",
      configuration: {
        #"{"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "store": "store", "transport": {"baseURL": "\#($0)"}}"#
      }, prepare: { try StampedLibrary.install(build, at: $0.path("a.so")) })
    return (run, try port(of: try await run.start()))
  }

  @Test func `fields named in the Connection field of a response are not forwarded`() async throws {
    let server = try ScriptedServer([
      ScriptStep.respond(headers: ["Connection: keep-alive, X-Private", "x-private: 1", "X-Public: 2"])
    ])
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0", configuration: { _ in DevRun.configuration(server.baseURL) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    let client = try RawClient(port: Self.port(of: try await run.start()))
    let response = try client.request()
    #expect(response.headers.first("X-Public") == "2", "\(response.headers)")
    #expect(response.headers.first("X-Private") == nil, "\(response.headers)")
    try await run.end()
    server.stop()
  }

  @Test func `a request whose end is ambiguous is refused, and no part of it reaches the server`() async throws {
    let server = try LoopbackServer()
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0", configuration: { _ in DevRun.configuration(server.baseURL) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    let client = try RawClient(port: Self.port(of: try await run.start()))
    // The requests are sent in one piece, so that the server has read them all when it closes.
    try client.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 43\r\n\r\n"
        + "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try client.readResponse().status == 400)
    #expect(try client.readToEnd().isEmpty)
    #expect(server.requestCount == 0)
    try await run.end()
    server.stop()
  }

  @Test func `a request that crashes the engine is answered with 502 and the reason`() async throws {
    let (run, port) = try await Self.crashing()
    let response = try RawClient(port: port).request("POST", "/crash", body: "x")
    #expect(response.status == 502)
    #expect(response.headers.first("Content-Type") == "application/json")
    let document = try JSONValue(parsing: response.body)
    #expect(document["error"]?["code"]?.string == "engine_crashed", "\(document)")
    if !Sanitizer.isOn {
      #expect(document["error"]?["message"]?.string?.contains("plugin \"a\"") == true, "\(document)")
      #expect(document["error"]?["message"]?.string?.contains("SIGSEGV") == true, "\(document)")
    }
    try await run.next("restarted")
    // An answer to HEAD never has a body.
    let head = RawHead(try RawClient(port: port), "HEAD", "/crash")
    #expect(try head.text().hasSuffix("\r\n\r\n"))
    try await run.next("restarted")
    try await run.end()
  }

  /// A session whose server answers each request with the same response.
  private static func answering(
    _ response: @escaping @Sendable (ServerRequest) -> ServerResponse, settings: String = ""
  ) async throws -> (run: DevRun, server: LoopbackServer, port: UInt16) {
    let server = try LoopbackServer(handler: response)
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0", configuration: { _ in DevRun.configuration(server.baseURL, transport: settings) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    return (run, server, try port(of: try await run.start()))
  }

  @Test(arguments: [301, 401, 404, 429, 500, 503])
  func `a response with an error status is passed on with its head and its body`(_ status: Int) async throws {
    let (run, server, port) = try await Self.answering { _ in
      var response = ServerResponse.text("not today", status: status)
      response.headers.append(HeaderLine("Retry-After", "0"))
      return response
    }
    let response = try RawClient(port: port).request()
    #expect(response.status == status)
    #expect(String(decoding: response.body, as: UTF8.self) == "not today")
    #expect(response.headers.first("Retry-After") == "0", "\(response.headers)")
    let event = try await run.next("request")
    #expect(event["status"]?.integer == Int64(status) && event["error"] == nil, "\(event)")
    try await run.end()
    server.stop()
  }

  @Test func `a complete response that fails a check of the configuration is passed on`() async throws {
    let (run, server, port) = try await Self.answering(
      { _ in .text("not here", status: 202) }, settings: #"}, "validate": {"statuses": [200]"#)
    #expect(try RawClient(port: port).request().status == 202)
    try await run.end()
    server.stop()
  }

  @Test func `a response whose body breaks off is answered with 502 and the error`() async throws {
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\nhalf"), .close]
    ])
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0",
      configuration: { _ in DevRun.configuration(server.baseURL, transport: #"}, "retry": {"maxAttempts": 1"#) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    let response = try RawClient(port: Self.port(of: try await run.start())).request()
    #expect(response.status == 502)
    #expect(try JSONValue(parsing: response.body)["error"]?["code"] == "connection_lost")
    try await run.end()
    server.stop()
  }

  @Test func `the response to HEAD has the length that the server has sent`() async throws {
    let (run, server, port) = try await Self.answering { _ in .text("hello") }
    let text = try RawHead(try RawClient(port: port), "HEAD", "/", "Connection: close").text()
    #expect(text.contains("Content-Length: 5\r\n") && text.hasSuffix("\r\n\r\n"), "\(text)")
    try await run.end()
    server.stop()
  }

  // RFC 9110 §8.6: the length of status 304 is that of the response with status 200.
  @Test func `status 304 has the length that the server has sent, and never the length 0`() async throws {
    let server = try ScriptedServer(
      ["Content-Length: 83\r\n", ""].map { line in
        [.receiveHead, .send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\(line)\r\n"), .close]
      })
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0", configuration: { _ in DevRun.configuration(server.baseURL) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    let port = try Self.port(of: try await run.start())
    for hasLength in [true, false] {
      let text = try RawHead(try RawClient(port: port), "GET", "/", "Connection: close").text()
      #expect(text.hasPrefix("HTTP/1.1 304") && text.hasSuffix("\r\n\r\n"), "\(text)")
      #expect(text.contains(hasLength ? "\r\nContent-Length: 83\r\n" : "Content-Length") == hasLength, "\(text)")
    }
    try await run.end()
    server.stop()
  }

  @Test func `the response to HEAD has no length and no chunk if the server has sent no length`() async throws {
    let (run, server, port) = try await Self.answering { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: 9, chunked: true))
    }
    let text = try RawHead(try RawClient(port: port), "HEAD", "/").text()
    #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("\r\n\r\n") && !text.contains("\r\n0\r\n"), "\(text)")
    #expect(!text.contains("Transfer-Encoding") && !text.contains("Content-Length"), "\(text)")
    try await run.end()
    server.stop()
  }

  @Test func `fields with an empty value and heads as large as the configuration allows are passed on`() async throws {
    let long = (0..<40).map { "X-Long-\($0): " + String(repeating: "a", count: 5000) }
    let server = try ScriptedServer([ScriptStep.respond(headers: ["X-Empty:", "X-Tab: a\tb"] + long)])
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0", configuration: { _ in DevRun.configuration(server.baseURL) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    let client = try RawClient(port: Self.port(of: try await run.start()))
    let response = try client.request("GET", "/", headers: ["X-Blank: a \t"])
    #expect(response.status == 200 && response.headers.first("X-Empty") == "", "\(response.head.startLine)")
    #expect(response.headers.first("X-Tab") == "a\tb" && response.headers.first("X-Long-39")?.count == 5000)
    try await run.end()
    server.stop()
  }

  /// A request on a raw connection. `text()` returns everything that the server sends until it closes the connection.
  private struct RawHead {
    let client: RawClient
    let request: String

    init(_ client: RawClient, _ method: String, _ path: String, _ line: String = "Accept: */*") {
      self.client = client
      request = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(line)\r\n\r\n"
    }

    func text() throws -> String {
      try client.send(request)
      return String(decoding: try client.readToEnd(), as: UTF8.self)
    }
  }

  @Test func `if the engine dies after a response has begun, the client gets no second response`() async throws {
    let size = 64 << 20
    let server = try LoopbackServer(recording: .countOnly) { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: UInt64(size), chunked: false))
    }
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0", configuration: { _ in DevRun.configuration(server.baseURL) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    let started = try await run.next("started")
    let process = try #require(started["process"]?.integer)
    let client = try RawClient(port: Self.port(of: try #require(started["listen"]?.string)))
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let (status, _) = try client.readHead()
    #expect(status == 200)
    #expect(kill(pid_t(process), SIGKILL) == 0)
    try await run.next("crashed")
    let rest = (try? client.readToEnd()) ?? []
    #expect(rest.count < size && !String(decoding: rest.suffix(2000), as: UTF8.self).contains("HTTP/1.1"))
    try await run.end()
    server.stop()
  }

  /// A session whose engine was killed. The next one waits in `activate` until the returned pipe is opened.
  private static func withoutEngine() async throws -> (run: DevRun, port: UInt16, open: () -> FileDescriptor) {
    let run = try await DevRun("--listen", "0") { folder in
      try #require(mkfifo(folder.path("gate"), 0o600) == 0)
      let product = try await PluginCompiler.compile(
        "activates-behind-a-gate", defines: ["GATE=\"\(folder.path("gate"))\""])
      try withExtendedLifetime(product) {
        try StampedLibrary.install(FileTree.read(product.path), at: folder.path("a.so"))
      }
    }
    // The pipe is open for both directions, so that opening it does not wait for the other end.
    let open = { FileDescriptor(adopting: Glibc.open(run.folder.path("gate"), O_RDWR | O_CLOEXEC)) }
    try await run.next("log") { $0["message"]?.string == "waits=1" }
    let first = open()
    let started = try await run.next("started")
    first.close()
    let port = try port(of: try #require(started["listen"]?.string))
    #expect(kill(pid_t(try #require(started["process"]?.integer)), SIGKILL) == 0)
    try await run.next("crashed")
    try await run.next("log") { $0["message"]?.string == "waits=1" }
    return (run, port, open)
  }

  @Test func `if a client connects while the engine is started again, the client waits and is answered`() async throws {
    let (run, port, open) = try await Self.withoutEngine()
    let client = try RawClient(port: port)
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let second = open()
    #expect(try client.readResponse().status == 200)
    second.close()
    try await run.end()
  }

  @Test func `the request of a client that has gone away while nothing served is never sent`() async throws {
    let (run, port, open) = try await Self.withoutEngine()
    do {
      let client = try RawClient(port: port)
      try client.send("POST /pay?token=secret HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx")
    }
    let gate = open()
    let log = try await run.next("log") { $0["message"]?.string?.hasPrefix("POST /pay") == true }
    #expect(log["message"]?.string?.contains("was not sent: its client closed the connection") == true, "\(log)")
    #expect(log["message"]?.string?.contains("secret") == false, "\(log)")
    #expect(try RawClient(port: port).request().status == 200)
    #expect(run.server.requestCount == 1)
    gate.close()
    try await run.end()
  }

  @Test func `bodies stream, and early hints and trailers pass`() async throws {
    let release = Signal()
    let server = try ScriptedServer([
      [
        .receiveHead,
        .send(
          "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"
        ),
        .wait(release), .send("4\r\nlast\r\n0\r\nX-T: 1\r\n\r\n"),
      ]
    ])
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0", configuration: { _ in DevRun.configuration(server.baseURL) },
      prepare: { try library.install(1, at: $0.path("a.so")) })
    let client = try RawClient(port: Self.port(of: try await run.start()))
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try client.readHead().status == 103)
    #expect(try client.readHead().status == 200)
    #expect(String(decoding: try client.take(10), as: UTF8.self) == "5\r\nfirst\r\n")
    release.set()
    #expect(String(decoding: try client.take(22), as: UTF8.self) == "4\r\nlast\r\n0\r\nX-T: 1\r\n\r\n")
    try await run.end()
    server.stop()
  }

  @Test func `a port that is in use ends the command at once with a message`() async throws {
    let server = try LoopbackServer { _ in .text("") }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"baseURL": "http://127.0.0.1:9"}}"#, to: "c.json")
    let result = try await Tool.run("dev", "-c", file, "--listen", "\(server.port)")
    #expect(result.status == 2 && result.errorText.contains("--listen"), "\(result.errorText)")
    server.stop()
  }
}
