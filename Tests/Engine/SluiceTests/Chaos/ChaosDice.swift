import SluiceTestKit

/// Repeatable random numbers. The same seed, subject and purpose give the same numbers, in any order and on any thread.
struct ChaosDice {
  private var random: SeededRandom

  /// - Parameters:
  ///   - subject: what the decision is about, such as a path.
  ///   - purpose: who decides, such as a stage. Another purpose gives other decisions.
  init(_ seed: UInt64, _ subject: some StringProtocol, _ purpose: String, _ number: Int = 0) {
    var state = seed
    for byte in subject.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for byte in purpose.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
    random = SeededRandom(seed: state &+ UInt64(truncatingIfNeeded: number))
  }

  mutating func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
}
