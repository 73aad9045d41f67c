import Synchronization

/// Requests that a loop has not begun. Many push, the loop takes them one by one, and whoever sees that the loop does not
/// move takes all that is left. Free of locks.
///
///     push ─► incoming (a stack, newest first) ─► ordered (oldest first) ─► takeFirst, one at a time
///                  └────────────────────────────────────┴─► takeAll
///
/// A list belongs to whoever has exchanged it for nil, with the one reference that each node counts. The loop alone puts a
/// list back.
struct SubmissionQueue: ~Copyable, Sendable {
  private typealias Node = Unmanaged<Submission>

  private let incoming = Atomic<Node?>(nil)
  private let ordered = Atomic<Node?>(nil)

  deinit { _ = takeAll() }

  /// True where nothing else was on its way: then the loop has to be told. [any]
  func push(_ submission: Submission) -> Bool {
    let node = Node.passRetained(submission)
    var expected = incoming.load(ordering: .relaxed)
    while true {
      submission.next = expected
      let (exchanged, original) = incoming.weakCompareExchange(
        expected: expected, desired: node, ordering: .acquiringAndReleasing)
      if exchanged { return expected == nil }
      expected = original
    }
  }

  /// From any thread; what is being moved within is not seen.
  var isEmpty: Bool {
    incoming.load(ordering: .acquiring) == nil && ordered.load(ordering: .acquiring) == nil
  }

  /// The oldest. [loop]
  func takeFirst() -> Submission? {
    let list = ordered.exchange(nil, ordering: .acquiringAndReleasing) ?? takeIncoming()
    guard let first = list?.takeRetainedValue() else { return nil }
    if let rest = first.next { ordered.store(rest, ordering: .releasing) }
    first.next = nil
    return first
  }

  /// All that nobody has taken, the oldest first. [any]
  func takeAll() -> [Submission] {
    var all: [Submission] = []
    for list in [ordered.exchange(nil, ordering: .acquiringAndReleasing), takeIncoming()] {
      var next = list
      while let submission = next?.takeRetainedValue() {
        next = submission.next
        submission.next = nil
        all.append(submission)
      }
    }
    return all
  }

  /// The stack, turned round.
  private func takeIncoming() -> Node? {
    guard var top = incoming.exchange(nil, ordering: .acquiringAndReleasing) else { return nil }
    var list: Node?
    while true {
      let submission = top.takeUnretainedValue()
      let next = submission.next
      submission.next = list
      list = top
      guard let next else { return list }
      top = next
    }
  }
}
