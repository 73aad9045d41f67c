import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import SluiceTraceContext

/// A valid log: the events of one kind of transaction, recorded from the engine itself.
struct LedgerStory {
  let name: String
  let log: [LedgerEntry]

  /// What happens to a transaction after it has begun.
  typealias Course = @Sendable (StubLoop, Transaction) -> Void

  private init(
    _ name: String, stage: Stage = Stage(), settings: PipelineSettings = PipelineSettings(),
    parent: ParentContext = ParentContext(), course: Course? = nil, _ answers: StubTransport.Reply...
  ) throws {
    self.name = name
    let loop = StubLoop()
    var hops = 0
    let transport = StubTransport(loop: loop) { _ in
      defer { hops += 1 }
      return answers[min(hops, answers.count - 1)]
    }
    let environment = LoopEnvironment(loop: loop, transport: transport)
    let recorder = Recorder()
    let binding = StageBinding(name: "stage", interceptor: stage)
    let pipeline = Pipeline(
      requestStages: [binding], issueStages: [binding], responseStages: [binding],
      tracers: [TracerBinding(name: "recorder", tracer: recorder)], settings: settings)
    let request = Request(url: HTTPURL("http://example.com/a"))
    var isOver = false
    loop.perform {
      loop.spend(.milliseconds(1))
      let transaction = Transaction.begin(request, on: environment, through: pipeline, parent: parent) { _ in
        isOver = true
      }
      if let course { loop.post { course(loop, transaction) } }
    }
    for _ in 0..<100 where !isOver { loop.advance(by: .seconds(1)) }
    log = recorder.log
  }

  private final class Recorder: Tracer, @unchecked Sendable {
    // The tests use it on one thread.
    var log: [LedgerEntry] = []
    func record(_ event: TraceEvent) { log.append(LedgerEntry(event)) }
  }

  /// A stage that consists of optional closures. The tests use it on one thread.
  final class Stage: Interceptor, @unchecked Sendable {
    var wantsBody = false
    var request: ((Exchange) -> Verdict)?
    var issue: ((Exchange) -> Verdict)?
    var redirect: ((Exchange) -> Verdict)?
    var challenge: ((Exchange) -> Verdict)?
    var response: ((Exchange) -> Verdict)?
    var failure: ((Exchange) -> Verdict)?

    init(_ configure: (Stage) -> Void = { _ in }) { configure(self) }

    var capabilities: StageCapabilities {
      let all: StageCapabilities = [.request, .issue, .redirect, .challenge, .response, .failure]
      return wantsBody ? all.union(.wantsResponseBody) : all
    }

    func interceptRequest(_ exchange: Exchange) -> Verdict { request?(exchange) ?? .proceed }
    func interceptIssue(_ exchange: Exchange) -> Verdict { issue?(exchange) ?? .proceed }
    func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict {
      self.redirect?(exchange) ?? .proceed
    }
    func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict {
      challenge?(exchange) ?? .proceed
    }
    func interceptResponse(_ exchange: Exchange) -> Verdict { response?(exchange) ?? .proceed }
    func interceptFailure(_ exchange: Exchange, _ failure: TransactionError) -> Verdict {
      self.failure?(exchange) ?? .proceed
    }
  }
}

extension LedgerStory {
  static func all() throws -> [LedgerStory] {
    try plain() + retried() + hopping() + answered() + failed() + cancelled() + traced() + [LedgerStory(measured: 103)]
  }

  private static let ok = StubTransport.Reply.response(Response(status: 200, body: .text("ok")))
  private static let lost = StubTransport.Reply.failure(TransportError(.connectionLost, "cut"))
  private static let refused = StubTransport.Reply.connectFailure(
    TransportError(.connect, "refused", isBeforeSending: true))
  private static let broken = StubTransport.Reply.response(
    Response(status: 200), pieces: [Array("ok".utf8)], failure: TransportError(.connectionLost, "cut"))

  private static func status(_ status: Int, _ headers: HeaderFields = [:]) -> StubTransport.Reply {
    .response(Response(status: status, headers: headers))
  }

  private static func plain() throws -> [LedgerStory] {
    [
      try LedgerStory("plain", ok),
      try LedgerStory("with a body that a stage wants", stage: Stage { $0.wantsBody = true }, ok),
      try LedgerStory(
        "with trailers after the body",
        .response(Response(status: 200, body: .text("ok"), trailers: ["x-sum": "7"]))),
      try LedgerStory("changed by a stage", stage: changing(to: 200), status(500)),
    ]
  }

  private static func retried() throws -> [LedgerStory] {
    let policy = PipelineSettings(
      retry: RetryPolicy(statuses: StatusSet([503...503]), connectionErrors: .always))
    return [
      try LedgerStory("retried for its status", settings: policy, status(503), ok),
      try LedgerStory("retried to the end", settings: policy, status(503)),
      try LedgerStory("retried without a connection", settings: policy, refused),
      try LedgerStory("retried after an issue", settings: policy, lost, ok),
      try LedgerStory(
        "retried by a stage",
        stage: Stage { $0.response = { $0.attempt == 0 ? .retry(after: .milliseconds(20)) : .proceed } }, ok),
      try LedgerStory(
        "retried by a stage before it is configured",
        stage: Stage { $0.request = { $0.attempt == 0 ? .retry(after: .milliseconds(20)) : .proceed } }, ok),
      try LedgerStory(
        "retried, then failed by a stage before it is configured",
        stage: Stage { $0.request = { $0.attempt == 0 ? .retry(after: .milliseconds(20)) : no } }, ok),
      try LedgerStory(
        "retried after a redirect", settings: policy, status(302, ["location": "/b"]), status(503), ok),
      try LedgerStory(
        "failed by a stage in the second attempt", stage: Stage { $0.request = { $0.attempt == 0 ? .proceed : no } },
        settings: policy, status(503)),
    ]
  }

  private static func hopping() throws -> [LedgerStory] {
    let redirect = status(302, ["location": "/b"])
    let challenge = status(401, ["www-authenticate": "Basic realm=\"r\""])
    let answering = Stage { $0.challenge = { _ in .respond } }
    return [
      try LedgerStory("redirected", redirect, status(307, ["location": "http://other.example/c"]), ok),
      try LedgerStory("redirected to nowhere", redirect, refused),
      try LedgerStory("redirected in a circle", status(302, ["location": "/a"])),
      try LedgerStory("a redirect as the response", stage: Stage { $0.redirect = { _ in .respond } }, redirect),
      try LedgerStory(
        "redirected, then answered by a stage", stage: Stage { $0.failure = respond(200) }, redirect, refused),
      try LedgerStory("challenged", stage: answering, challenge, ok),
      try LedgerStory("challenged, then lost", stage: answering, challenge, lost),
      try LedgerStory("challenged, then redirected", stage: answering, challenge, redirect, ok),
      try LedgerStory("a challenge as the response", challenge),
    ]
  }

  private static func answered() throws -> [LedgerStory] {
    [
      try LedgerStory("answered by a stage", stage: Stage { $0.request = respond(200) }, ok),
      try LedgerStory("answered by a stage in place of a failure", stage: Stage { $0.failure = respond(200) }, lost),
      try LedgerStory("answered by a stage with an error", stage: Stage { $0.request = respond(500) }, ok),
    ]
  }

  private static func failed() throws -> [LedgerStory] {
    [
      try LedgerStory("an HTTP error", status(404)),
      try LedgerStory("without a connection", refused),
      try LedgerStory("lost after its issue", lost),
      try LedgerStory("lost in the body", broken),
      try LedgerStory("lost in a body that a stage wants", stage: Stage { $0.wantsBody = true }, broken),
      try LedgerStory("failed by a request stage", stage: Stage { $0.request = { _ in no } }, ok),
      try LedgerStory("failed by an issue stage", stage: Stage { $0.issue = { _ in no } }, ok),
      try LedgerStory("failed by a response stage", stage: Stage { $0.response = { _ in no } }, ok),
      try LedgerStory(
        "without a payload",
        settings: PipelineSettings(
          checks: ResponseChecks(extract: { _, _ throws(TransactionError) in
            throw TransactionError(code: .extraction, message: "")
          })), ok),
      try LedgerStory("timed out", settings: PipelineSettings(attemptTimeout: .milliseconds(50)), .silence),
      try LedgerStory("past its deadline", settings: PipelineSettings(deadline: .milliseconds(50)), .silence),
    ]
  }

  private static func cancelled() throws -> [LedgerStory] {
    let cancel: Course = { $1.cancel() }
    let again = Stage { $0.response = { _ in .retry(after: .seconds(2)) } }
    return [
      try LedgerStory("cancelled before its head", course: cancel, .silence),
      try LedgerStory("cancelled in the body", course: cancel, .stalled(Response(status: 200))),
      try LedgerStory(
        "cancelled in a body that a stage wants", stage: Stage { $0.wantsBody = true }, course: cancel,
        .stalled(Response(status: 200))),
      try LedgerStory(
        "cancelled while it waits to retry", stage: again,
        course: { loop, transaction in loop.post { loop.post { loop.post { transaction.cancel() } } } }, ok),
    ]
  }

  private static let no = Verdict.fail(StageFailure(code: "no", message: ""))

  private static func respond(_ status: Int) -> (Exchange) -> Verdict {
    {
      $0.responseForms.native = Response(status: status)
      return .respond
    }
  }

  private static func changing(to status: Int) -> Stage {
    Stage {
      $0.response = {
        $0.responseForms.native?.status = status
        return .proceed
      }
    }
  }

  private static func traced() throws -> [LedgerStory] {
    let parent = ParentContext(traceparent: traceparent(trace: 1, span: 1))
    func sending(trace: UInt64) -> Stage {
      var span: UInt64 = 10
      return Stage {
        $0.issue = {
          span += 1
          $0.issueHeaders?["traceparent"] = traceparent(trace: trace, span: span)
          return .proceed
        }
      }
    }
    let policy = PipelineSettings(retry: RetryPolicy(statuses: StatusSet([503...503]), connectionErrors: .always))
    return [
      try LedgerStory("in the caller's trace", stage: sending(trace: 1), parent: parent, ok),
      try LedgerStory("in another trace", stage: sending(trace: 2), parent: parent, ok),
      try LedgerStory("in a trace of its own", stage: sending(trace: 2), ok),
      try LedgerStory("with a caller's trace that is not sent", parent: parent, ok),
      try LedgerStory(
        "redirected and retried in a trace", stage: sending(trace: 1), settings: policy, parent: parent,
        status(302, ["location": "/b"]), status(503), ok),
    ]
  }

  private static func traceparent(trace: UInt64, span: UInt64) -> String {
    TraceParent(traceID: TraceID(high: trace, low: trace), spanID: span, flags: .sampled).description
  }

  /// The stub transport has no timings and no informational responses. This log is therefore written by hand, with the
  /// events that libcurl would cause.
  private init(measured informational: Int) {
    name = "measured, with an informational response"
    let kinds: [TraceEvent.Kind] = [
      .willExecute, .didConfigure, .didIssue, .didReceiveInformational, .didReceiveInformational, .didReceive,
      .didEndHop, .didValidateResponse, .didExtract, .didValidatePayload, .didComplete,
    ]
    var timings = TransferTimings()
    (timings.connect, timings.wait) = (.microseconds(300), .microseconds(500))
    log = kinds.enumerated().map { index, kind in
      let isEarly = [.willExecute, .didConfigure, .didIssue].contains(kind)
      let isEnd = kind == .didComplete
      // The hop began between did_configure and did_issue.
      let duration: Duration = isEnd ? .milliseconds(index) : kind == .didEndHop ? .microseconds(4500) : .zero
      return LedgerEntry(
        kind, TransactionID(randomHigh: 5, randomLow: 5), sequence: index,
        at: Instant(nanoseconds: 1000 + 1_000_000 * UInt64(index)),
        status: isEarly ? 0 : kind == .didReceiveInformational ? informational : 200, outcome: isEnd ? .succeeded : nil,
        duration: duration, timings: [.didReceive, .didEndHop, .didComplete].contains(kind) ? timings : nil,
        requestID: "r", method: "GET", url: "http://example.com/a")
    }
  }
}
