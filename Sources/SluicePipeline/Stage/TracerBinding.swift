import Synchronization

/// A tracer in the pipeline, with the time that it may take.
///
/// A call that takes longer than the budget is an overrun. Overruns that are more than a few among many calls switch the
/// tracer off, on all loops: it is told nothing further, also not the end of what it saw begin. The ledger itself goes on.
public final class TracerBinding: Sendable {
  /// What one call may take where nothing else is said: far beyond what watching takes, and little enough to be borne by
  /// the other transactions of the loop.
  public static let defaultBudget = Duration.milliseconds(10)
  /// An overrun weighs as much as this many timely calls, because a busy machine makes a good tracer late now and then.
  private static let weight = 16
  /// Eight overruns, with few other calls in between.
  private static let limit = 128

  /// The instance's name in the configuration.
  public let name: String
  public let tracer: any Tracer
  let interests: TraceInterests
  /// Nil for a tracer that is a part of the program itself: neither timed nor counted.
  public let budget: Duration?
  private let switchedOff: @Sendable (String) -> Void
  private let score = Atomic<Int>(0)
  private let isOff = Atomic<Bool>(false)

  /// - Parameters:
  ///   - budget: what one call may take; nil for a tracer that is trusted.
  ///   - switchedOff: told once, with the reason, on the loop on which it happened.
  public init(
    name: String, tracer: any Tracer, budget: Duration? = TracerBinding.defaultBudget,
    switchedOff: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.name = name
    self.tracer = tracer
    self.budget = budget
    self.switchedOff = switchedOff
    interests = tracer.interests
  }

  /// Whether it is told nothing any more.
  public var isSwitchedOff: Bool { isOff.load(ordering: .relaxed) }

  func wants(_ kind: TraceEvent.Kind) -> Bool { interests.contains(kind) && !isSwitchedOff }

  /// Takes on the time of a call; true where it was an overrun.
  func overran(_ budget: Duration, in time: Duration) -> Bool {
    guard time > budget else {
      if score.load(ordering: .relaxed) > 0 { score.wrappingSubtract(1, ordering: .relaxed) }
      return false
    }
    let overruns = score.wrappingAdd(Self.weight, ordering: .relaxed).newValue
    if overruns >= Self.limit {
      switchOff("its calls take longer than \(budget) again and again, the last one \(time)")
    }
    return true
  }

  private func switchOff(_ reason: String) {
    guard !isOff.exchange(true, ordering: .relaxed) else { return }
    switchedOff(reason)
  }
}
