@testable import SluiceLoop
import Testing

@testable import Sluice

/// Which loops count as stuck.
@Suite struct PulseDetectorTests {
  private static let limit = Duration.milliseconds(100)

  @Test func `if a turn of a loop lasts as long as the limit, the loop is stuck until its next turn`() {
    var detector = PulseDetector()
    detector.note([LoopPulse(turn: 7)], at: .zero, limit: Self.limit)
    #expect(detector.standstills.isEmpty)
    detector.note([LoopPulse(turn: 7)], at: .milliseconds(100), limit: Self.limit)
    #expect(detector.standstills == [.init(loop: 0, age: .milliseconds(100), hasDied: false)])
    detector.note([LoopPulse(turn: 8)], at: .milliseconds(101), limit: Self.limit)
    #expect(detector.standstills.isEmpty)
  }

  @Test func `a sleeping loop is not stuck, however long it sleeps`() {
    var detector = PulseDetector()
    detector.note([LoopPulse(turn: 7, isAsleep: true)], at: .zero, limit: Self.limit)
    detector.note([LoopPulse(turn: 7, isAsleep: true)], at: .seconds(9), limit: Self.limit)
    // The loop is awake, but has no new turn yet. Its time counts from this check.
    detector.note([LoopPulse(turn: 7)], at: .seconds(9), limit: Self.limit)
    #expect(detector.standstills.isEmpty)
  }

  @Test func `a busy loop is not stuck`() {
    var detector = PulseDetector()
    for turn in UInt64(1)...20 {
      detector.note([LoopPulse(turn: turn)], at: .milliseconds(90 * Int(turn)), limit: Self.limit)
      #expect(detector.standstills.isEmpty)
    }
  }

  @Test func `a loop whose thread has ended is stuck from the first check, asleep or not`() {
    var detector = PulseDetector()
    let pulses = [LoopPulse(turn: 1), LoopPulse(turn: 7, isAsleep: true, hasDied: true)]
    detector.note(pulses, at: .zero, limit: Self.limit)
    #expect(detector.standstills == [.init(loop: 1, age: .zero, hasDied: true)])
  }
}
