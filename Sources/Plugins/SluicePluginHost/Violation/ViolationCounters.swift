import Synchronization

/// Counts the violations of an instance, by rule. Can be used from any thread.
package final class ViolationCounters: Sendable {
  /// One counter for each kind, by the kind's raw value. The fixed length leaves room for more kinds.
  private let counts: InlineArray<32, Atomic<Int>>

  init() { counts = InlineArray { _ in Atomic(0) } }

  package subscript(kind: Violation) -> Int { counts[kind.rawValue].load(ordering: .relaxed) }

  /// The sum of all kinds.
  package var total: Int { Violation.allCases.reduce(0) { $0 + self[$1] } }

  /// Counts one more violation of a kind, and returns whether it must be logged. Only the first, the tenth, the
  /// hundredth and so on are logged, so that a repeated violation does not fill the log.
  func count(_ kind: Violation) -> Bool {
    var number = counts[kind.rawValue].add(1, ordering: .relaxed).newValue
    while number % 10 == 0 { number /= 10 }
    return number == 1
  }
}
