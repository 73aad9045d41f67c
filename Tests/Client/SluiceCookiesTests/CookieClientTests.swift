import SluiceAssembly
import SluiceClient
import SluiceCookies
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Cookies through a client and a real server.
@Suite struct CookieClientTests {
  /// Runs the body with a client that has this jar.
  private func withClient<Result>(
    _ jar: CookieJar, _ change: (inout Configuration) -> Void = { _ in }, _ body: (Client) async throws -> Result
  ) async throws -> Result {
    var configuration = Configuration()
    configuration.transport.loops = 1
    change(&configuration)
    let client = try Client(configuration, cookies: jar)
    return try await withCleanup {
      await client.shutdown(drain: .zero)
    } _: {
      try await body(client)
    }
  }

  private static func cookies(_ server: LoopbackServer) -> [String] {
    server.requests.map { request in
      let fields = request.headers.filter { $0.name.lowercased() == "cookie" }.map(\.value)
      return "\(request.target): \(fields.joined(separator: " | "))"
    }
  }

  private static func setting(_ values: String..., status: Int = 200, location: String? = nil) -> ServerResponse {
    var headers = values.map { HeaderLine("Set-Cookie", $0) }
    if let location { headers.append(HeaderLine("Location", location)) }
    return ServerResponse(status: status, headers: headers)
  }

  @Test func `the cookies that a response sets are sent with later requests`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/login" ? Self.setting("sid=1; path=/; HttpOnly", "lang=en; path=/de") : .text("ok")
    }
    defer { server.stop() }
    try await withClient(CookieJar()) { client in
      for path in ["/", "/login", "/", "/de/x"] { _ = try await client.data(from: HTTPURL(server.baseURL + path)) }
    }
    #expect(Self.cookies(server) == ["/: ", "/login: ", "/: sid=1", "/de/x: lang=en; sid=1"])
  }

  @Test func `each hop of a redirect sends the cookies of its own host, and its response can set cookies`()
    async throws
  {
    let ports = Watched<UInt16>(0)
    let server = try LoopbackServer { request in
      switch request.target {
      case "/start": Self.setting("a=1; path=/", status: 302, location: "/same")
      case "/same": Self.setting("b=2; path=/", status: 307, location: "http://localhost:\(ports.value)/other")
      case "/other": Self.setting("c=3; path=/", status: 302, location: "http://127.0.0.1:\(ports.value)/end")
      default: .text("ok")
      }
    }
    defer { server.stop() }
    ports.update { $0 = server.port }
    let jar = CookieJar()
    try await withClient(jar) { client in
      let (_, response) = try await client.data(from: HTTPURL(server.baseURL + "/start"))
      #expect(response.status == 200)
      _ = try await client.data(from: HTTPURL("http://localhost:\(server.port)/again"))
    }
    #expect(Self.cookies(server) == ["/start: ", "/same: a=1", "/other: ", "/end: a=1; b=2", "/again: c=3"])
    #expect(jar.cookies.map(\.domain) == ["127.0.0.1", "127.0.0.1", "localhost"])
  }

  @Test func `a hostile server cannot set cookies for other hosts`() async throws {
    let server = try LoopbackServer { _ in
      Self.setting(
        "a=1; domain=com", "b=1; domain=localhost", "c=1; domain=0.0.1", "__Secure-d=1; secure", "__Host-e=1; path=/",
        "f=1; secure", "good=1")
    }
    defer { server.stop() }
    let jar = CookieJar()
    try await withClient(jar) { client in _ = try await client.data(from: HTTPURL(server.baseURL)) }
    #expect(jar.cookies.map(\.name) == ["good"])
  }

  @Test func `a Secure cookie is set and sent over TLS, but not over http`() async throws {
    let certificates = try await TestCertificates.shared()
    let secure = try await TLSServer.start(certificates.server)
    let plain = try LoopbackServer()
    defer { plain.stop() }
    try await withClient(CookieJar()) {
      $0.transport.tls.ca = certificates.authority
    } _: { client in
      for (target, awaited) in [("/first", "GET /first"), ("/second", "Cookie: __Host-s=1")] {
        let task = Task { try await client.data(from: HTTPURL(secure.baseURL + target)) }
        try await secure.waitForInput(containing: awaited)
        let fields = "Content-Length: 0\r\nSet-Cookie: __Host-s=1; Secure; Path=/\r\n"
        try secure.send(Array("HTTP/1.1 200 OK\r\n\(fields)\r\n".utf8))
        _ = try await task.value
      }
      _ = try await client.data(from: HTTPURL("http://localhost:\(plain.port)/plain"))
    }
    #expect(Self.cookies(plain) == ["/plain: "])
    try secure.close()
  }

  @Test func `a Cookie field of the caller replaces the jar's cookies, but only at its own origin`() async throws {
    let ports = Watched<UInt16>(0)
    let server = try LoopbackServer { request in
      request.target == "/go" ? Self.setting(status: 302, location: "http://localhost:\(ports.value)/end") : .text("ok")
    }
    defer { server.stop() }
    ports.update { $0 = server.port }
    let jar = CookieJar()
    jar.receive("a=1", from: try HTTPURL(server.baseURL))
    jar.receive("b=1", from: "http://localhost/")
    try await withClient(jar) { client in
      let headers: HeaderFields = ["Cookie": "mine=1"]
      _ = try await client.data(for: Request(url: HTTPURL(server.baseURL + "/go"), headers: headers))
      // An empty field replaces the jar's cookies too.
      _ = try await client.data(for: Request(url: HTTPURL(server.baseURL + "/none"), headers: ["Cookie": ""]))
    }
    #expect(Self.cookies(server).prefix(2) == ["/go: mine=1", "/end: b=1"])
    #expect(Self.cookies(server).last?.contains("a=1") == false)
  }

  @Test func `a Cookie field that a stage sets replaces the jar's cookies`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let jar = CookieJar()
    jar.receive("a=1", from: try HTTPURL(server.baseURL))
    try await withClient(jar) {
      $0.addStage("own", StageCode(issue: { request, _ in request.headers["cookie"] = "stage=1" }))
    } _: { client in
      _ = try await client.data(from: HTTPURL(server.baseURL))
    }
    #expect(Self.cookies(server) == ["/: stage=1"])
  }

  @Test func `cookies are set and sent also with streams, downloads, retries and error statuses`() async throws {
    let folder = try TemporaryDirectory()
    let server = try LoopbackServer { request in
      let name = request.target.dropFirst()
      let isFirst = request.target == "/retry" && !request.headers.contains { $0.value.contains("retry=1") }
      return Self.setting("\(name)=1; path=/", status: isFirst ? 503 : request.target == "/error" ? 404 : 200)
    }
    defer { server.stop() }
    let retry = StageCode(response: { response, _ in
      if response.status == 503 { throw RetryRequestError(after: .zero) }
    })
    let jar = CookieJar()
    try await withClient(jar) {
      $0.addStage("retry", retry)
    } _: { client in
      for try await _ in try await client.bytes(from: HTTPURL(server.baseURL + "/stream")).bytes {}
      _ = try await client.download(from: HTTPURL(server.baseURL + "/file"), to: folder.path("file"))
      _ = try await client.data(from: HTTPURL(server.baseURL + "/error"))
      _ = try await client.data(from: HTTPURL(server.baseURL + "/retry"))
    }
    let all = "stream=1; file=1; error=1"
    #expect(
      Self.cookies(server) == [
        "/stream: ", "/file: stream=1", "/error: stream=1; file=1", "/retry: \(all)", "/retry: \(all); retry=1",
      ])
  }

  @Test func `a response that a stage makes sets no cookies`() async throws {
    let jar = CookieJar()
    try await withClient(jar) {
      $0.addStage("answer") { request, _ in request.respond(status: 200).headers["set-cookie"] = "a=1" }
    } _: { client in
      let (_, response) = try await client.data(from: "http://a.example/")
      #expect(response.headers["set-cookie"] == "a=1")
    }
    #expect(jar.cookies.isEmpty)
  }

  @Test func `the cookies of a head are set even if its body breaks off while a stage waits for it`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nSet-Cookie: a=1\r\n\r\nhalf"), .close)
    defer { server.stop() }
    let jar = CookieJar()
    try await withClient(jar) {
      $0.maximumAttempts = 1
      $0.addStage("body", StageCode(response: { _, _ in }, options: .wantsResponseBody))
    } _: { client in
      _ = try? await client.data(from: HTTPURL(server.baseURL))
    }
    #expect(jar.cookies.map(\.name) == ["a"])
  }

  @Test func `a client without a jar keeps no cookies`() async throws {
    let server = try LoopbackServer { _ in Self.setting("a=1") }
    defer { server.stop() }
    let client = try Client()
    for _ in 0..<2 { _ = try await client.data(from: HTTPURL(server.baseURL)) }
    await client.shutdown()
    #expect(Self.cookies(server) == ["/: ", "/: "])
  }

  @Test func `the descriptions of explanations, jars and cookies hide the cookies' values`() async throws {
    let server = try LoopbackServer { _ in Self.setting("sid=hunter2") }
    defer { server.stop() }
    let jar = CookieJar()
    try await withClient(jar) { client in
      _ = try await client.data(from: HTTPURL(server.baseURL))
      var request = Request(url: try HTTPURL(server.baseURL))
      request.wantsExplanation = true
      let outcome = Watched<TransactionResult?>(nil)
      client.engine.submit(request) { result in outcome.update { $0 = result } }
      try await outcome.wait(for: "the result") { $0 != nil }
      let decision = outcome.value?.explanation?.first?.decisions.first { $0.header.lowercased() == "cookie" }
      #expect(decision?.stage == "cookies" && decision?.reason == .sent)
      let shown = String(describing: outcome.value?.explanation)
      #expect(shown.contains("sent") && !shown.contains("hunter2"))
    }
    #expect(Self.cookies(server).last == "/: sid=hunter2")
    let shown = "\(jar) \(jar.cookies) \(String(reflecting: jar.cookies))"
    #expect(shown.contains("sid") && !shown.contains("hunter2"))
  }
}
