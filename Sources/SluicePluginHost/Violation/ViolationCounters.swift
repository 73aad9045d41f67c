import Synchronization

/// How often an instance broke which rule. From any thread.
package final class ViolationCounters: Sendable {
  /// With room for more kinds than there are.
  private let counts: InlineArray<32, Atomic<Int>>

  init() { counts = InlineArray { _ in Atomic(0) } }

  package subscript(kind: Violation) -> Int { counts[kind.rawValue].load(ordering: .relaxed) }

  /// All kinds together.
  package var total: Int { Violation.allCases.reduce(0) { $0 + self[$1] } }

  /// Counts one more; true where it is to be logged: the first, the tenth, the hundredth and so on, so that a plugin in
  /// a loop does not fill the log.
  func count(_ kind: Violation) -> Bool {
    var number = counts[kind.rawValue].add(1, ordering: .relaxed).newValue
    while number % 10 == 0 { number /= 10 }
    return number == 1
  }
}
