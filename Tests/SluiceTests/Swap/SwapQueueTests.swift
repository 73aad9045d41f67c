import Sluice
import Testing

@testable import SluiceEngine

/// Which of several swaps are performed, and in which order.
@Suite struct SwapQueueTests {
  private func queue(_ kinds: [SwapQueue.Kind]) -> (left: [Int], superseded: [Int]) {
    var queue = SwapQueue()
    var superseded: [Int] = []
    for (id, kind) in kinds.enumerated() { superseded += queue.add(SwapQueue.Entry(id: id, kind: kind)).map(\.id) }
    return (queue.entries.map(\.id), superseded)
  }

  @Test func `the newest wins for the same libraries, or more`() {
    #expect(queue([.swap(["a"]), .swap(["a"])]) == ([1], [0]))
    #expect(queue([.swap(["a"]), .swap(["a", "b"])]) == ([1], [0]))
    #expect(queue([.swap(["a"]), .swap(["b"]), .swap(nil)]) == ([2], [0, 1]))
  }

  @Test func `a swap that no newer one includes is kept`() {
    #expect(queue([.swap(["a"]), .swap(["b"])]) == ([0, 1], []))
    #expect(queue([.swap(["a", "b"]), .swap(["a"])]) == ([0, 1], []))
    #expect(queue([.swap(nil), .swap(["a"])]) == ([0, 1], []))
    #expect(queue([.reload, .swap(nil)]) == ([0, 1], []))
  }

  @Test func `a configuration supersedes swaps and configurations`() {
    #expect(queue([.swap(nil), .reload, .swap(["a"]), .reload]) == ([3], [0, 1, 2]))
  }

  @Test func `returns go first, in their order, and are superseded by no swap`() {
    #expect(queue([.swap(["a"]), .breach(snapshot: 2), .rollback, .reload]) == ([1, 2, 3], [0]))
    #expect(queue([.rollback, .rollback]) == ([1], [0]))
  }

  @Test func `a waiting swap can be removed once`() {
    var queue = SwapQueue()
    _ = queue.add(SwapQueue.Entry(id: 1, kind: .reload))
    let (first, second, next) = (queue.remove(1), queue.remove(1), queue.next())
    #expect(first && !second && next == nil)
  }
}
