import Testing

@testable import SluiceAssembly

/// Which of several swaps are performed, and in which order.
@Suite struct SwapQueueTests {
  private func queue(_ kinds: [SwapQueue.Kind]) -> (left: [Int], superseded: [Int]) {
    var queue = SwapQueue()
    var superseded: [Int] = []
    for (id, kind) in kinds.enumerated() { superseded += queue.add(SwapQueue.Entry(id: id, kind: kind)).map(\.id) }
    return (queue.entries.map(\.id), superseded)
  }

  @Test func `a newer swap supersedes a waiting one if it has the same libraries or more`() {
    #expect(queue([.swap(["a"]), .swap(["a"])]) == ([1], [0]))
    #expect(queue([.swap(["a"]), .swap(["a", "b"])]) == ([1], [0]))
    #expect(queue([.swap(["a"]), .swap(["b"]), .swap(nil)]) == ([2], [0, 1]))
  }

  @Test func `a waiting swap that no newer swap includes is kept`() {
    #expect(queue([.swap(["a"]), .swap(["b"])]) == ([0, 1], []))
    #expect(queue([.swap(["a", "b"]), .swap(["a"])]) == ([0, 1], []))
    #expect(queue([.swap(nil), .swap(["a"])]) == ([0, 1], []))
    #expect(queue([.reload, .swap(nil)]) == ([0, 1], []))
  }

  @Test func `a reload supersedes waiting swaps and reloads`() {
    #expect(queue([.swap(nil), .reload, .swap(["a"]), .reload]) == ([3], [0, 1, 2]))
  }

  @Test func `rollbacks go first, and no swap or reload supersedes them`() {
    #expect(queue([.swap(["a"]), .breach(snapshot: 2), .rollback, .reload]) == ([1, 2, 3], [0]))
    #expect(queue([.rollback, .rollback]) == ([1], [0]))
  }

  @Test func `a waiting swap can be removed once`() {
    var queue = SwapQueue()
    _ = queue.add(SwapQueue.Entry(id: 1, kind: .reload))
    let (first, second, next) = (queue.remove(1), queue.remove(1), queue.next(besidesWaiting: false))
    #expect(first && !second && next == nil)
  }
}
