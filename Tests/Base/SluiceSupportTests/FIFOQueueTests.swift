import SluiceSupport
import Testing

struct FIFOQueueTests {
  private final class Kept: Sendable {}

  @Test func `elements keep their order, even after many elements were taken`() {
    var queue = FIFOQueue<Int>()
    var taken: [Int] = []
    for number in 0..<10_000 {
      queue.append(number)
      if number % 3 != 0, let next = queue.popFirst() { taken.append(next) }
    }
    #expect(queue.count == 10_000 - taken.count)
    #expect(queue.first == taken.count && queue.first { $0 > 9_990 } == 9_991)
    while let next = queue.popFirst() { taken.append(next) }
    #expect(taken == Array(0..<10_000))
    #expect(queue.isEmpty && queue.first == nil)
    queue.append(1)
    #expect(queue.popFirst() == 1)
  }

  @Test func `an element is released as soon as it is taken`() {
    var queue = FIFOQueue<Kept>()
    weak var first: Kept?
    do {
      let kept = Kept()
      first = kept
      queue.append(kept)
    }
    queue.append(Kept())
    #expect(first != nil)
    _ = queue.popFirst()
    #expect(first == nil && queue.count == 1)
  }
}
