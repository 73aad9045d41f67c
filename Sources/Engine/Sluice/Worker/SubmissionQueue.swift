import Synchronization

/// Requests that a loop has not begun. Many threads push requests. The loop takes them one by one. A thread that finds
/// the loop stuck takes all remaining requests. Lock-free.
///
///     push ─► incoming (a stack, newest first) ─► ordered (oldest first) ─► takeFirst, one at a time
///                  └────────────────────────────────────┴─► takeAll
///
/// A thread takes a list by exchanging it for nil. It then owns the list and the reference in each node. Only the loop
/// puts a list back.
struct SubmissionQueue: ~Copyable, Sendable {
  private typealias Node = Unmanaged<Submission>

  private let incoming = Atomic<Node?>(nil)
  private let ordered = Atomic<Node?>(nil)

  deinit { _ = takeAll() }

  /// Adds a request. Returns true if the incoming stack was empty. In this case, the caller must wake the loop. [any]
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

  /// Whether both lists are empty. Requests that are just being moved from one list to the other are not seen. Can be
  /// called on any thread.
  var isEmpty: Bool {
    incoming.load(ordering: .acquiring) == nil && ordered.load(ordering: .acquiring) == nil
  }

  /// Takes the oldest request. [loop]
  func takeFirst() -> Submission? {
    let list = ordered.exchange(nil, ordering: .acquiringAndReleasing) ?? takeIncoming()
    guard let first = list?.takeRetainedValue() else { return nil }
    if let rest = first.next { ordered.store(rest, ordering: .releasing) }
    first.next = nil
    return first
  }

  /// Takes all remaining requests, with the oldest first. [any]
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

  /// Takes the incoming stack and reverses it.
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
