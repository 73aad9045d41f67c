import SluiceMessages
import Testing

@testable import SluicePipeline

/// The decisions of ``TransactionMachine`` about redirects and challenges, without a loop or a wire.
@Suite struct HopMachineTests {
  typealias Machine = TransactionMachine
  typealias Crossing = Machine.Crossing

  private static let proceed = Machine.Event.answered(.proceed, stage: "s")
  private static let respond = Machine.Event.answered(.respond, stage: "s")
  private static let lost = TransactionError(code: "connection_lost", message: "")
  private static let timeout = TransactionError(code: "timeout", message: "")

  private static func plan(response: Int = 1) -> Machine.Plan {
    Machine.Plan(
      requestStages: 0, responseStages: response, maximumAttempts: 3,
      streamsBody: false, isReplayable: true)
  }

  /// Passes events to a machine that waits for the head of the first hop. Returns the actions that the machine asks
  /// for.
  private static func script(
    _ plan: Machine.Plan, wantsBody: Bool = false, _ events: [Machine.Event]
  ) -> [String] {
    var machine = Machine(plan: plan)
    machine.decideBody(isWanted: wantsBody, streams: false)
    for event in [Machine.Event.begin, .done, .done] { _ = machine.handle(event) }
    return events.map { short(machine.handle($0)) }
  }

  private static func short(_ action: Machine.Action) -> String {
    switch action {
    case .emit(let kind): "emit \(kind)"
    case .callHopStage(let index): "hop stage \(index)"
    case .callResponseStage(let index): "response \(index)"
    case .callFailureStage(let index, let error): "failure \(index) \(error.code)"
    case .receive(let disposition): "receive \(disposition)"
    case .complete(let error): "complete \(error?.code ?? "ok")"
    case .beginHop: "begin hop"
    case .cutTransfer: "cut"
    case .send: "send"
    case .wait: "wait"
    case .validate: "validate"
    case .beginAttempt(let attempt): "attempt \(attempt)"
    case .emitRetry: "emit retry"
    case .waitToRetry: "wait to retry"
    default: "\(action)"
    }
  }

  @Test func `a redirect is reported, its stages are called, its body is discarded, and the next hop begins`() {
    #expect(
      Self.script(
        Self.plan(),
        [.crossed(Crossing(stages: 2)), .done, Self.proceed, Self.proceed, .done, .ended(nil), .done, .head, .done])
        == [
          "emit didReceive", "hop stage 0", "hop stage 1", "emit willRedirect", "receive discard", "begin hop", "send",
          "emit didReceive", "response 0",
        ])
  }

  @Test func `if a stage stops a redirect, the redirect is the response, and is reported once`() {
    #expect(
      Self.script(Self.plan(), [.crossed(Crossing(stages: 1)), .done, Self.respond, Self.proceed, .ended(nil)])
        == ["emit didReceive", "hop stage 0", "response 0", "receive collect", "validate"])
    #expect(
      Self.script(
        Self.plan(), wantsBody: true, [.crossed(Crossing(stages: 1)), .done, Self.respond, .ended(nil), Self.proceed])
        == ["emit didReceive", "hop stage 0", "receive collect", "response 0", "validate"])
  }

  @Test func `an unanswered challenge is the response, and an answered challenge begins the next hop`() {
    let challenge = Crossing(isChallenge: true, stages: 2)
    #expect(
      Self.script(Self.plan(), [.crossed(challenge), .done, Self.proceed, Self.proceed])
        == ["emit didReceive", "hop stage 0", "hop stage 1", "response 0"])
    #expect(
      Self.script(Self.plan(), [.crossed(challenge), .done, Self.proceed, Self.respond, .ended(nil), .done])
        == ["emit didReceive", "hop stage 0", "hop stage 1", "receive discard", "begin hop", "send"])
  }

  @Test func `an answer to a challenge fails the transaction if the request body cannot be sent again`() {
    #expect(
      Self.script(
        Self.plan(),
        [.crossed(Crossing(isChallenge: true, stages: 1, isReplayable: false)), .done, Self.respond, .ended(nil)])
        == ["emit didReceive", "hop stage 0", "complete body_not_replayable", "wait"])
  }

  @Test func `a redirect that cannot be followed is reported, and then fails the transaction`() {
    let failure = TransactionError(code: "redirect_loop", message: "")
    #expect(
      Self.script(Self.plan(), [.crossed(Crossing(stages: 1, failure: failure)), .done])
        == ["emit didReceive", "complete redirect_loop"])
  }

  @Test func `a connection that dies while a stage decides does not matter if another hop follows`() {
    #expect(
      Self.script(
        Self.plan(), [.crossed(Crossing(stages: 1)), .done, .ended(Self.lost), Self.proceed, .done, .done])
        == ["emit didReceive", "hop stage 0", "wait", "emit willRedirect", "begin hop", "send"])
    #expect(
      Self.script(Self.plan(), [.crossed(Crossing(stages: 1)), .done, .ended(Self.lost), Self.respond])
        == ["emit didReceive", "hop stage 0", "wait", "failure 0 connection_lost"])
  }

  @Test func `the attempt's time limit applies while a stage decides and while the body is discarded`() {
    #expect(
      Self.script(
        Self.plan(), [.crossed(Crossing(stages: 1)), .done, .attemptTimedOut(Self.timeout), .ended(Self.lost)])
        == ["emit didReceive", "hop stage 0", "cut", "failure 0 timeout"])
    #expect(
      Self.script(
        Self.plan(),
        [.crossed(Crossing(stages: 1)), .done, .ended(Self.lost), .attemptTimedOut(Self.timeout), Self.proceed])
        == ["emit didReceive", "hop stage 0", "wait", "failure 0 timeout", "complete timeout"])
    #expect(
      Self.script(
        Self.plan(),
        [.crossed(Crossing()), .done, .done, .attemptTimedOut(Self.timeout), .ended(Self.lost), Self.proceed])
        == ["emit didReceive", "emit willRedirect", "receive discard", "cut", "failure 0 timeout", "complete timeout"])
  }

  @Test func `if the hop after a redirect fails, the failure stages run, and a retry starts with a new attempt`() {
    #expect(
      Self.script(
        Self.plan(),
        [
          .crossed(Crossing()), .done, .done, .ended(nil), .done, .ended(Self.lost),
          .answered(.retry(after: .zero), stage: "s"), .done, .retryDelayPassed, .done, .done,
        ])
        == [
          "emit didReceive", "emit willRedirect", "receive discard", "begin hop", "send", "failure 0 connection_lost",
          "emit retry", "wait to retry", "attempt 1", "emit didConfigure", "send",
        ])
  }

  @Test func `an abort at any moment completes the transaction once`() {
    let way: [Machine.Event] = [
      .crossed(Crossing(stages: 1)), .done, Self.proceed, .done, .ended(nil), .done,
      .crossed(Crossing(isChallenge: true, stages: 1)), .done, Self.respond, .ended(nil), .done, .head,
    ]
    for count in 0...way.count {
      let actions = Self.script(Self.plan(), way.prefix(count) + [.abort(Self.timeout)] + way.suffix(way.count - count))
      #expect(actions.filter { $0.hasPrefix("complete") } == ["complete timeout"])
      #expect(actions.suffix(way.count - count).allSatisfy { $0 == "wait" })
    }
  }
}
