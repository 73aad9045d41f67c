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

/// Delegates that decide whether to trust a server's certificate; the server is nginx.
@Suite(.enabled(if: NginxServer.isAvailable)) struct ServerTrustTests {
  private typealias Decide = @Sendable (ServerTrust) async throws -> ServerTrustDecision

  /// Makes the decision that the test gives it, and records each request for a decision.
  private struct Judge: ServerTrustDelegate {
    let asked = Watched<[ServerTrust]>([])
    var decisionTimeout: Duration? = .seconds(240)
    let decide: Decide

    init(_ decide: @escaping Decide) { self.decide = decide }

    init(_ decision: ServerTrustDecision) { self.init { _ in decision } }

    func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision {
      asked.update { $0.append(trust) }
      return try await decide(trust)
    }
  }

  /// Runs the body with a server and a client that trusts the authority of the tests.
  private func withServer(
    _ flaw: TestCertificates.Flaw? = nil, delegate: (any TransactionDelegate)? = nil,
    _ change: (inout Configuration) -> Void = { _ in }, _ body: (Client, HTTPURL) async throws -> Void
  ) async throws {
    var configuration = NginxConfiguration()
    configuration.flaw = flaw
    try await withSecureServer(configuration, delegate: delegate, change, body)
  }

  private func get(
    _ client: Client, _ url: HTTPURL, _ delegate: (any TransactionDelegate)? = nil
  ) async -> TransactionError? {
    await failure { () throws(TransactionError) in
      let (_, response) = try await client.data(from: url, delegate: delegate)
      #expect(response.status == 200)
    }
  }

  @Test func `a server with a self-signed certificate is trusted only by calls whose delegate accepted it`()
    async throws
  {
    try await withServer(.selfSigned) { client, url in
      let judge = Judge(.accept)
      #expect(await get(client, url, judge) == nil)
      #expect(await get(client, url, judge) == nil)
      let trust = try #require(judge.asked.value.first)
      #expect(judge.asked.value.count == 1)
      #expect(trust.host == "localhost" && trust.port == url.origin.port)
      #expect(trust.failure?.contains("self-signed certificate") == true)
      let identity = try await TestCertificates.shared().server(.selfSigned)
      #expect(trust.certificates == [try await output("x509 -outform DER -in \(identity.certificate)")])
      #expect(trust.keyHash == (try await output("x509 -pubkey -noout -in \(identity.certificate)", hashingKey: true)))

      // A connection is open, but a call whose delegate did not accept the server cannot use it.
      let other = await get(client, url)
      #expect(other?.code == .tls && other?.message.contains("self-signed certificate") == true)
    }
  }

  /// Returns the output of the `openssl` command.
  private func output(_ arguments: String, hashingKey: Bool = false) async throws -> [UInt8] {
    let tail = hashingKey ? " | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary" : ""
    let result = try await Command.check("/bin/sh", ["-c", "openssl \(arguments)\(tail)"])
    return result.standardOutput
  }

  @Test func `a delegate can refuse a valid server, even if a connection to it is open`() async throws {
    try await withServer { client, url in
      #expect(await get(client, url) == nil)
      let judge = Judge(.refuse)
      for _ in 0..<2 {
        let error = await get(client, url, judge)
        #expect(error?.code == .tls && error?.stage == "delegate" && error?.isBeforeSending == true)
        #expect(error?.message == "it does not trust the certificate of \"localhost\"")
      }
      #expect(judge.asked.value.count == 2 && judge.asked.value.allSatisfy { $0.failure == nil })
      #expect(await get(client, url) == nil)
    }
  }

  @Test func `a delegate can refuse a valid server for a request that is recorded`() async throws {
    try await withServer { client, url in
      var request = Request(url: url)
      request.wantsRecording = true
      let error = await failure { () throws(TransactionError) in
        _ = try await client.data(for: request, delegate: Judge(.refuse))
      }
      #expect(error?.code == .tls && error?.stage == "delegate")
    }
  }

  @Test func `without a decision of the delegate, the certificate authorities decide`() async throws {
    let judge = Judge(.performDefaultHandling)
    try await withServer { client, url in
      #expect(await get(client, url, judge) == nil)
      #expect(await get(client, url, judge) == nil)
    }
    #expect(judge.asked.value.map(\.failure) == [nil])
    for flaw in TestCertificates.Flaw.allCases {
      try await withServer(flaw) { client, url in
        let expected = await get(client, url)
        let error = await get(client, url, judge)
        #expect(error?.code == .tls && error == expected)
      }
    }
  }

  @Test func `a delegate can accept a server certificate with any flaw`() async throws {
    for flaw in TestCertificates.Flaw.allCases {
      try await withServer(flaw) { client, url in
        #expect(await get(client, url, Judge(.accept)) == nil)
      }
    }
  }

  @Test func `a delegate can refuse a server even if certificates are not verified`() async throws {
    try await withServer(.selfSigned, { $0.transport.tls.verify = false }) { client, url in
      #expect(await get(client, url) == nil)
      #expect(await get(client, url, Judge(.refuse))?.code == .tls)
      let judge = Judge(.performDefaultHandling)
      #expect(await get(client, url, judge) == nil)
      #expect(judge.asked.value.map(\.failure) == [nil])
    }
  }

  @Test func `a call fails if its delegate throws or does not decide in time`() async throws {
    struct Refusal: Error, CustomStringConvertible { let description = "not this one" }
    try await withServer { client, url in
      let thrown = await get(client, url, Judge { _ in throw Refusal() })
      #expect(thrown?.stage == "delegate" && thrown?.message.contains("not this one") == true)

      let isCancelled = Signal()
      var hesitant = Judge { _ in
        do { try await untilCancelled() } catch { isCancelled.set() }
        return .accept
      }
      hesitant.decisionTimeout = .milliseconds(50)
      let late = await get(client, url, hesitant)
      #expect(late?.code == .stageTimeout && late?.stage == "delegate")
      #expect(late?.message == "it did not decide within its deadline of 0.05 seconds")
      try await isCancelled.wait(for: "the delegate's task to be cancelled")
      #expect(await get(client, url, Judge(.accept)) == nil)
    }
  }

  @Test func `after a call is cancelled while its delegate decides, the delegate of the next call decides`()
    async throws
  {
    try await withServer(.selfSigned) { client, url in
      let isAsked = Signal()
      let first = Judge { _ in
        isAsked.set()
        try await untilCancelled()
        return .accept
      }
      let call = Task { await get(client, url, first) }
      try await isAsked.wait(for: "the question")
      let second = Judge(.accept)
      let other = Task { await get(client, url, second) }
      call.cancel()
      #expect(await call.value?.code == .cancelled)
      #expect(await other.value == nil)
      #expect(second.asked.value.count == 1)
    }
  }

  @Test func `many calls at the same time, on several loops, ask the client's delegate only once`() async throws {
    let judge = Judge(.accept)
    try await withServer(.selfSigned, delegate: judge, { $0.transport.loops = 2 }) { client, url in
      #expect(await get(client, url) == nil)
      let errors = await withTaskGroup(of: TransactionError?.self) { group in
        for _ in 0..<50 { group.addTask { await get(client, url) } }
        return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
      }
      #expect(errors.isEmpty)
      #expect(judge.asked.value.count == 1)
    }
  }

  @Test func `if several calls wait for one connection, each is refused by its own delegate`() async throws {
    try await withServer(.selfSigned) { client, url in
      let isOpen = Signal()
      let first = Judge { _ in
        try await isOpen.wait(for: "the other calls")
        return .refuse
      }
      let refused = Task { await get(client, url, first) }
      try await first.asked.wait(for: "the question") { !$0.isEmpty }
      let accepting = Judge(.accept)
      let calls = (0..<5).map { _ in Task { await get(client, url, accepting) } }
      isOpen.set()
      #expect(await refused.value?.stage == "delegate")
      for call in calls { #expect(await call.value == nil) }
      #expect(first.asked.value.count == 1 && (1...5).contains(accepting.asked.value.count))
    }
  }

  @Test func `while a delegate decides, no other connection carries its request`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.flaw = .selfSigned
    configuration.accessLogFormat = "$uri"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let (bothAsked, firstIsDone) = (Signal(), Signal())
    let accepting = Judge { _ in
      try await bothAsked.wait(for: "the other question")
      return .accept
    }
    let refusing = Judge { _ in
      bothAsked.set()
      try await firstIsDone.wait(for: "the other call")
      return .refuse
    }
    try await withClient({ $0.transport.httpVersion = .http11 }) { client in
      let accepted = try HTTPURL(nginx.secureBaseURL + "/json")
      let first = Task { await get(client, accepted, accepting) }
      try await accepting.asked.wait(for: "the first question") { !$0.isEmpty }
      let second = Task { [url = try HTTPURL(nginx.secureBaseURL + "/post")] in await get(client, url, refusing) }
      #expect(await first.value == nil)
      firstIsDone.set()
      #expect(await second.value?.stage == "delegate")
    }
    try await nginx.stop()
    #expect(nginx.accessLog == ["/json"])
  }

  @Test func `each attempt asks the delegate again, and the delegate's task for an ended attempt is cancelled`()
    async throws
  {
    let sleeping = Judge { _ in
      try await untilCancelled()
      return .accept
    }
    try await withServer(.selfSigned) { client, url in
      var request = Request(url: url)
      request.options.attemptTimeout = .milliseconds(100)
      request.options.maximumAttempts = 3
      request.options.retry = RetryPolicy(
        connectionErrors: .always, backoff: Backoff(base: .zero, maximum: .zero), budget: 1)
      let sent = request
      let error = await failure { () throws(TransactionError) in
        _ = try await client.data(for: sent, delegate: sleeping)
      }
      #expect(error?.code == .timeout || error?.code == .retriesExhausted, "\(String(describing: error))")
    }
    #expect(sleeping.asked.value.count == 3)
  }

  @Test func `the call's delegate is asked first, and the client's delegate only if the first does not decide`()
    async throws
  {
    let common = Judge(.accept)
    try await withServer(.selfSigned, delegate: common) { client, url in
      #expect(await get(client, url, Judge(.refuse))?.code == .tls)
      #expect(common.asked.value.isEmpty)
      #expect(await get(client, url, Judge(.performDefaultHandling)) == nil)
      #expect(common.asked.value.count == 1)
    }
  }

  @Test func `a server that a call's delegate accepted can still be refused by the client's delegate`() async throws {
    let strict = Judge(.refuse)
    try await withServer(.selfSigned, delegate: strict) { client, url in
      let careless = Judge(.accept)
      for _ in 0..<2 { #expect(await get(client, url, careless) == nil) }
      #expect(careless.asked.value.count == 1 && strict.asked.value.isEmpty)
      #expect(await get(client, url)?.stage == "delegate")
      #expect(strict.asked.value.count == 1)
    }
  }

  @Test func `an acceptance holds for the delegate's client, not for another client of its engine`() async throws {
    let first = Judge(.accept)
    try await withServer(.selfSigned, delegate: first) { client, url in
      #expect(await get(client, url) == nil)
      let second = Judge(.refuse)
      let other = Client(engine: client.engine, delegate: second)
      #expect(await get(other, url)?.stage == "delegate")
      #expect(second.asked.value.count == 1)
      #expect(await get(client, url) == nil)
      #expect(first.asked.value.count == 1)
    }
  }

  @Test func `the delegate is asked about a TLS server after a redirect, but not about a server without TLS`()
    async throws
  {
    try await withServer(.selfSigned) { client, url in
      let clear = try LoopbackServer { _ in
        ServerResponse(status: 302, headers: [HeaderLine("Location", url.string)])
      }
      defer { clear.stop() }
      let judge = Judge(.refuse)
      #expect(await get(client, try clear.url(), judge)?.stage == "delegate")
      #expect(judge.asked.value.count == 1 && clear.requests.count == 1)
    }
  }
}
