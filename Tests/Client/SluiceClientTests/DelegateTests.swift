import SluiceAssembly
import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Makes the decisions that the test gives it, and records each request for a decision.
private final class Decider: TransactionDelegate {
  typealias Redirecting = @Sendable (Redirect) async throws -> RedirectDecision
  typealias Challenging = @Sendable (ChallengeOffer) async throws -> ChallengeDecision

  let name: String
  private let log: Watched<[String]>
  private let redirecting: Redirecting
  private let challenging: Challenging

  init(
    _ name: String, _ log: Watched<[String]>, redirect: @escaping Redirecting = { _ in .follow },
    challenge: @escaping Challenging = { _ in .performDefaultHandling }
  ) {
    (self.name, self.log, redirecting, challenging) = (name, log, redirect, challenge)
  }

  private func note(_ what: String) { log.update { $0.append("\(name) \(what)") } }

  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    note("redirect")
    return try await redirecting(redirect)
  }

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
    note("challenge")
    return try await challenging(offer)
  }

  func transactionDidComplete(_ result: TransactionResult) { note("end") }
}

/// A delegate for one call, in addition to the client's delegate.
@Suite struct DelegateTests {
  private struct Refusal: Error, CustomStringConvertible {
    let description = "not this one"
  }

  /// `/old` redirects to `/new`, and `/secret` requires credentials.
  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      switch request.target {
      case "/old": ServerResponse(status: 302, headers: [HeaderLine("Location", "/new")])
      case "/secret" where request.value(of: "authorization") == nil:
        ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"r\"")])
      default: .text(request.value(of: "authorization") ?? "ok")
      }
    }
  }

  @Test func `the call's delegate is asked first, and the client's delegate only if the first does not decide`()
    async throws
  {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    let ours = Decider("client", log, redirect: { _ in .takeResponse }, challenge: { _ in .answer("Client") })
    try await withClient(delegate: ours) { client in
      let (_, redirect) = try await client.data(from: server.url("/old"), delegate: Decider("call", log))
      #expect(redirect.status == 302)
      #expect(log.value == ["call redirect", "client redirect", "call end", "client end"])

      log.update { $0 = [] }
      let answering = Decider("call", log, redirect: { _ in .takeResponse }, challenge: { _ in .answer("Call") })
      let (bytes, _) = try await client.data(from: server.url("/secret"), delegate: answering)
      #expect(String(decoding: bytes, as: UTF8.self) == "Call")
      _ = try await client.data(from: server.url("/old"), delegate: answering)
      #expect(
        log.value == [
          "call challenge", "call end", "client end", "call redirect", "call end", "client end",
        ])

      let (others, _) = try await client.data(from: server.url("/secret"), delegate: Decider("call", Watched([])))
      #expect(String(decoding: others, as: UTF8.self) == "Client")
    }
  }

  @Test func `if a delegate throws, the call fails and no other request is sent`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    let throwing = Decider("call", log, redirect: { _ in throw Refusal() }, challenge: { _ in throw Refusal() })
    try await withClient { client in
      for path in ["/old", "/secret"] {
        let url = try server.url(path)
        let error = await failure { () throws(TransactionError) in
          _ = try await client.data(from: url, delegate: throwing)
        }
        #expect(error?.message.contains("not this one") == true, "\(String(describing: error))")
      }
    }
    #expect(server.requests.map(\.target) == ["/old", "/secret"])
    #expect(log.value == ["call redirect", "call end", "call challenge", "call end"])
  }

  @Test func `the timeout of the request ends a call whose delegate does not decide`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    let isCancelled = Watched(false)
    let waiting = Decider(
      "call", log,
      redirect: { _ in
        try await withTaskCancellationHandler {
          try await untilCancelled()
        } onCancel: {
          isCancelled.update { $0 = true }
        }
        return .follow
      })
    try await withClient { client in
      var request = Request(url: try server.url("/old"))
      request.timeout = .milliseconds(200)
      let sent = request
      let error = await failure { () throws(TransactionError) in
        _ = try await client.data(for: sent, delegate: waiting)
      }
      #expect(error?.code == .deadline, "\(String(describing: error))")
    }
    try await isCancelled.wait(for: "the delegate's task to be cancelled") { $0 }
    #expect(server.requests.map(\.target) == ["/old"])
    #expect(log.value == ["call redirect", "call end"])
  }

  @Test func `if a call is cancelled while its delegate decides, the call ends without another request`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    let waiting = Decider(
      "call", log,
      challenge: { _ in
        try await untilCancelled()
        return .answer("late")
      })
    try await withClient { client in
      let url = try server.url("/secret")
      let call = Task { try await client.data(from: url, delegate: waiting) }
      try await log.wait(for: "the challenge") { $0.contains("call challenge") }
      call.cancel()
      let result = await call.result
      #expect(throws: TransactionError.self) { try result.get() }
    }
    #expect(server.requests.map(\.target) == ["/secret"])
    #expect(log.value == ["call challenge", "call end"])
  }

  @Test func `a delegate is retained exactly until its call has ended`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    try await withClient { client in
      weak var kept: Decider?
      do {
        let delegate = Decider("call", log)
        kept = delegate
        _ = try await client.data(from: server.url("/old"), delegate: delegate)
      }
      #expect(log.value == ["call redirect", "call end"])
      // The loop releases the transaction after it has delivered the result.
      await client.shutdown(drain: .zero)
      #expect(kept == nil)
    }
  }

  @Test func `a decision that takes too long fails the call`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    try await withClient { client in
      let url = try server.url("/old")
      let error = await failure { () throws(TransactionError) in
        _ = try await client.data(from: url, delegate: Hesitant(log: log))
      }
      #expect(error?.code == .stageTimeout && error?.stage == "delegate")
      #expect(error?.message.contains("it did not decide within its deadline of 0.05 seconds") == true)
    }
    #expect(server.requests.map(\.target) == ["/old"])
    #expect(log.value == ["asked", "cancelled"])
  }

  private struct Hesitant: TransactionDelegate {
    let log: Watched<[String]>
    let decisionTimeout: Duration? = .milliseconds(50)

    func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
      log.update { $0.append("asked") }
      do { try await untilCancelled() } catch { log.update { $0.append("cancelled") } }
      return .follow
    }
  }

  // MARK: What a delegate is told

  /// Records each call of its methods.
  private final class Follower: TransactionDelegate {
    struct Told: Sendable {
      var sent: [TransferProgress] = []
      var received: [TransferProgress] = []
      var informational: [String] = []
      var hops: [HopMetrics] = []
      var results: [TransactionResult] = []
    }

    let told = Watched(Told())

    func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
      .credentials(user: "u", password: "p")
    }

    func transaction(_ id: TransactionID, didSend progress: TransferProgress) {
      told.update { $0.sent.append(progress) }
    }

    func transaction(_ id: TransactionID, didReceive progress: TransferProgress) {
      told.update { $0.received.append(progress) }
    }

    func transaction(_ id: TransactionID, didReceiveInformational status: Int, headers: HeaderFields) {
      told.update { $0.informational.append("\(status) \(headers["link"] ?? "")") }
    }

    func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) { told.update { $0.hops.append(metrics) } }

    func transactionDidComplete(_ result: TransactionResult) { told.update { $0.results.append(result) } }
  }

  @Test func `the delegates of the call and of the client learn the progress of both bodies`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(pattern, byteCount: 200_000, chunked: false))
    }
    defer { server.stop() }
    let (own, common) = (Follower(), Follower())
    try await withClient(delegate: common) { client in
      let request = Request(method: "POST", url: try server.url())
      let (bytes, _) = try await client.upload(for: request, from: Pieces(pieces: [[1, 2], [3]]), delegate: own)
      #expect(bytes.count == 200_000)
      for follower in [own, common] {
        let told = follower.told.value
        #expect(told.sent.last == TransferProgress(bytes: 3, total: nil))
        #expect(told.received.last == TransferProgress(bytes: 200_000, total: 200_000))
        #expect(told.received.last?.fraction == 1 && told.sent.last?.fraction == nil)
        #expect(told.hops.count == 1 && told.results.count == 1)
      }
      let folder = try TemporaryDirectory()
      _ = try await client.download(from: server.url(), to: folder.path + "/x", delegate: own)
      #expect(own.told.value.received.suffix(1) == [TransferProgress(bytes: 200_000, total: 200_000)])
    }
  }

  @Test func `a delegate learns the progress of a request that is recorded`() async throws {
    let server = try LoopbackServer { _ in .text("answer") }
    defer { server.stop() }
    let follower = Follower()
    try await withClient { client in
      var request = Request(method: "POST", url: try server.url(), body: .text("abc"))
      request.wantsRecording = true
      _ = try await client.data(for: request, delegate: follower)
    }
    #expect(follower.told.value.sent.last == TransferProgress(bytes: 3, total: 3))
    #expect(follower.told.value.received.last == TransferProgress(bytes: 6, total: 6))
  }

  @Test func `the metrics of every hop are reported: the redirect, the challenge and the last hop`() async throws {
    let server = try LoopbackServer { request in
      switch request.target {
      case "/old": ServerResponse(status: 302, headers: [HeaderLine("Location", "/secret")])
      case "/secret" where request.value(of: "authorization") == nil:
        ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"r\"")])
      default: .text("ok")
      }
    }
    defer { server.stop() }
    let follower = Follower()
    try await withClient { client in
      _ = try await client.data(from: server.url("/old"), delegate: follower)
    }
    let hops = follower.told.value.hops
    #expect(hops.map(\.status) == [302, 401, 200] && hops.map(\.hop) == [0, 1, 2])
    #expect(hops.map(\.url.path) == ["/old", "/secret", "/secret"])
    #expect(hops.map(\.timings.isConnectionReused) == [false, true, true])
    #expect(Set(hops.map(\.connection?.id)).count == 1 && hops.allSatisfy { $0.connection?.id != nil })
    #expect(hops.allSatisfy { $0.error == nil && $0.attempt == 0 && $0.method == "GET" })
    #expect(hops.allSatisfy { $0.timings.bytesSent > 0 && $0.timings.peerAddress == "127.0.0.1" })
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `metrics have the versions of HTTP and TLS`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let follower = Follower()
    try await withClient({ $0.transport.tls.ca = certificates.authority }) { client in
      _ = try await client.data(from: HTTPURL(nginx.secureBaseURL + "/"), delegate: follower)
    }
    let hop = try #require(follower.told.value.hops.first)
    #expect(hop.timings.version == .http2 && hop.connection?.security?.version.hasPrefix("TLSv1.") == true)
    #expect(hop.timings.tlsHandshake > .zero)
  }

  @Test func `a hop that fails to connect, breaks off or is cancelled is reported too`() async throws {
    let hasBegun = Signal()
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close],
      [.receiveHead, .signal(hasBegun), .receiveToEnd],
    ])
    defer { server.stop() }
    let follower = Follower()
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      let nowhere = try HTTPURL("http://127.0.0.1:\(Loopback.freePort())/")
      _ = await failure { () throws(TransactionError) in _ = try await client.data(from: nowhere, delegate: follower) }
      let url = try server.url()
      _ = await failure { () throws(TransactionError) in _ = try await client.data(from: url, delegate: follower) }
      let call = Task { try await client.data(from: url, delegate: follower) }
      try await hasBegun.wait(for: "the request")
      call.cancel()
      _ = await call.result
    }
    let hops = follower.told.value.hops
    #expect(hops.map(\.error?.code) == [.connect, .connectionLost, .cancelled])
    #expect(hops.map(\.status) == [nil, 200, nil])
    #expect(hops.map { $0.connection != nil } == [false, true, true])
    #expect(follower.told.value.results.count == 3)
  }

  @Test func `an attempt that ends at its time limit is reported with the error timeout`() async throws {
    let server = try ScriptedServer(.receiveHead, .receiveToEnd)
    defer { server.stop() }
    let follower = Follower()
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      var request = Request(url: try server.url())
      request.options.attemptTimeout = .milliseconds(50)
      let sent = request
      _ = await failure { () throws(TransactionError) in _ = try await client.data(for: sent, delegate: follower) }
    }
    #expect(follower.told.value.hops.map(\.error?.code) == [.timeout])
  }

  @Test func `informational responses are reported before the response`() async throws {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"
    let server = try ScriptedServer(
      .receiveHead, .send(hints + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .receiveToEnd)
    defer { server.stop() }
    let follower = Follower()
    try await withClient { client in
      _ = try await client.data(from: server.url(), delegate: follower)
    }
    #expect(follower.told.value.informational == ["103 </a.css>", "103 "])
  }

  @Test func `the result that a delegate gets has the timings of its last hop`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let results = Watched<[TransactionResult]>([])
    try await withClient { client in
      _ = try await client.data(from: server.url("/old"), delegate: Collector(results))
    }
    let result = try #require(results.value.first)
    #expect(results.value.count == 1 && result.response?.status == 200)
    #expect(result.timings?.isConnectionReused == true)
  }

  private struct Collector: TransactionDelegate {
    let results: Watched<[TransactionResult]>

    init(_ results: Watched<[TransactionResult]>) { self.results = results }

    func transactionDidComplete(_ result: TransactionResult) { results.update { $0.append(result) } }
  }
}
