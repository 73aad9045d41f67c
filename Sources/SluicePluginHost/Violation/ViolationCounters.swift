import Synchronization

/// The number of an instance's violations by rule. From any thread.
package final class ViolationCounters: Sendable {
  /// There is room for more kinds than exist.
  private let counts: InlineArray<32, Atomic<Int>>

  init() { counts = InlineArray { _ in Atomic(0) } }

  package subscript(kind: Violation) -> Int { counts[kind.rawValue].load(ordering: .relaxed) }

  /// The sum of all kinds.
  package var total: Int { Violation.allCases.reduce(0) { $0 + self[$1] } }

  /// Counts one more. Returns true if it must be logged: the first, the tenth, the hundredth and so on, so that a
  /// repeated violation does not fill the log.
  func count(_ kind: Violation) -> Bool {
    var number = counts[kind.rawValue].add(1, ordering: .relaxed).newValue
    while number % 10 == 0 { number /= 10 }
    return number == 1
  }
}
