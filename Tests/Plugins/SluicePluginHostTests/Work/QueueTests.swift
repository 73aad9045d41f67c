import SluiceSupport
import Testing

@testable import SluicePluginHost

/// Queues of calls, and the pool of threads that runs calls.
struct QueueTests {
  private final class Kept: Sendable {}

  private struct Waiting {
    weak var call: Kept?
  }

  /// Adds a call that waits for its turn and retains an object. Returns a weak reference to the object.
  private func wait(for turns: SerialTurns) -> Waiting {
    let kept = Kept()
    let isTurn = turns.begin(on: nil, orLater: { withExtendedLifetime(kept) {} })
    #expect(!isTurn)
    return Waiting(call: kept)
  }

  @Test func `each call is released after its turn, even if other calls still wait`() {
    let turns = SerialTurns()
    #expect(turns.tryBegin(on: nil))
    let (first, second, third) = (wait(for: turns), wait(for: turns), wait(for: turns))
    #expect(first.call != nil)
    turns.end()
    #expect(first.call == nil)
    #expect(second.call != nil)
    turns.end()
    #expect(second.call == nil)
    #expect(third.call != nil)
  }

  @Test func `if another thread can be started, the second of two jobs does not wait for the first`() {
    for _ in 0..<500 {
      let pool = BlockingPool(maximumThreads: 2)
      let steps = Monitor((begun: false, met: 0))
      #expect(pool.submit(BlockingPool.Job { steps.update { $0.begun = true } }))
      steps.wait { $0.begun ? () : nil }
      // The only thread is idle now, or will be very soon.
      #expect(
        pool.submit(
          BlockingPool.Job {
            guard steps.wait(upTo: .seconds(30), { $0.met == 1 ? true : nil }) == true else { return }
            steps.update { $0.met = 2 }
          }))
      #expect(pool.submit(BlockingPool.Job { steps.update { $0.met = 1 } }))
      let met = steps.wait(upTo: .seconds(60)) { $0.met == 2 ? true : nil }
      #expect(met == true)
      #expect(pool.close(within: .seconds(30)))
      if met == nil { return }
    }
  }
}
