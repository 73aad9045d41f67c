import SluiceMessages
import Synchronization

/// A tracer in the pipeline, with its time limit.
///
/// A call that takes longer than the budget is an overrun. Too many overruns among the calls switch the tracer off, on
/// all loops: it gets no further events, not even the end of transactions whose beginning it saw. The other tracers
/// still get all events.
package final class TracerBinding: Sendable {
  /// The default time for one call: far more than a tracer needs, and short enough not to disturb the other
  /// transactions of the loop.
  package static let defaultBudget = Duration.milliseconds(10)
  /// An overrun weighs as much as this many timely calls, because on a busy machine even a good tracer is late now and
  /// then.
  private static let weight = 16
  /// The score that switches a tracer off: eight overruns with few other calls between them.
  private static let limit = 128

  /// The instance's name in the configuration.
  package let name: String
  package let tracer: any Tracer
  let interests: TraceInterests
  /// The time for one call, in nanoseconds. Nil for a tracer that is a part of the program itself: its calls are
  /// neither timed nor counted.
  package let budgetNanoseconds: UInt64?
  private let switchedOff: @Sendable (String) -> Void
  private let score = Atomic<Int>(0)
  private let isOff = Atomic<Bool>(false)

  /// - Parameters:
  ///   - budget: the time for one call; nil for a trusted tracer.
  ///   - switchedOff: called once, with the reason, on the loop on which the tracer was switched off.
  package init(
    name: String, tracer: any Tracer, budget: Duration? = TracerBinding.defaultBudget,
    switchedOff: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.name = name
    self.tracer = tracer
    budgetNanoseconds = budget?.nanoseconds
    self.switchedOff = switchedOff
    interests = tracer.interests
  }

  /// Whether the tracer was switched off and gets no further events.
  package var isSwitchedOff: Bool { isOff.load(ordering: .relaxed) }

  func wants(_ kind: TraceEvent.Kind) -> Bool { interests.contains(kind) && !isSwitchedOff }

  /// Counts the time of a call, in nanoseconds like the budget; true if it was an overrun.
  func overran(_ budget: UInt64, in time: UInt64) -> Bool {
    guard time > budget else {
      if score.load(ordering: .relaxed) > 0 { score.wrappingSubtract(1, ordering: .relaxed) }
      return false
    }
    let overruns = score.wrappingAdd(Self.weight, ordering: .relaxed).newValue
    if overruns >= Self.limit {
      let (limit, last) = (Duration(nanoseconds: budget), Duration(nanoseconds: time))
      switchOff("its calls repeatedly take longer than \(limit); the last call took \(last)")
    }
    return true
  }

  private func switchOff(_ reason: String) {
    guard !isOff.exchange(true, ordering: .relaxed) else { return }
    switchedOff(reason)
  }
}
