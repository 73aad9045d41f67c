import CEnvoy
import SluiceMessages
import SluicePipeline

/// The counters and gauges of the module among Envoy's own. They are changed when a stream ends, because all versions of
/// Envoy offer that.
struct EnvoyMetrics: Sendable {
  private let transactions: Int
  private let failures: Int
  private let faults: Int
  private let timeouts: Int
  private let swaps: Int
  private let refusedPlans: Int
  private let plan: Int

  /// Makes them for one configuration, while it is opened. Nil if Envoy makes none.
  init?(_ envoy: UnsafeMutableRawPointer?) {
    func define(_ name: StaticString, isCounter: Bool = true) -> Int? {
      var id = 0
      return name.withText { sluice_envoy_define(envoy, isCounter, $0, &id) } ? id : nil
    }
    guard let transactions = define("sluice_transactions"), let failures = define("sluice_failures"),
      let faults = define("sluice_faults"), let timeouts = define("sluice_timeouts"),
      let swaps = define("sluice_swaps"),
      let refusedPlans = define("sluice_refused_plans"), let plan = define("sluice_plan", isCounter: false)
    else { return nil }
    self.transactions = transactions
    self.failures = failures
    self.faults = faults
    self.timeouts = timeouts
    self.swaps = swaps
    self.refusedPlans = refusedPlans
    self.plan = plan
  }

  /// What has changed about plans since the last report.
  struct PlanChanges {
    var swaps = 0
    var refused = 0
    var plan = 0
  }

  func report(_ changes: PlanChanges, on stream: EnvoyStream) {
    if changes.swaps > 0 { stream.count(swaps, changes.swaps) }
    if changes.refused > 0 { stream.count(refusedPlans, changes.refused) }
    stream.measure(plan, changes.plan)
  }

  func count(_ error: TransactionError?, on stream: EnvoyStream) {
    stream.count(transactions, 1)
    guard let error, error.code != .cancelled else { return }
    stream.count(failures, 1)
    switch error.code {
    case .stageFault: stream.count(faults, 1)
    case .stageTimeout: stream.count(timeouts, 1)
    default: break
    }
  }
}
