import SluiceAssembly
import SluiceClient
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import Testing

/// Decides as it is told, and notes what it was asked.
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

/// The delegate of a call, beside that of the client.
@Suite struct DelegateTests {
  private struct Refusal: Error, CustomStringConvertible {
    let description = "not this one"
  }

  /// `/old` leads to `/new`, and `/secret` wants a user.
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

  @Test func `the delegate of the call is asked first, and the client's where it leaves the decision`() async throws {
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

  @Test func `a delegate that throws fails the call, and nothing more is sent`() async throws {
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

  @Test func `a delegate that does not decide is bounded by the timeout of the request`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    let isCancelled = Watched(false)
    let waiting = Decider(
      "call", log,
      redirect: { _ in
        try await withTaskCancellationHandler {
          try await Task.sleep(for: .seconds(3600))
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

  @Test func `a call that is cancelled while its delegate decides ends, and sends nothing more`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let log = Watched<[String]>([])
    let waiting = Decider(
      "call", log,
      challenge: { _ in
        try await Task.sleep(for: .seconds(3600))
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

  @Test func `a delegate is kept until its call has ended, and not longer`() async throws {
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
      // The loop lets go of the transaction after it has told the result.
      await client.shutdown(drain: .zero)
      #expect(kept == nil)
    }
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
