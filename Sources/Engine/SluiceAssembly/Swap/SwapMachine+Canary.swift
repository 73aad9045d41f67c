// Canaries: snapshots that serve a part of the new transactions.
extension SwapMachine {
  /// How the share of a canary grows.
  package struct CanaryTerms: Sendable, Hashable {
    /// The number of steps before the canary gets all new transactions.
    package var steps: Int
    /// The minimum time of a step.
    package var hold: Duration
    /// Whether a step also ends if the canary has had too few transactions.
    package var promotesInSilence: Bool

    package init(steps: Int, hold: Duration, promotesInSilence: Bool = false) {
      (self.steps, self.hold, self.promotesInSilence) = (steps, hold, promotesInSilence)
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

    var isLastStep: Bool { step + 1 >= terms.steps }
    var interval: Duration { Standby.interval(during: terms.hold) }
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
    guard let interval = canary?.interval, let hold = canary?.terms.hold else { return }
    canary?.holdEnd = now + hold
    canary?.nextSample = now + interval
  }

  /// Called when the canary was compared.
  mutating func judged(_ breach: String?, _ isEnough: Bool, _ now: Duration) -> [Action] {
    guard let canary, let holdEnd = canary.holdEnd, !isClosed else { return [] }
    if let breach { return [.request(.abort(canary.snapshot), because: breach)] }
    guard now >= holdEnd, isEnough || canary.terms.promotesInSilence else {
      self.canary?.nextSample = now + canary.interval
      return []
    }
    return [.request(canary.isLastStep ? .promotion(canary.snapshot) : .step(canary.snapshot), because: nil)]
  }
}
