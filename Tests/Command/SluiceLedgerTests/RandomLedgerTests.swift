import Glibc
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

/// The ledger of many transactions at once. Their stages, transport and caller do random things at random times. Each
/// seed can be repeated.
@Suite struct RandomLedgerTests {
  /// The random decisions. Confined to the stub loop.
  private final class Chance: @unchecked Sendable {
    private var random: SeededRandom
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    func isOne(in count: Int) -> Bool { number(below: count) == 0 }
  }

  /// A stage that randomly follows or breaks rules.
  private final class Unruly: Interceptor, @unchecked Sendable {
    // Confined to the stub loop.
    let chance: Chance
    let capabilities: StageCapabilities
    var suspended: [(SuspensionToken, SuspensionTable)] = []

    init(_ chance: Chance, wantsBody: Bool) {
      self.chance = chance
      let all: StageCapabilities = [.request, .issue, .redirect, .challenge, .response, .failure]
      capabilities = wantsBody ? all.union(.wantsResponseBody) : all
    }

    func interceptRequest(_ exchange: Exchange) -> Verdict {
      if chance.isOne(in: 4) { exchange.requestForms.native.method = "PUT" }
      if chance.isOne(in: 4), let url = try? HTTPURL("http://example.com/\(chance.number(below: 9))") {
        exchange.requestForms.native.url = url
      }
      // The stage sets a response, but does not answer with it.
      if chance.isOne(in: 30) { exchange.responseForms.native = Response(status: 202) }
      return verdict(exchange, canSuspend: true)
    }
    func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict {
      chance.isOne(in: 2) ? .proceed : verdict(exchange, canSuspend: true)
    }
    func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict {
      chance.isOne(in: 2) ? .respond : verdict(exchange, canSuspend: true)
    }
    func interceptResponse(_ exchange: Exchange) -> Verdict {
      if chance.isOne(in: 4) { exchange.responseForms.native?.status = 203 }
      return verdict(exchange, canSuspend: true)
    }
    func interceptFailure(_ exchange: Exchange, _ failure: TransactionError) -> Verdict {
      verdict(exchange, canSuspend: true)
    }
    func interceptIssue(_ exchange: Exchange) -> Verdict {
      chance.isOne(in: 20) ? verdict(exchange, canSuspend: false) : .proceed
    }

    private func verdict(_ exchange: Exchange, canSuspend: Bool) -> Verdict {
      switch chance.number(below: 24) {
      case 0: return .fail(StageFailure(code: "chance", message: "by chance"))
      case 1: return .fault(StageFailure(code: "stage_fault", message: "a broken rule"))
      case 2, 3: return .retry(after: .milliseconds(chance.number(below: 30)))
      case 4:
        if canSuspend { exchange.responseForms.native = Response(status: chance.isOne(in: 3) ? 500 : 200) }
        return .respond
      case 5: return .suspended
      case 6, 7, 8:
        guard canSuspend, let token = exchange.suspend(), let table = exchange.suspensions else { return .proceed }
        suspended.append((token, table))
        return .suspended
      case 9:
        // The stage takes a token, but does not suspend.
        _ = exchange.suspend()
        return .proceed
      default: return .proceed
      }
    }

    /// Resumes a waiting call, or one that ended long ago.
    func resumeAny() {
      guard !suspended.isEmpty else { return }
      let (token, table) = suspended[chance.number(below: suspended.count)]
      if !chance.isOne(in: 4) { suspended.removeAll { $0.0 == token } }
      let verdicts: [Verdict] = [.proceed, .proceed, .retry(after: .zero), .respond, .suspended]
      _ = table.resume(token, verdicts[chance.number(below: verdicts.count)])
    }
  }

  private final class Recorder: Tracer, @unchecked Sendable {
    // Confined to the stub loop.
    var checker = LedgerChecker()
    var violation: LedgerViolation?

    func record(_ event: TraceEvent) {
      guard violation == nil else { return }
      do { try checker.check(LedgerEntry(event)) } catch { violation = error }
    }
  }

  private static func reply(_ chance: Chance, _ request: Request) -> StubTransport.Reply {
    switch chance.number(below: 18) {
    case 0: .silence
    case 1: .connectFailure(TransportError(.connect, "refused", isBeforeSending: true))
    case 2: .failure(TransportError(.connectionLost, "cut"))
    case 3: .response(Response(status: 503, headers: ["retry-after": "1"]))
    case 4, 5: .response(Response(status: 302, headers: ["location": "/\(chance.number(below: 5))"]))
    case 6: .response(Response(status: 307, headers: ["location": "http://other.example/\(chance.number(below: 5))"]))
    case 7, 8: .response(Response(status: 401, headers: ["www-authenticate": "Basic realm=\"r\""]))
    case 9: .response(Response(status: 200), pieces: [[65]], failure: TransportError(.connectionLost, "cut"))
    case 10: .stalled(Response(status: 200), pieces: [[65]])
    case 11: .response(Response(status: 302, headers: ["location": "file:///x"]), pieces: [Array("moved".utf8)])
    case 12, 13: .failure(TransportError(.notProcessed, "refused", isBeforeSending: true))
    default: .response(Response(status: 200), pieces: [Array("piece".utf8), Array("more".utf8)])
    }
  }

  private static let isSoak = getenv("SLUICE_SOAK") != nil
  private static let seeds = Array<UInt64>(0..<(isSoak ? 400 : 20))

  @Test(arguments: seeds) func `the ledger keeps its rules, whatever stages, wire and caller do`(_ seed: UInt64) {
    let chance = Chance(seed: seed)
    let loop = StubLoop()
    let transport = StubTransport(loop: loop) { Self.reply(chance, $0) }
    let environment = LoopEnvironment(loop: loop, transport: transport)
    let stages = [Unruly(chance, wantsBody: false), Unruly(chance, wantsBody: seed % 2 == 0)]
    let bindings = stages.enumerated().map { index, stage in
      StageBinding(
        name: "stage-\(index)", interceptor: stage, deadline: .milliseconds(200), onFault: index == 0 ? .fail : .skip)
    }
    let recorder = Recorder()
    let pipeline = Pipeline(
      requestStages: bindings, issueStages: bindings, responseStages: bindings,
      tracers: [TracerBinding(name: "recorder", tracer: recorder)],
      settings: PipelineSettings(
        deadline: .seconds(3), attemptTimeout: .milliseconds(500), retry: seed % 3 == 0 ? .standard : RetryPolicy()))
    var completions: [TransactionID: Int] = [:]
    var running: [Transaction] = []
    for _ in 0..<250 {
      loop.perform {
        running.append(
          Transaction.begin(Request(url: "http://example.com/"), on: environment, through: pipeline) {
            completions[$0.id, default: 0] += 1
          })
        if chance.isOne(in: 5) { running[chance.number(below: running.count)].cancel() }
        for stage in stages { stage.resumeAny() }
      }
      if chance.isOne(in: 3) { loop.advance(by: .milliseconds(chance.number(below: 60))) }
    }
    if chance.isOne(in: 2) {
      loop.perform { environment.abortAll(TransactionError(code: .shutdown, message: "over")) }
    } else {
      loop.advance(by: .seconds(10))
    }
    #expect(recorder.violation == nil)
    #expect(throws: Never.self) { try recorder.checker.finish() }
    #expect(recorder.checker.transactions == 250)
    #expect(completions.count == 250)
    #expect(completions.values.allSatisfy { $0 == 1 })
    #expect(environment.runningCount == 0)
  }
}
