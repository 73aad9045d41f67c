import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Testing

@testable import SluiceAssembly

@Suite struct IssueTimesTests {
  @Test func `a stored time can be removed once, and is then gone`() {
    var times = IssueTimes(capacity: 4)
    let id = TransactionID(randomHigh: 1, randomLow: 2)
    #expect(times.remove(id) == nil)
    times.set(Instant(nanoseconds: 5), for: id)
    times.set(Instant(nanoseconds: 7), for: id)
    #expect(times.count == 1)
    #expect(times.remove(id) == Instant(nanoseconds: 7))
    #expect(times.remove(id) == nil)
    #expect(times.count == 0)
  }

  @Test(arguments: [UInt64](1...8)) func `the table behaves like a dictionary, in any order and with any collisions`(
    seed: UInt64
  ) {
    var random = SeededRandom(seed: seed)
    // The ids have few different low bits, so most of them hash to the same slots.
    let ids = (0..<200).map { TransactionID(randomHigh: 0, randomLow: UInt64($0) << 8 | random.next() & 3) }
    var times = IssueTimes(capacity: 4)
    var model: [TransactionID: Instant] = [:]
    for _ in 0..<4000 {
      let id = ids[Int.random(in: 0..<ids.count, using: &random)]
      if Bool.random(using: &random) {
        let time = Instant(nanoseconds: random.next())
        times.set(time, for: id)
        model[id] = time
      } else {
        #expect(times.remove(id) == model.removeValue(forKey: id))
      }
      #expect(times.count == model.count)
    }
    for id in ids { #expect(times.remove(id) == model.removeValue(forKey: id)) }
    #expect(times.count == 0)
  }
}
