/// xoshiro256++, seeded with 256 random bits of the system, so that an id or nonce needs no system call.
@usableFromInline
package struct RandomBits: RandomNumberGenerator, Sendable {
  @usableFromInline var state: (UInt64, UInt64, UInt64, UInt64)

  /// Seeds from the system.
  package init() {
    var system = SystemRandomNumberGenerator()
    state = (system.next(), system.next(), system.next(), system.next() | 1)
  }

  /// Seeds from a number: the same bits for the same seed, for tests.
  package init(seed: UInt64) {
    state = (seed, ~seed, seed &* 0x9E37_79B9_7F4A_7C15, 1)
    for _ in 0..<16 { _ = next() }
  }

  @inlinable @inline(__always)
  package mutating func next() -> UInt64 {
    let sum = state.0 &+ state.3
    let result = (sum << 23 | sum >> 41) &+ state.0
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = state.3 << 45 | state.3 >> 19
    return result
  }
}
