import SluicePipeline
import Testing

/// Holds the counters, which cannot be copied, so that several tasks can use them.
private final class Place: Sendable {
  let own = SingleWriterCounter()
  let shared = SharedCounter()
}

struct SingleWriterCounterTests {
  @Test func `a counter adds one or an amount, and wraps around`() {
    let place = Place()
    place.own.add()
    place.own.add(41)
    #expect(place.own.value == 42)
    place.own.add(.max)
    #expect(place.own.value == 41)
  }

  @Test func `a shared counter loses no count if several threads add to it`() async {
    let place = Place()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { for _ in 0..<50_000 { place.shared.add() } } }
    }
    #expect(place.shared.value == 200_000)
  }

  @Test func `a counter that is read while its owner adds to it never decreases`() async {
    let place = Place()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for _ in 0..<500_000 { place.own.add() } }
      group.addTask {
        var before: UInt64 = 0
        while before < 500_000 {
          let now = place.own.value
          #expect(now >= before)
          before = now
          await Task.yield()
        }
      }
    }
    #expect(place.own.value == 500_000)
  }
}
