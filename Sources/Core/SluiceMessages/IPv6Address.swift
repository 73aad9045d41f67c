/// An IPv6 address (RFC 4291 §2.2). Different spellings of one address are equal.
struct IPv6Address: Sendable, Hashable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  /// Nil if the text is not an address. Brackets and a zone (`%25eth0`) are not part of an address.
  init?(_ text: Span<UInt8>) {
    guard let (groups, count, gap) = Self.groups(of: text) else { return nil }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for place in 0..<8 {
      // The groups after the gap (`::`) are the last ones of the address.
      let index = place < gap ? place : place - (8 - count)
      let group = place < gap || index >= gap ? UInt64(groups[index]) : 0
      (high, low) = (high << 16 | low >> 48, low << 16 | group)
    }
    self.high = high
    self.low = low
  }

  /// The IPv4 address to which the kernel connects for this address; only for `::ffff:0:0/96` (RFC 4291 §2.5.5.2).
  var mapped: IPv4Address? {
    high == 0 && low >> 32 == 0xFFFF ? IPv4Address(value: UInt32(truncatingIfNeeded: low)) : nil
  }

  var isLoopback: Bool { high == 0 && low == 1 || mapped?.isLoopback == true }

  /// The canonical text (RFC 5952).
  var description: String {
    if let mapped { return "::ffff:\(mapped)" }
    let zeros = longestZeros
    var text = ""
    var place = 0
    while place < 8 {
      if place == zeros.lowerBound, zeros.count > 1 {
        text += "::"
        place = zeros.upperBound
        continue
      }
      if !text.isEmpty, text.utf8.last != UInt8(ascii: ":") { text += ":" }
      text += String(group(place), radix: 16)
      place += 1
    }
    return text
  }

  private func group(_ place: Int) -> UInt16 {
    UInt16(truncatingIfNeeded: (place < 4 ? high : low) >> (48 - place % 4 * 16))
  }

  /// The longest run of zero groups; the first one if several are equally long.
  private var longestZeros: Range<Int> {
    var longest = 0..<0
    var start = 0
    for place in 0..<8 {
      if group(place) != 0 {
        start = place + 1
      } else if place + 1 - start > longest.count {
        longest = start..<place + 1
      }
    }
    return longest
  }

  /// Returns the groups in the text, their number, and the index of the group after `::`. If there is no `::`, the
  /// index is 8.
  private static func groups(of text: Span<UInt8>) -> (InlineArray<8, UInt16>, count: Int, gap: Int)? {
    let colon = UInt8(ascii: ":")
    var groups = InlineArray<8, UInt16>(repeating: 0)
    var count = 0
    var gap: Int?
    var index = 0
    if text.count >= 2, text[0] == colon, text[1] == colon { (gap, index) = (0, 2) }
    while index < text.count {
      guard count < 8 else { return nil }
      var end = index
      while end < text.count, text[end] != colon, text[end] != UInt8(ascii: ".") { end += 1 }
      if end < text.count, text[end] != colon {
        guard count <= 6, let tail = IPv4Address(text.extracting(index..<text.count)) else { return nil }
        groups[count] = UInt16(tail.value >> 16)
        groups[count + 1] = UInt16(truncatingIfNeeded: tail.value)
        count += 2
        break
      }
      guard let group = group(text.extracting(index..<end)) else { return nil }
      groups[count] = group
      count += 1
      guard end < text.count else { break }
      index = end + 1
      // A single colon cannot end an address.
      guard index < text.count else { return nil }
      guard text[index] == colon else { continue }
      guard gap == nil else { return nil }
      gap = count
      index += 1
    }
    let isWhole = gap == nil ? count == 8 : count < 8
    return isWhole ? (groups, count, gap ?? 8) : nil
  }

  /// Reads one to four hexadecimal digits.
  private static func group(_ text: Span<UInt8>) -> UInt16? {
    guard (1...4).contains(text.count) else { return nil }
    var value: UInt16 = 0
    for index in text.indices {
      guard let digit = PercentCoding.value(text[index]) else { return nil }
      value = value << 4 | UInt16(digit)
    }
    return value
  }
}
