import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTransport
import Testing

@testable import SluiceAssembly
@testable import Sluice

/// Challenges over real sockets.
@Suite struct ChallengeTests {
  /// Makes a server that demands Digest with user `u` and password `p`. `nonce` returns the nonce that the server
  /// accepts for a request, given the request's number.
  static func digestServer(
    _ algorithm: String = "SHA-256", more: String = "", nonce: @escaping @Sendable (Int) -> String = { _ in "n0" },
    answer: @escaping @Sendable (ServerRequest) -> ServerResponse = { _ in .text("ok") }
  ) throws -> LoopbackServer {
    let count = Watched(0)
    return try LoopbackServer { request in
      let number = count.update { count in
        count += 1
        return count
      }
      let wanted = nonce(number)
      let sent = request.value(of: "authorization") ?? ""
      let parameters = Challenge.parameters(of: String(sent.dropFirst("Digest ".count))) ?? []
      func value(_ name: String) -> String { parameters.first { $0.name == name }?.value ?? "" }
      let text = #"Digest realm="r", nonce="\#(wanted)", qop="auth", algorithm=\#(algorithm)"#
      let headers: HeaderFields = ["www-authenticate": text]
      let digest = Challenge.challenges(in: headers, "www-authenticate").first.flatMap { DigestChallenge($0) }
      let expected = digest?.answer(
        Credentials(user: Array("u".utf8), password: Array("p".utf8)), request.method, request.target,
        UInt32(value("nc"), radix: 16) ?? 0, value("cnonce"))
      let isRight =
        expected.flatMap { Challenge.parameters(of: String($0.dropFirst(7))) }?.first { $0.name == "response" }?.value
        == value("response")
      if isRight, value("nonce") == wanted, value("uri") == request.target { return answer(request) }
      let stale = isRight || value("nonce").isEmpty || value("nonce") == wanted ? "" : ", stale=true"
      return ServerResponse(
        status: 401, headers: [HeaderLine("WWW-Authenticate", text + stale + more)], body: .bytes(Array("who?".utf8)))
    }
  }

  private static func url(_ server: LoopbackServer, _ path: String = "/x?y", user: String = "u:p") throws -> HTTPURL {
    try HTTPURL("http://\(user)@127.0.0.1:\(server.port)\(path)")
  }

  private static func run(
    _ request: Request, _ delegate: (any TransactionDelegate)? = nil, _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> TransactionResult {
    var configuration = Configuration()
    change(&configuration)
    let engine = try Engine(configuration)
    let result = await engine.transaction(request, delegate: delegate)
    await engine.shutdown()
    return result
  }

  @Test(arguments: ["MD5", "SHA-256", "SHA-512-256", "MD5-sess", "SHA-256-sess"])
  func `the URL's user and password answer Digest, and the body is sent again`(algorithm: String) async throws {
    let server = try Self.digestServer(algorithm)
    defer { server.stop() }
    let request = Request(method: "POST", url: try Self.url(server), body: .text("body"))
    let result = try await Self.run(request) { $0.credentialPolicy = .digest }
    #expect(result.response?.status == 200)
    #expect(result.attempts == 1)
    #expect(server.requests.map { $0.value(of: "authorization") == nil } == [true, false])
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["body", "body"])
  }

  @Test func `Basic is sent with the first request, and replaced by Digest if the server demands it`() async throws {
    let server = try Self.digestServer()
    defer { server.stop() }
    #expect(try await Self.run(Request(url: Self.url(server))).response?.status == 200)
    let sent = server.requests.map { $0.value(of: "authorization")?.prefix(6) }
    #expect(sent == ["Basic ", "Digest"])
  }

  @Test func `a wrong password is tried once, and the 401 with its body is the response`() async throws {
    let server = try Self.digestServer()
    defer { server.stop() }
    let result = try await Self.run(Request(url: Self.url(server, user: "u:wrong"))) { $0.credentialPolicy = .digest }
    #expect(result.error?.code == .status)
    #expect(result.response?.status == 401)
    #expect(result.response?.body.bytes == Array("who?".utf8))
    #expect(server.requestCount == 2)
  }

  /// Two realms of Digest and one of Basic, of which each answer to one is followed by a demand for all three.
  private static let several = [
    #"Digest realm="r, x", nonce="n", algorithm=SHA-512-256, Basic realm="q", Digest realm="r", nonce="n3","#,
    #"qop="auth-int, auth", algorithm=MD5"#,
  ].joined(separator: " ")

  @Test(arguments: [CredentialPolicy.digest, .basicFirst, .whenAsked])
  func `of several challenges only one is answered, and a refused password answers no other`(
    policy: CredentialPolicy
  ) async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", Self.several)])
    }
    defer { server.stop() }
    let request = Request(method: "POST", url: try Self.url(server, user: "u:wrong"), body: .text("body"))
    let result = try await Self.run(request) { $0.credentialPolicy = policy }
    #expect(result.response?.status == 401 && result.attempts == 1)
    #expect(server.requestCount == 2)
  }

  @Test func `two stages with different passwords each answer once`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", Self.several)])
    }
    defer { server.stop() }
    let request = Request(url: try HTTPURL(server.baseURL + "/x"))
    let result = try await Self.run(request) { configuration in
      for password in ["first", "second"] {
        let code = StageCode(challenge: { _, _, _ in .credentials(user: "u", password: password) })
        configuration.addStage(password, code)
      }
    }
    #expect(result.response?.status == 401)
    #expect(server.requestCount == 3)
  }

  @Test func `a stale nonce does not count as a wrong password`() async throws {
    let server = try Self.digestServer(nonce: { $0 == 1 ? "old" : "new" })
    defer { server.stop() }
    let result = try await Self.run(Request(url: Self.url(server))) { $0.credentialPolicy = .digest }
    #expect(result.response?.status == 200)
    #expect(server.requestCount == 3)
  }

  @Test func `a server that calls each nonce stale gets at most 9 requests`() async throws {
    let server = try Self.digestServer(nonce: { "n\($0)" })
    defer { server.stop() }
    let result = try await Self.run(Request(url: Self.url(server))) { $0.credentialPolicy = .digest }
    #expect(result.response?.status == 401)
    #expect(server.requestCount == 9)
  }

  @Test func `the request after a redirect within the origin has its own digest with the next nonce`() async throws {
    let server = try Self.digestServer(nonce: { $0 < 3 ? "first" : "second" }) { request in
      guard request.target == "/x?y" else { return .text("ok") }
      return ServerResponse(
        status: 302,
        headers: [HeaderLine("Location", "/end"), HeaderLine("Authentication-Info", #"nextnonce="second""#)])
    }
    defer { server.stop() }
    let result = try await Self.run(Request(url: Self.url(server))) { $0.credentialPolicy = .digest }
    #expect(result.response?.status == 200)
    #expect(server.requests.map(\.target) == ["/x?y", "/x?y", "/end"])
    #expect(server.requests.last?.value(of: "authorization")?.contains("nc=00000001") == true)
  }

  @Test func `the request after a redirect to another origin has no credentials`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let target = other.baseURL + "/end"
    let server = try Self.digestServer(answer: { _ in
      ServerResponse(status: 302, headers: [HeaderLine("Location", target)])
    })
    defer { server.stop() }
    let result = try await Self.run(Request(url: Self.url(server))) { $0.credentialPolicy = .digest }
    #expect(result.response?.status == 200)
    #expect(other.requests.first?.value(of: "authorization") == nil)
  }

  @Test func `if the caller's Authorization header is refused, the URL's credentials are not tried`() async throws {
    let server = try Self.digestServer()
    defer { server.stop() }
    let request = Request(url: try Self.url(server), headers: ["Authorization": "Bearer x"])
    #expect(try await Self.run(request).response?.status == 401)
    #expect(server.requestCount == 1)
  }

  @Test(arguments: [
    "", "Digest", "Digest realm=\"open", "Basic realm=x, Basic realm=x, Basic realm=x", "Bearer", "Digest nonce=\"x\"",
    String(repeating: "Digest realm=x, nonce=y, algorithm=none, ", count: 200),
  ])
  func `a 401 whose challenge cannot be answered is the transaction's response`(field: String) async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 401, headers: field.isEmpty ? [] : [HeaderLine("WWW-Authenticate", field)])
    }
    defer { server.stop() }
    let result = try await Self.run(Request(url: Self.url(server)))
    #expect(result.response?.status == 401)
    #expect(server.requestCount == 1)
  }

  @Test func `a delegate answers challenges, is told when the transaction ends, and is released`() async throws {
    let server = try LoopbackServer { request in
      request.value(of: "authorization") == "Bearer t"
        ? .text("ok")
        : ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", #"Basic realm="a", Bearer scope="s""#)])
    }
    defer { server.stop() }
    let log = Watched<[String]>([])
    weak var released: DecidingDelegate?
    do {
      let delegate = DecidingDelegate(log) {
        $0.challenge.isScheme("bearer") ? .answer("Bearer t") : .performDefaultHandling
      }
      released = delegate
      let result = try await Self.run(Request(url: HTTPURL(server.baseURL + "/")), delegate)
      #expect(result.response?.status == 200)
    }
    #expect(log.value == ["Basic 0", "Bearer 0", "done 200"])
    #expect(released == nil)
  }

  @Test func `user and password from a delegate answer Digest and Basic challenges`() async throws {
    let digest = try Self.digestServer()
    defer { digest.stop() }
    let log = Watched<[String]>([])
    let delegate = DecidingDelegate(log) { _ in .credentials(user: "u", password: "p") }
    #expect(try await Self.run(Request(url: HTTPURL(digest.baseURL + "/x")), delegate).response?.status == 200)
    #expect(digest.requests.last?.value(of: "authorization")?.hasPrefix("Digest ") == true)

    let basic = try LoopbackServer { request in
      request.value(of: "authorization") == "Basic dTpw"
        ? .text("ok") : ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=x")])
    }
    defer { basic.stop() }
    #expect(try await Self.run(Request(url: HTTPURL(basic.baseURL + "/x")), delegate).response?.status == 200)
    #expect(basic.requestCount == 2)
    let wrong = DecidingDelegate(log) { _ in .credentials(user: "u", password: "q") }
    #expect(try await Self.run(Request(url: HTTPURL(basic.baseURL + "/x")), wrong).response?.status == 401)
    #expect(basic.requestCount == 4)
  }

  @Test func `a delegate can cancel at a challenge, and fails the transaction if its answer is an invalid header`()
    async throws
  {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=x")])
    }
    defer { server.stop() }
    let log = Watched<[String]>([])
    let url = try HTTPURL(server.baseURL + "/")
    let cancelling = DecidingDelegate(log) { _ in .cancel }
    #expect(try await Self.run(Request(url: url), cancelling).error?.code == .cancelled)
    let breaking = DecidingDelegate(log) { _ in .answer("a\r\nx-evil: b") }
    #expect(try await Self.run(Request(url: url), breaking).error?.code == "invalid_header")
    #expect(server.requestCount == 2)
  }

  @Test func `user and password from a stage answer a Digest or Basic challenge once`() async throws {
    let digest = try Self.digestServer()
    defer { digest.stop() }
    let basic = try LoopbackServer { request in
      request.value(of: "authorization") == "Basic dTpw"
        ? .text("ok") : ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"r\"")])
    }
    defer { basic.stop() }
    for (password, status) in [("p", 200), ("wrong", 401)] {
      let code = StageCode(challenge: { _, _, _ in .credentials(user: "u", password: password) })
      for server in [digest, basic] {
        let before = server.requestCount
        let request = Request(url: try HTTPURL("http://127.0.0.1:\(server.port)/x?y"))
        let result = try await Self.run(request) { $0.addStage("credentials", code) }
        #expect(result.error?.code == (status == 401 ? "http_status" : nil))
        #expect(result.response?.status == status)
        #expect(server.requestCount == before + 2)
      }
    }
  }

  @Test func `a stage's password does not answer Bearer, and a stage can cancel at a challenge`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Bearer")])
    }
    defer { server.stop() }
    let request = Request(url: try HTTPURL(server.baseURL + "/"))
    let left = try await Self.run(request) {
      $0.addStage("credentials", StageCode(challenge: { _, _, _ in .credentials(user: "u", password: "p") }))
    }
    #expect(left.response?.status == 401 && server.requestCount == 1)
    let cancelled = try await Self.run(request) {
      $0.addStage("cancels", StageCode(challenge: { _, _, _ in .cancel }))
    }
    #expect(cancelled.error?.code == "cancelled")
  }

  @Test func `stages are asked first, then the transaction's delegate, then the engine's`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Bearer")])
    }
    defer { server.stop() }
    let log = Watched<[String]>([])
    var configuration = Configuration()
    configuration.addStage(
      "stage",
      StageCode(challenge: { offer, _, _ in
        log.update { $0.append("stage \(offer.answered)") }
        return .performDefaultHandling
      }))
    let engine = try Engine(configuration, delegate: DecidingDelegate(log, "engine") { _ in .performDefaultHandling })
    let own = DecidingDelegate(log, "own") { $0.answered == 0 ? .answer("Bearer x") : .performDefaultHandling }
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/")), delegate: own)
    #expect(result.response?.status == 401)
    #expect(
      log.value == [
        "stage 0", "own Bearer 0", "stage 1", "own Bearer 1", "engine Bearer 1", "own done 401", "engine done 401",
      ])
    await engine.shutdown()
  }

  @Test func `a challenge is not answered if the request's body cannot be produced again`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Bearer")])
    }
    defer { server.stop() }
    let pieces = Watched(["once"])
    let body = Body.stream(
      BodyStream { _ in pieces.update { $0.isEmpty ? nil : Array($0.removeFirst().utf8) } })
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL + "/"), body: body)
    let delegate = DecidingDelegate(Watched<[String]>([])) { _ in .answer("Bearer x") }
    let result = try await Self.run(request, delegate)
    #expect(result.error?.code == .bodyNotReplayable)
    #expect(result.response?.status == 401)
    #expect(server.requestCount == 1)
  }

  @Test func `a 407 from a proxy is answered, and a 407 from the server is not`() async throws {
    let refusal = ScriptStep.respond(
      "407 Proxy Authentication Required", headers: ["Proxy-Authenticate: Basic realm=p"], body: "who?")
    let proxy = try ScriptedServer([refusal + ScriptStep.respond(body: "ok")])
    defer { proxy.stop() }
    let log = Watched<[String]>([])
    let delegate = DecidingDelegate(log) { _ in .credentials(user: "u", password: "p") }
    let url = HTTPURL("http://127.0.0.2:8/x")
    let result = try await Self.run(Request(url: url), delegate) { $0.transport.proxy = proxy.baseURL }
    #expect(result.response?.status == 200)
    let text = proxy.receivedText.joined()
    #expect(text.ranges(of: "GET http://127.0.0.2:8/x HTTP/1.1").count == 2)
    #expect(text.ranges(of: "Proxy-Authorization: Basic dTpw").count == 1)

    let server = try ScriptedServer([refusal])
    defer { server.stop() }
    let direct = try HTTPURL(server.baseURL + "/")
    let answer = try await Self.run(Request(url: direct), delegate) { $0.transport.proxy = "" }
    #expect(answer.response?.status == 407)
    #expect(server.connectionCount == 1)
  }

  @Test func `a proxy that calls each nonce too old gets only a few answers`() async throws {
    let asked = Watched(0)
    let proxy = try ScriptedServer { _, _ in
      let number = asked.update { count in
        count += 1
        return count
      }
      let challenge = "Proxy-Authenticate: Digest realm=\"r\", nonce=\"n\(number)\", qop=\"auth\", stale=true"
      return [.send("HTTP/1.1 407 P\r\nContent-Length: 0\r\n\(challenge)\r\n\r\n")]
    }
    defer { proxy.stop() }
    let request = Request(url: HTTPURL("http://127.0.0.2:8/x"))
    let result = try await Self.run(request) { $0.transport.proxy = "http://me:s3cret@127.0.0.1:\(proxy.port)" }
    #expect(result.response?.status == 407 && asked.value == 4, "\(result.outcome), \(asked.value)")
  }
}

private final class DecidingDelegate: TransactionDelegate {
  private let log: Watched<[String]>
  private let prefix: String
  private let decide: @Sendable (ChallengeOffer) -> ChallengeDecision

  init(
    _ log: Watched<[String]>, _ name: String = "", _ decide: @escaping @Sendable (ChallengeOffer) -> ChallengeDecision
  ) {
    self.log = log
    prefix = name.isEmpty ? "" : name + " "
    self.decide = decide
  }

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
    log.update { $0.append("\(prefix)\(offer.challenge.scheme) \(offer.answered)") }
    await Task.yield()
    return decide(offer)
  }

  func transactionDidComplete(_ result: TransactionResult) {
    log.update { $0.append("\(prefix)done \(result.response?.status ?? 0)") }
  }
}
