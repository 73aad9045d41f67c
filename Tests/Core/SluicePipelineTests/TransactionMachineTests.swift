import SluiceMessages
import Testing

@testable import SluicePipeline

/// The decisions of ``TransactionMachine``. The tests use literal events, without a loop, a stage or a wire.
@Suite struct TransactionMachineTests {
  private static func plan(
    request: Int = 0, response: Int = 0, attempts: Int = 3, streams: Bool = false,
    passes: Bool = false, replayable: Bool = true, policy: Bool = false
  ) -> TransactionMachine.Plan {
    TransactionMachine.Plan(
      requestStages: request, responseStages: response, maximumAttempts: attempts,
      streamsBody: streams, passesBody: passes, isReplayable: replayable,
      retriesStatuses: policy, retriesFailures: policy)
  }

  /// Passes events to a machine, and returns the actions that it asks for, in a short notation.
  private static func script(
    _ plan: TransactionMachine.Plan, wantsBody: Bool = false, _ events: [TransactionMachine.Event]
  ) -> [String] {
    var machine = TransactionMachine(plan: plan)
    if wantsBody { machine.decideBody(isWanted: true, streams: false) }
    return events.map { short(machine.handle($0)) }
  }

  private static func short(_ action: TransactionMachine.Action) -> String {
    switch action {
    case .wait: "wait"
    case .emit(let kind): "emit \(kind)"
    case .emitRetry(let delay): "emit retry \(delay)"
    case .emitResend(.zero, let error): "emit resend \(error.code)"
    case .emitResend(let pause, let error): "emit resend \(error.code) after \(pause)"
    case .callRequestStage(let index): "request \(index)"
    case .callResponseStage(let index): "response \(index)"
    case .callFailureStage(let index, let error): "failure \(index) \(error.code)"
    case .callHopStage(let index): "hop stage \(index)"
    case .beginHop: "begin hop"
    case .beginResend: "begin resend"
    case .send: "send"
    case .receive(let disposition): "receive \(disposition)"
    case .cutTransfer: "cut"
    case .waitToRetry(let delay): "wait \(delay)"
    case .considerRetry(let failure): "consider \(failure?.code ?? "status")"
    case .beginAttempt(let attempt): "attempt \(attempt)"
    case .passRequestBody(let index): "pass request before \(index)"
    case .passResponseBody(let index): "pass response before \(index)"
    case .validate: "validate"
    case .complete(let error): "complete \(error?.code ?? "ok")"
    }
  }

  private static let proceed = TransactionMachine.Event.answered(.proceed, stage: "s")
  private static let cut = TransactionError(code: "connection_lost", message: "")
  private static let refused = TransactionError(code: "not_processed", message: "")
  private static let timeout = TransactionError(code: "timeout", message: "")
  private static let failure = StageFailure(code: "no", message: "")

  @Test func `both request stages and response stages run from the first to the last`() {
    #expect(
      Self.script(
        Self.plan(request: 2, response: 2),
        [
          .begin, .done, Self.proceed, Self.proceed, .done, .head, .done, Self.proceed, Self.proceed, .ended(nil),
          .done,
        ])
        == [
          "emit willExecute", "request 0", "request 1", "emit didConfigure", "send", "emit didReceive", "response 0",
          "response 1", "receive collect", "validate", "complete ok",
        ])
  }

  @Test func `a request that the server did not process is sent again, even in the last attempt`() {
    #expect(
      Self.script(
        Self.plan(request: 1, attempts: 1),
        [
          .begin, .done, Self.proceed, .done, .refused(Self.refused), .done, .done, .refused(Self.refused), .done,
          .done,
          .head, .done, .ended(nil), .done,
        ])
        == [
          "emit willExecute", "request 0", "emit didConfigure", "send", "emit resend not_processed", "begin resend",
          "send", "emit resend not_processed", "begin resend", "send", "emit didReceive", "receive collect", "validate",
          "complete ok",
        ])
  }

  @Test func `a request that the server refuses more often than the limit is not sent again`() {
    var machine = TransactionMachine(plan: Self.plan(attempts: 1))
    for event in [TransactionMachine.Event.begin, .done, .done] { _ = machine.handle(event) }
    var pauses: [Duration] = []
    for _ in 0..<TransactionMachine.maximumResends {
      guard case .emitResend(let pause, _) = machine.handle(.refused(Self.refused)) else { return #expect(Bool(false)) }
      pauses.append(pause)
      let next = Self.short(machine.handle(.done))
      if pause == .zero {
        #expect(next == "begin resend")
      } else {
        #expect(next == Self.short(.waitToRetry(pause)))
        #expect(Self.short(machine.handle(.retryDelayPassed)) == "begin resend")
      }
      #expect(Self.short(machine.handle(.done)) == "send")
    }
    let longer = [0, 0, 0, 0, 0, 10, 20, 40, 80, 160].map { Duration.milliseconds($0) }
    #expect(pauses == longer)
    guard case .complete(let error) = machine.handle(.refused(Self.refused)) else { return #expect(Bool(false)) }
    #expect(error?.code == "not_processed")
    #expect(error?.message == "; the request was sent 11 times, and never processed")
  }

  @Test func `an attempt that takes too long ends in the pause before the request is sent again, too`() {
    var machine = TransactionMachine(plan: Self.plan(attempts: 1))
    for event in [TransactionMachine.Event.begin, .done, .done] { _ = machine.handle(event) }
    for _ in 0..<TransactionMachine.promptResends {
      for event in [TransactionMachine.Event.refused(Self.refused), .done, .done] { _ = machine.handle(event) }
    }
    _ = machine.handle(.refused(Self.refused))
    #expect(Self.short(machine.handle(.done)) == Self.short(.waitToRetry(.milliseconds(10))))
    let late = TransactionError(code: "timeout", message: "")
    #expect(Self.short(machine.handle(.attemptTimedOut(late))) == "complete timeout")
  }

  @Test func `response stages wait for the body if one of them wants it`() {
    #expect(
      Self.script(
        Self.plan(response: 1), wantsBody: true, [.begin, .done, .done, .head, .ended(nil), .done, Self.proceed, .done])
        == [
          "emit willExecute", "emit didConfigure", "send", "receive collect", "emit didReceive", "response 0",
          "validate",
          "complete ok",
        ])
  }

  @Test func `a stage that wants the body is called after the body has passed the stages before it`() {
    #expect(
      Self.script(
        Self.plan(request: 2, response: 2, passes: true), wantsBody: true,
        [
          .begin, .done, Self.proceed, .bodyWanted, .bodyPassed, Self.proceed, .done, .head, .ended(nil), .done,
          Self.proceed, .bodyWanted, .bodyPassed, Self.proceed, .bodyPassed, .done,
        ])
        == [
          "emit willExecute", "request 0", "request 1", "pass request before 1", "request 1", "emit didConfigure",
          "send",
          "receive collect", "emit didReceive", "response 0", "response 1", "pass response before 1", "response 1",
          "pass response before 2", "validate", "complete ok",
        ])
  }

  @Test func `a body that a stage made passes through the stages that process pieces`() {
    #expect(
      Self.script(
        Self.plan(request: 1, response: 1, passes: true),
        [.begin, .done, .answered(.respond, stage: "s"), Self.proceed, .bodyPassed, .done])
        == [
          "emit willExecute", "request 0", "response 0", "pass response before 1", "validate", "complete ok",
        ])
  }

  @Test func `if a request stage responds, nothing is sent, and the response stages still run`() {
    #expect(
      Self.script(
        Self.plan(request: 2, response: 1), [.begin, .done, .answered(.respond, stage: "s"), Self.proceed, .done])
        == ["emit willExecute", "request 0", "response 0", "validate", "complete ok"])
  }

  @Test func `without a response, the failure stages run instead of the response stages`() {
    #expect(
      Self.script(Self.plan(response: 2), [.begin, .done, .done, .ended(Self.cut), Self.proceed, Self.proceed])
        == [
          "emit willExecute", "emit didConfigure", "send", "failure 0 connection_lost", "failure 1 connection_lost",
          "complete connection_lost",
        ])
  }

  @Test func `the later response stages get the response of a failure stage`() {
    #expect(
      Self.script(
        Self.plan(response: 2),
        [.begin, .done, .done, .ended(Self.cut), .answered(.respond, stage: "s"), Self.proceed, .done])
        == [
          "emit willExecute", "emit didConfigure", "send", "failure 0 connection_lost", "response 1", "validate",
          "complete ok",
        ])
  }

  @Test func `a retry waits for the end of the hop, and then starts with the request stages`() {
    #expect(
      Self.script(
        Self.plan(request: 1, response: 1),
        [
          .begin, .done, Self.proceed, .done, .head, .done, .answered(.retry(after: .seconds(1)), stage: "s"),
          .ended(nil), .done, .retryDelayPassed, .done,
        ])
        == [
          "emit willExecute", "request 0", "emit didConfigure", "send", "emit didReceive", "response 0",
          "receive discard", "emit retry 1.0 seconds", "wait 1.0 seconds", "attempt 1", "request 0",
        ])
  }

  @Test func `a retry beyond the last attempt fails the transaction`() {
    #expect(
      Self.script(
        Self.plan(request: 1, attempts: 1), [.begin, .done, .answered(.retry(after: .zero), stage: "s")]
      ).last == "complete retries_exhausted")
  }

  @Test func `a body that can be produced only once is never sent twice`() {
    #expect(
      Self.script(
        Self.plan(request: 1, replayable: false), [.begin, .done, .answered(.retry(after: .zero), stage: "s")]
      ).last == "complete body_not_replayable")
  }

  @Test func `the policy decides about the status after the response stages and before the body`() {
    #expect(
      Self.script(
        Self.plan(response: 1, policy: true),
        [
          .begin, .done, .done, .head, .done, Self.proceed, .retryGranted(.seconds(1)), .ended(nil), .done,
          .retryDelayPassed, .done, .done, .head, .done, Self.proceed, .retryDenied(nil), .ended(nil), .done,
        ])
        == [
          "emit willExecute", "emit didConfigure", "send", "emit didReceive", "response 0", "consider status",
          "receive discard", "emit retry 1.0 seconds", "wait 1.0 seconds", "attempt 1", "emit didConfigure", "send",
          "emit didReceive", "response 0", "consider status", "receive collect", "validate", "complete ok",
        ])
  }

  @Test func `the policy decides about a failure after the failure stages`() {
    #expect(
      Self.script(
        Self.plan(response: 1, policy: true),
        [
          .begin, .done, .done, .ended(Self.cut), Self.proceed, .retryGranted(.zero), .done, .retryDelayPassed, .done,
          .done, .ended(Self.cut), Self.proceed, .retryDenied(Self.timeout),
        ])
        == [
          "emit willExecute", "emit didConfigure", "send", "failure 0 connection_lost", "consider connection_lost",
          "emit retry 0.0 seconds", "wait 0.0 seconds", "attempt 1", "emit didConfigure", "send",
          "failure 0 connection_lost", "consider connection_lost", "complete timeout",
        ])
  }

  @Test func `the policy cannot retry the last attempt, a body that can be produced only once, or a stage's answer`() {
    let toHead: [TransactionMachine.Event] = [.begin, .done, .done, .head, .done]
    #expect(Self.script(Self.plan(attempts: 1, policy: true), toHead).last == "receive collect")
    #expect(Self.script(Self.plan(replayable: false, policy: true), toHead).last == "receive collect")
    #expect(
      Self.script(Self.plan(request: 1, policy: true), [.begin, .done, .answered(.respond, stage: "s")]).last
        == "validate")
    let toFailure: [TransactionMachine.Event] = [.begin, .done, .done, .ended(Self.cut)]
    #expect(
      Self.script(Self.plan(response: 1, policy: true), toFailure + [.answered(.respond, stage: "s")]).last
        == "validate")
    #expect(Self.script(Self.plan(attempts: 1, policy: true), toFailure).last == "complete connection_lost")
  }

  @Test(arguments: [false, true])
  func `the policy decides about an incomplete body unless the caller has received a part of it`(streams: Bool) {
    let toBody: [TransactionMachine.Event] = [.begin, .done, .done, .head, .done, .retryDenied(nil)]
    let plan = Self.plan(streams: streams, policy: true)
    let outcome = streams ? "complete" : "consider"
    #expect(Self.script(plan, toBody + [.ended(Self.cut)]).last == "\(outcome) connection_lost")
    #expect(
      Self.script(plan, toBody + [.attemptTimedOut(Self.timeout), .ended(Self.cut)]).suffix(2)
        == ["cut", "\(outcome) timeout"])
  }

  @Test func `an attempt that times out is cancelled, and after its end the failure stages run`() {
    #expect(
      Self.script(
        Self.plan(response: 1), [.begin, .done, .done, .attemptTimedOut(Self.timeout), .ended(Self.cut), Self.proceed])
        == [
          "emit willExecute", "emit didConfigure", "send", "cut", "failure 0 timeout", "complete timeout",
        ])
  }

  @Test func `a body that breaks off fails the transaction, even though its head has arrived`() {
    #expect(
      Self.script(Self.plan(response: 1), [.begin, .done, .done, .head, .done, Self.proceed, .ended(Self.cut)]).last
        == "complete connection_lost")
  }

  @Test(arguments: 0..<8)
  func `an abort at any moment completes the transaction once, and no action follows`(moment: Int) {
    let events: [TransactionMachine.Event] = [
      .begin, .done, Self.proceed, .done, .head, .done, Self.proceed, .ended(nil),
    ]
    let abort = TransactionMachine.Event.abort(TransactionError(code: "cancelled", message: ""))
    let actions = Self.script(
      Self.plan(request: 1, response: 1),
      events.prefix(moment) + [abort] + events.suffix(from: moment) + [.done, abort])
    #expect(actions[moment] == "complete cancelled")
    #expect(actions[(moment + 1)...].allSatisfy { $0 == "wait" })
  }

  @Test func `a stage's own failure ends the transaction and names the stage`() {
    var machine = TransactionMachine(plan: Self.plan(request: 1))
    _ = machine.handle(.begin)
    _ = machine.handle(.done)
    guard case .complete(let error?) = machine.handle(.answered(.fail(Self.failure), stage: "auth")) else {
      Issue.record("expected the end")
      return
    }
    #expect(error == TransactionError(code: "no", message: "", stage: "auth"))
  }
}
