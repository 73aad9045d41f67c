/// SipHash-2-4 (Aumasson and Bernstein, 2012), 64 bits: distinguishes contents in a journal without showing them.
///
/// With a secret key, a hash reveals nothing about a value, however short the value is.
package struct MessageHash {
  package struct Key: Sendable, Hashable {
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
      self.low = low
      self.high = high
    }

    /// For contents that are not secret: the same bytes have the same hash in every journal.
    package static let fixed = Key(low: 0, high: 0)

    package static func random() -> Key {
      var generator = SystemRandomNumberGenerator()
      return Key(low: generator.next(), high: generator.next())
    }
  }

  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64
  /// The bytes of an incomplete word.
  private var rest: UInt64 = 0
  private var count = 0

  package init(key: Key = .fixed) {
    v0 = key.low ^ 0x736f_6d65_7073_6575
    v1 = key.high ^ 0x646f_7261_6e64_6f6d
    v2 = key.low ^ 0x6c79_6765_6e65_7261
    v3 = key.high ^ 0x7465_6462_7974_6573
  }

  package mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      rest |= UInt64(byte) << (8 &* UInt64(truncatingIfNeeded: count & 7))
      count &+= 1
      if count & 7 == 0 {
        take(rest)
        rest = 0
      }
    }
  }

  package func finish() -> UInt64 {
    var last = self
    last.take(rest | UInt64(truncatingIfNeeded: count) << 56)
    last.v2 ^= 0xff
    for _ in 0..<4 { last.turn() }
    return last.v0 ^ last.v1 ^ last.v2 ^ last.v3
  }

  private mutating func take(_ word: UInt64) {
    v3 ^= word
    turn()
    turn()
    v0 ^= word
  }

  private mutating func turn() {
    v0 &+= v1
    v1 = Self.rotated(v1, 13) ^ v0
    v0 = Self.rotated(v0, 32)
    v2 &+= v3
    v3 = Self.rotated(v3, 16) ^ v2
    v0 &+= v3
    v3 = Self.rotated(v3, 21) ^ v0
    v2 &+= v1
    v1 = Self.rotated(v1, 17) ^ v2
    v2 = Self.rotated(v2, 32)
  }

  private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 &- bits) }
}

extension UInt64 {
  /// The last `digits` hexadecimal digits, padded with zeros.
  func hexadecimal(digits: Int) -> String {
    let text = String(self, radix: 16)
    return String((String(repeating: "0", count: 16) + text).suffix(digits))
  }
}
