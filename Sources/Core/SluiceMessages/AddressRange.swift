/// A range of IP addresses, such as `10.0.0.0/8` (RFC 4632 §3.1) or one address.
package struct AddressRange: Sendable, Hashable {
  private let address: Bits
  /// How many bits of an address must be equal.
  private let prefix: Int

  /// Nil unless the text is an address, or an address, a slash and the number of bits.
  package init?(_ text: String) {
    let slash = text.firstIndex(of: "/")
    guard let address = Bits(String(text[..<(slash ?? text.endIndex)])) else { return nil }
    guard let slash else {
      (self.address, prefix) = (address, address.count)
      return
    }
    let digits = text[text.index(after: slash)...]
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let prefix = Int(digits), prefix <= address.count
    else { return nil }
    (self.address, self.prefix) = (address, prefix)
  }

  /// Whether a numeric address is in the range. An IPv4 address that is written as IPv6 counts as IPv4.
  package func contains(_ text: String) -> Bool {
    guard let other = Bits(text), other.count == address.count else { return false }
    return Bits.begin(address, other, prefix)
  }

  /// The bits of an address: 32 for IPv4, in the upper half of `high`; 128 for IPv6.
  private struct Bits: Hashable {
    let count: Int
    let high: UInt64
    let low: UInt64

    init?(_ text: String) {
      let text = text.utf8.span
      let six = IPv6Address(text)
      if let four = IPv4Address(text) ?? six?.mapped {
        (count, high, low) = (32, UInt64(four.value) << 32, 0)
      } else if let six {
        (count, high, low) = (128, six.high, six.low)
      } else {
        return nil
      }
    }

    /// Whether the first bits are equal.
    static func begin(_ left: Bits, _ right: Bits, _ count: Int) -> Bool {
      let (upper, lower) = (min(count, 64), max(count - 64, 0))
      return mask(upper) & (left.high ^ right.high) == 0 && mask(lower) & (left.low ^ right.low) == 0
    }

    private static func mask(_ count: Int) -> UInt64 { count == 0 ? 0 : ~0 << UInt64(64 - count) }
  }
}
