import Synchronization

/// Carries work to a loop from other threads: many threads may push; the loop takes everything at once.
///
/// It is a linked stack without locks. The loop takes the whole stack by exchanging its head, and then reverses it, so
/// that the work of one producer keeps its order.
struct LoopInbox: ~Copyable, @unchecked Sendable {
  // Sendable: until the compare-and-swap succeeds, a node belongs to the thread that pushes it; afterwards it belongs
  // to the thread that takes the stack.
  private struct Node {
    var work: LoopWork
    var next: UnsafeMutablePointer<Node>?
  }

  enum PushResult {
    /// The inbox was empty before this push, so the loop may have to be woken.
    case first
    case queued
    /// The inbox is closed; the work was not accepted.
    case refused
  }

  private let head = Atomic<UnsafeMutablePointer<Node>?>(nil)
  /// The inbox is closed while `head` points to this node. The content of the node is never read.
  private let closed: UnsafeMutablePointer<Node>

  init() { closed = .allocate(capacity: 1) }

  deinit {
    Self.take(head.load(ordering: .acquiring), closed) { _ in }
    closed.deallocate()
  }

  var isEmpty: Bool { head.load(ordering: .sequentiallyConsistent) == nil }

  func push(_ work: LoopWork) -> PushResult {
    let node = UnsafeMutablePointer<Node>.allocate(capacity: 1)
    node.initialize(to: Node(work: work, next: nil))
    var expected = head.load(ordering: .relaxed)
    while true {
      if expected == closed {
        node.deinitialize(count: 1)
        node.deallocate()
        return .refused
      }
      node.pointee.next = expected
      let (exchanged, original) = head.weakCompareExchange(
        expected: expected, desired: node, ordering: .sequentiallyConsistent)
      if exchanged { return expected == nil ? .first : .queued }
      expected = original
    }
  }

  /// Takes everything that was pushed and passes it to `body`. The work of each producer keeps its order. [loop]
  func takeAll(_ body: (LoopWork) -> Void) {
    if head.load(ordering: .relaxed) == nil { return }
    Self.take(head.exchange(nil, ordering: .acquiring), closed, body)
  }

  /// Refuses all further work if the inbox is empty. [loop]
  func closeIfEmpty() -> Bool {
    head.compareExchange(expected: nil, desired: closed, ordering: .acquiringAndReleasing).exchanged
  }

  private static func take(
    _ top: UnsafeMutablePointer<Node>?, _ closed: UnsafeMutablePointer<Node>, _ body: (LoopWork) -> Void
  ) {
    var reversed: UnsafeMutablePointer<Node>?
    var next = top == closed ? nil : top
    while let node = next {
      next = node.pointee.next
      node.pointee.next = reversed
      reversed = node
    }
    while let node = reversed {
      let taken = node.move()
      node.deallocate()
      reversed = taken.next
      body(taken.work)
    }
  }
}
