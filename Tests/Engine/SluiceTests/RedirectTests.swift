import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Redirects over real sockets.
@Suite struct RedirectTests {
  static func redirect(_ status: Int, _ location: String, _ more: HeaderLine...) -> ServerResponse {
    ServerResponse(
      status: status, headers: [HeaderLine("Location", location)] + more, body: .bytes(Array("moved".utf8)))
  }

  /// A server that redirects `/STATUS/REST` to `/REST` with that status, and responds 200 to all other requests.
  static func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      let parts = request.target.split(separator: "/", maxSplits: 1)
      guard let status = parts.first.flatMap({ Int($0) }), (300..<400).contains(status) else { return .text("ok") }
      return redirect(status, "/" + (parts.count > 1 ? String(parts[1]) : ""))
    }
  }

  private static func engine(_ change: (inout Configuration) -> Void = { _ in }) throws -> Engine {
    var configuration = Configuration()
    change(&configuration)
    return try Engine(configuration)
  }

  private static func run(_ engine: Engine, _ request: Request) async -> TransactionResult {
    let result = await engine.transaction(request)
    await engine.shutdown()
    return result
  }

  @Test(arguments: [
    (301, "POST", "GET", ""), (302, "POST", "GET", ""), (303, "POST", "GET", ""), (303, "PUT", "GET", ""),
    (307, "POST", "POST", "body"), (308, "POST", "POST", "body"), (301, "PUT", "PUT", "body"),
  ])
  func `D: the status of a redirect decides about the next request's method and body`(
    status: Int, method: String, next: String, body: String
  ) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let request = Request(
      method: method, url: try HTTPURL(server.baseURL + "/\(status)/end"), headers: ["content-type": "text/plain"],
      body: .text("body"))
    let result = await Self.run(try Self.engine(), request)
    #expect(result.error == nil)
    #expect(result.response?.status == 200)
    #expect(server.requests.map(\.method) == [method, next])
    #expect(server.requests.map(\.target) == ["/\(status)/end", "/end"])
    #expect(server.requests.last.map { String(decoding: $0.body, as: UTF8.self) } == body)
    #expect(server.requests.last?.value(of: "content-type") == (body.isEmpty ? nil : "text/plain"))
  }

  @Test func `HEAD stays HEAD after a 303`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let url = try HTTPURL(server.baseURL + "/303/end")
    let result = await Self.run(try Self.engine(), Request(method: "HEAD", url: url))
    #expect(result.response?.status == 200)
    #expect(server.requests.map(\.method) == ["HEAD", "HEAD"])
  }

  @Test func `a chain of redirects is followed on one connection, and each redirect has its events`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    let engine = try Self.engine {
      $0.addStage(
        "log",
        StageCode(observing: { event in
          let line = "\(event.kind) \(event.exchange.attempt).\(event.exchange.hop) \(event.status)"
          log.update { $0.append(line) }
        }))
    }
    let result = await Self.run(engine, Request(url: try HTTPURL(server.baseURL + "/302/307/end")))
    #expect(result.response?.status == 200)
    #expect(Set(server.requests.map(\.peer)).count == 1)
    #expect(
      log.value == [
        "willExecute 0.0 0", "didConfigure 0.0 0", "didIssue 0.0 0", "didReceive 0.0 302", "willRedirect 0.0 302",
        "didEndHop 0.0 302", "didIssue 0.1 0", "didReceive 0.1 307", "willRedirect 0.1 307", "didEndHop 0.1 307",
        "didIssue 0.2 0", "didReceive 0.2 200", "didEndHop 0.2 200", "didValidateResponse 0.2 200",
        "didExtract 0.2 200", "didValidatePayload 0.2 200", "didComplete 0.2 200",
      ])
    #expect(engine.metrics().redirects == 2)
    #expect(engine.metrics().hops == 3)
  }

  @Test func `a redirect to another origin removes credentials, cookies and headers of stages`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let target = other.baseURL + "/end"
    let server = try LoopbackServer { _ in Self.redirect(302, target) }
    defer { server.stop() }
    let engine = try Self.engine {
      $0.redirects.kept = ["x-kept"]
      $0.redaction.headers = ["x-key"]
      $0.addStage(
        "adds",
        StageCode(
          request: { request, _ in
            for name in ["x-added", "x-kept"] { request.headers[name] = "stage" }
          },
          issue: { request, context in request.headers["x-hop"] = context.path }))
    }
    let headers: HeaderFields = [
      "Authorization": "Bearer a", "Cookie": "b=c", "X-Own": "d", "X-Key": "e", "Host": "pretended",
    ]
    let result = await Self.run(engine, Request(url: try HTTPURL(server.baseURL + "/"), headers: headers))
    #expect(result.response?.status == 200)
    let sent = try #require(other.requests.first)
    #expect(sent.value(of: "authorization") == nil)
    #expect(sent.value(of: "cookie") == nil)
    #expect(sent.value(of: "x-added") == nil)
    #expect(sent.value(of: "x-key") == nil)
    #expect(sent.value(of: "x-kept") == "stage")
    #expect(sent.value(of: "x-own") == "d")
    #expect(sent.value(of: "x-hop") == "/end")
    #expect(sent.value(of: "host") == "127.0.0.1:\(other.port)")
    #expect(server.requests.first?.value(of: "x-added") == "stage")
    #expect(server.requests.first?.value(of: "host") == "pretended")
  }

  @Test func `a redirect to another origin removes headers that a stage of the program added`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let target = other.baseURL + "/end"
    let server = try LoopbackServer { _ in Self.redirect(302, target) }
    defer { server.stop() }
    let engine = try Self.engine {
      $0.addStage("adds", StageCode(request: { request, _ in request.headers["x-token"] = "secret" }))
    }
    let result = await Self.run(
      engine, Request(url: try HTTPURL(server.baseURL + "/"), headers: ["X-Own": "d"]))
    #expect(result.response?.status == 200)
    #expect(server.requests.first?.value(of: "x-token") == "secret")
    #expect(other.requests.first?.value(of: "x-token") == nil)
    #expect(other.requests.first?.value(of: "x-own") == "d")
  }

  @Test func `redirects from A to B to A are a loop, and the result has the last redirect`() async throws {
    let server = try LoopbackServer { request in Self.redirect(302, request.target == "/a" ? "/b" : "/a") }
    defer { server.stop() }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/a")))
    #expect(result.error?.code == .redirectLoop)
    #expect(result.response?.status == 302)
    #expect(server.requests.map(\.target) == ["/a", "/b"])
  }

  @Test func `a redirect to the same URL that sets a cookie is not a loop`() async throws {
    let count = Watched(0)
    let server = try LoopbackServer { _ in
      let number = count.update { count in
        count += 1
        return count
      }
      return number == 1 ? Self.redirect(302, "/a", HeaderLine("Set-Cookie", "a=b")) : .text("ok")
    }
    defer { server.stop() }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/a")))
    #expect(result.response?.status == 200)
    #expect(server.requestCount == 2)
  }

  @Test(arguments: [(20, 21), (3, 4), (1, 2)])
  func `endless redirects stop at the limit`(maximum: Int, requests: Int) async throws {
    let server = try LoopbackServer { request in
      Self.redirect(302, "/\((Int(request.target.dropFirst()) ?? 0) + 1)")
    }
    defer { server.stop() }
    let engine = try Self.engine { $0.redirects.maximum = maximum }
    let result = await Self.run(engine, Request(url: try HTTPURL(server.baseURL + "/1")))
    #expect(result.error?.code == .tooManyRedirects)
    #expect(result.response?.status == 302)
    #expect(server.requestCount == requests)
  }

  @Test func `a thousand redirects are followed if the limit allows them`() async throws {
    let server = try LoopbackServer(recording: .countOnly) { request in
      let number = Int(request.target.dropFirst()) ?? 0
      return number == 1000 ? .text("ok") : Self.redirect(302, "/\(number + 1)")
    }
    defer { server.stop() }
    let engine = try Self.engine { $0.redirects.maximum = 1000 }
    let result = await Self.run(engine, Request(url: try HTTPURL(server.baseURL + "/0")))
    #expect(result.error == nil)
    #expect(server.requestCount == 1001)
  }

  @Test func `if the limit is 0, the redirect is the response`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let engine = try Self.engine { $0.redirects.maximum = 0 }
    let result = await Self.run(engine, Request(url: try HTTPURL(server.baseURL + "/302/end")))
    #expect(result.error == nil)
    #expect(result.response?.status == 302)
    #expect(result.response?.body.bytes == Array("moved".utf8))
  }

  @Test(arguments: [
    "", "ftp://127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)", "http://user:pw@127.0.0.1/", "http://",
    "http://127.1/", "http://127.0.0.1:0/", "/a\\b", "ht!tp://x", "http://💩.example/",
  ])
  func `a Location that cannot be followed fails, and the result has the head of the redirect`(
    location: String
  ) async throws {
    let server = try ScriptedServer([
      ScriptStep.respond("302 Found", headers: ["Location: \(location)"], body: "moved")
    ])
    defer { server.stop() }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.error?.code == .redirectRefused)
    #expect(result.error?.message.contains("302 with the Location") == true)
    #expect(result.error?.message.contains("pw") == false)
    #expect(result.response?.status == 302)
    #expect(result.response?.headers.contains("location") == true)
    #expect(result.response?.body.isEmpty == true)
    #expect(server.connectionCount == 1)
  }

  @Test func `two Locations that differ are an error`() async throws {
    let server = try ScriptedServer([
      ScriptStep.respond("302 Found", headers: ["Location: /a", "Location: /b"], body: "moved")
    ])
    defer { server.stop() }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.error?.code == .redirectRefused)
    #expect(result.error?.message.contains(#"the Locations "/a" and "/b""#) == true)
  }

  @Test func `a redirect without a Location, or beyond a limit of 0, is the response`() async throws {
    for (head, maximum) in [([], 20), (["Location: file:///etc/passwd"], 0)] {
      let server = try ScriptedServer([ScriptStep.respond("302 Found", headers: head, body: "moved")])
      defer { server.stop() }
      let engine = try Self.engine { $0.redirects.maximum = maximum }
      let result = await Self.run(engine, Request(url: try HTTPURL(server.baseURL + "/")))
      #expect(result.error == nil)
      #expect(result.response?.status == 302)
      #expect(result.response?.body.bytes == Array("moved".utf8))
    }
  }

  @Test func `a Location that is not ASCII is converted to a URL and followed`() async throws {
    let location = "Location: http://bücher.example/süß?ü"
    let proxy = try ScriptedServer([
      ScriptStep.respond("302 Found", headers: [location]) + ScriptStep.respond(body: "arrived")
    ])
    defer { proxy.stop() }
    let engine = try Self.engine { $0.transport.proxy = proxy.baseURL }
    let result = await Self.run(engine, Request(url: HTTPURL("http://a.example/")))
    #expect(result.error == nil)
    #expect(result.finalURL?.string == "http://xn--bcher-kva.example/s%C3%BC%C3%9F?%C3%BC")
    #expect(
      proxy.receivedText.joined().contains("GET http://xn--bcher-kva.example/s%C3%BC%C3%9F?%C3%BC HTTP/1.1\r\n"))
  }

  @Test func `a Location with a bare CR or a line break adds no header to the next request`() async throws {
    for location in ["/x\rx-evil: 1", "/x\r\n x-evil: 1"] {
      let server = try ScriptedServer([
        ScriptStep.respond("302 Found", headers: ["Location: \(location)"]) + ScriptStep.respond(body: "followed")
      ])
      defer { server.stop() }
      _ = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/")))
      #expect(!server.receivedText.joined().contains("\nx-evil"))
    }
  }

  @Test func `a Location of ten kilobytes is followed`() async throws {
    let long = "/" + String(repeating: "x", count: 10_240)
    let server = try LoopbackServer { request in
      request.target == "/" ? Self.redirect(302, long) : .text("ok")
    }
    defer { server.stop() }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.response?.status == 200)
    #expect(server.requests.last?.target == long)
  }

  @Test func `a Location that begins with // is followed to another host`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let target = "//127.0.0.1:\(other.port)/end"
    let server = try LoopbackServer { _ in Self.redirect(307, target) }
    defer { server.stop() }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.response?.status == 200)
    #expect(other.requests.map(\.target) == ["/end"])
  }

  @Test func `a body that cannot be produced again is never sent a second time`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let pieces = Watched(["once", "only"])
    let body = Body.stream(
      BodyStream { _ in pieces.update { $0.isEmpty ? nil : Array($0.removeFirst().utf8) } })
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL + "/307/end"), body: body)
    let result = await Self.run(try Self.engine(), request)
    #expect(result.error?.code == .bodyNotReplayable)
    #expect(result.response?.status == 307)
    #expect(server.requestCount == 1)
  }

  @Test func `a body that cannot be produced again does not stop a redirect that drops it`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let pieces = Watched(["once"])
    let body = Body.stream(
      BodyStream { _ in pieces.update { $0.isEmpty ? nil : Array($0.removeFirst().utf8) } })
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL + "/303/end"), body: body)
    let result = await Self.run(try Self.engine(), request)
    #expect(result.error == nil)
    #expect(server.requests.map(\.method) == ["POST", "GET"])
  }

  @Test func `a retry starts again at the original URL, with redirects counted from zero`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let engine = try Self.engine {
      $0.redirects.maximum = 1
      $0.addStage(
        "again", StageCode(response: { _, context in if context.attemptNumber < 2 { throw RetryRequestError() } }))
    }
    let result = await Self.run(engine, Request(url: try HTTPURL(server.baseURL + "/302/end")))
    #expect(result.error == nil)
    #expect(result.attempts == 3)
    #expect(server.requests.map(\.target) == ["/302/end", "/end", "/302/end", "/end", "/302/end", "/end"])
  }

  @Test func `if the hop after a redirect gets no response, the result does not have the redirect as its response`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.redirect(302, "http://127.0.0.1:1/") }
    defer { server.stop() }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.error?.code == "connect")
    #expect(result.response == nil)
  }

  @Test func `Swift stages and then delegates decide about redirects`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    var configuration = Configuration()
    configuration.addStage(
      "decides",
      StageCode(redirect: { redirect, _, context in
        log.update { $0.append("stage \(redirect.status)") }
        await Task.yield()
        return redirect.status == 308 ? .takeResponse : .follow
      }))
    let engine = try Engine(configuration, delegate: LoggingDelegate("engine", log))
    let url = try HTTPURL(server.baseURL + "/302/end")
    #expect(await engine.transaction(Request(url: url), delegate: LoggingDelegate("own", log)).response?.status == 200)
    #expect(log.value == ["stage 302", "own 302", "engine 302", "own done 200", "engine done 200"])
    log.update { $0 = [] }
    let refusing = LoggingDelegate("own", log, takes: true)
    #expect(await engine.transaction(Request(url: url), delegate: refusing).response?.status == 302)
    #expect(log.value == ["stage 302", "own 302", "own done 302", "engine done 302"])
    let permanent = try HTTPURL(server.baseURL + "/308/end")
    #expect(await engine.transaction(Request(url: permanent)).response?.status == 308)
    await engine.shutdown()
  }

  @Test func `a cancellation while a stage decides about a redirect ends the transaction and the stage`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let (reached, cancelled) = (Signal(), Signal())
    let engine = try Self.engine {
      $0.addStage(
        "waits",
        StageCode(redirect: { _, _, _ in
          reached.set()
          do { try await untilCancelled() } catch { cancelled.set() }
          return .follow
        }))
    }
    let cancellation = Cancellation()
    let outcome = Watched<TransactionOutcome?>(nil)
    engine.submit(Request(url: try HTTPURL(server.baseURL + "/302/end")), cancellation: cancellation) { result in
      outcome.update { $0 = result.outcome }
    }
    try await reached.wait(for: "the stage")
    cancellation.cancel()
    try await outcome.wait(for: "the end") { $0 != nil }
    #expect(outcome.value == .cancelled)
    try await cancelled.wait(for: "the task's cancellation")
    #expect(server.requestCount == 1)
    await engine.shutdown()
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `nginx's redirects over TLS and HTTP/2 are followed`() async throws
  {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let engine = try Self.engine { $0.transport.tls.ca = certificates.authority }
    let result = await Self.run(engine, Request(url: try HTTPURL(nginx.secureBaseURL + "/redirect")))
    #expect(result.error == nil)
    #expect(result.response?.version == .http2)
    #expect(result.response?.body.bytes == Array("ok\n".utf8))
    #expect(result.timings?.isConnectionReused == true)
    try await nginx.stop()
  }

  @Test func `a redirect with a long body is followed at once, and the body is cut off`() async throws {
    let end = Signal()
    let server = try ScriptedServer([
      [
        .receiveHead, .send("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 1000000000\r\n\r\nmoved"),
        .wait(end),
      ], ScriptStep.respond(body: "ok"),
    ])
    defer {
      end.set()
      server.stop()
    }
    let result = await Self.run(try Self.engine(), Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.response?.status == 200)
    #expect(server.connectionCount == 2)
  }
}

private struct LoggingDelegate: TransactionDelegate {
  private let name: String
  private let log: Watched<[String]>
  private let takes: Bool

  init(_ name: String, _ log: Watched<[String]>, takes: Bool = false) {
    self.name = name
    self.log = log
    self.takes = takes
  }

  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    log.update { $0.append("\(name) \(redirect.status)") }
    return takes ? .takeResponse : .follow
  }

  func transactionDidComplete(_ result: TransactionResult) {
    log.update { $0.append("\(name) done \(result.response?.status ?? 0)") }
  }
}
