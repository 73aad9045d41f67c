import SluiceAssembly

/// A swap request that is not answered yet.
struct SwapRequest: Sendable {
  typealias Answer = @Sendable (SwapReport, EngineError?) -> Void

  let id: Int
  let kind: SwapQueue.Kind
  /// The new configuration of a reload.
  var configuration: Configuration?
  /// The files that a swap reads first in place of the paths of libraries.
  var sources: [String: String] = [:]
  /// Whether a swap or a reload begins a canary.
  var canary = CanaryChoice.configured
  /// The reason for a rollback or an end of a canary that the engine itself requests.
  var reason: String?
  let began: Duration
  let start = ContinuousClock.now
  let answer: Answer

  /// A report without changes.
  func report(_ outcome: SwapReport.Outcome, snapshot: Int) -> SwapReport {
    SwapReport(
      id: id, trigger: kind.trigger, began: began, duration: ContinuousClock.now - start, outcome: outcome,
      snapshot: snapshot)
  }
}

extension SwapQueue.Kind {
  var trigger: SwapReport.Trigger {
    switch self {
    case .swap: .swap
    case .reload: .reload
    case .rollback: .rollback
    case .breach: .probation
    case .step, .promotion, .abort: .canary
    }
  }
}

/// Why a swap stops.
enum SwapStop: Error {
  case unchanged
  /// The task was cancelled: by its caller, or by the end of the engine.
  case stopped
  case refused(EngineError)
  /// The reason as text, if it is not an error of a plugin or a configuration.
  case impossible(String)

  var words: String? {
    switch self {
    case .unchanged, .stopped: nil
    case .refused(let error): error.description
    case .impossible(let reason): reason
    }
  }
}
