// Canaries: snapshots that serve a part of the new transactions.
extension SwapMachine {
  /// How the share of a canary grows.
  package struct CanaryTerms: Sendable, Hashable {
    /// The number of steps before the canary gets all new transactions; with a shadow, that is the first step.
    package var steps: Int
    /// The minimum time of a step.
    package var hold: Duration
    /// The minimum time of the shadow, in which the canary has no share. Nil without a shadow.
    package var shadow: Duration?

    package init(steps: Int, hold: Duration, shadow: Duration? = nil) {
      (self.steps, self.hold, self.shadow) = (steps, hold, shadow)
    }
  }

  package struct Canary: Sendable, Hashable {
    package var snapshot: Int
    package var terms: CanaryTerms
    /// The index of the step.
    package var step = 0
    /// When the minimum time of the step ends; nil until the loops have taken the step.
    package var holdEnd: Duration?
    /// When the next comparison is due; nil while a result is awaited, and after a decision.
    package var nextSample: Duration?

    package var isShadow: Bool { step == 0 && terms.shadow != nil }
    var isLastStep: Bool { step + 1 >= terms.steps }
    /// The minimum time of the step.
    package var hold: Duration { isShadow ? terms.shadow ?? terms.hold : terms.hold }
    /// The time between two comparisons. In the shadow each starts processes, so there are fewer.
    var interval: Duration {
      isShadow ? min(max(hold / 20, .milliseconds(250)), .seconds(10)) : Standby.interval(during: hold)
    }
  }

  /// Publishes what was decided about the canary: the next step, all new transactions, or none.
  mutating func decide(_ entry: SwapQueue.Entry, _ snapshot: Int, _ now: Duration) -> [Action] {
    running = Running(request: entry.id, kind: entry.kind, step: .preparing, since: now)
    switch entry.kind {
    case .step where canary?.isLastStep == false:
      canary?.step += 1
      canary?.holdEnd = nil
      return publish(served, beside: snapshot, now)
    case .step, .promotion: return publish(snapshot, now)
    default: return publish(served, now)
    }
  }

  /// Called when the loops have taken a step.
  mutating func beginStep(_ now: Duration) {
    guard let begun = canary else { return }
    canary?.holdEnd = now + begun.hold
    canary?.nextSample = now + begun.interval
  }

  /// Called when the canary was compared.
  mutating func judged(_ breach: String?, _ isEnough: Bool, _ now: Duration) -> [Action] {
    guard let canary, let holdEnd = canary.holdEnd, !isClosed else { return [] }
    if let breach { return [.request(.abort(canary.snapshot), because: breach)] }
    guard now >= holdEnd, isEnough else {
      self.canary?.nextSample = now + canary.interval
      return []
    }
    return [.request(canary.isLastStep ? .promotion(canary.snapshot) : .step(canary.snapshot), because: nil)]
  }
}
