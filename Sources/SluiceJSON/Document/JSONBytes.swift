import SluiceMessages

/// JSON text that is written straight into bytes, without values of jansson, and spelled as jansson spells it: compact,
/// characters beyond ASCII as they are, `\uXXXX` in upper case for controls without a short form.
struct JSONBytes {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  /// Text that is JSON already.
  mutating func write(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Text that is JSON already.
  mutating func append(_ text: [UInt8]) { bytes.append(contentsOf: text) }

  /// Fails if the value cannot be written (``JSONValue/serialized(_:limitBytes:)``).
  mutating func append(_ value: JSONValue) throws(JSONError) { bytes.append(contentsOf: try value.serialized()) }

  mutating func append(_ number: Int) {
    guard number >= 0 else {
      bytes.append(contentsOf: "\(number)".utf8)
      return
    }
    var rest = number
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }

  /// Milliseconds with at most three decimals and at least one: jansson spells 1.93 with 17 digits.
  mutating func append(milliseconds duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard (0..<1_000_000_000).contains(seconds), attoseconds % 1_000_000_000 == 0 else {
      bytes.append(contentsOf: "\(duration.roundedMilliseconds)".utf8)
      return
    }
    let microseconds = (Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000) + 500) / 1000
    append(microseconds / 1000)
    let rest = microseconds % 1000
    bytes.append(UInt8(ascii: "."))
    bytes.append(UInt8(ascii: "0") + UInt8(rest / 100))
    if rest % 100 > 0 { bytes.append(UInt8(ascii: "0") + UInt8(rest / 10 % 10)) }
    if rest % 10 > 0 { bytes.append(UInt8(ascii: "0") + UInt8(rest % 10)) }
  }

  /// A string in quotes.
  mutating func append(quoting text: String) {
    var text = text
    text.withUTF8 { append(quoting: $0) }
  }

  /// ASCII in lower case, without quotes.
  mutating func append(lowercasing text: UnsafeBufferPointer<UInt8>) {
    let start = bytes.count
    bytes.append(contentsOf: text)
    for index in start..<bytes.count { bytes[index] = bytes[index].asciiLowercased }
  }

  /// A string in quotes. The caller has checked that the text is UTF-8.
  mutating func append(quoting text: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    while start < text.count {
      let end = min(start + Self.blockBytes, text.count)
      appendEscaped(UnsafeBufferPointer(rebasing: text[start..<end]))
      start = end
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// A block is escaped on the stack, so that the text needs no measuring first.
  private static let blockBytes = 512

  private mutating func appendEscaped(_ block: UnsafeBufferPointer<UInt8>) {
    let source = UnsafeRawBufferPointer(block)
    withUnsafeTemporaryAllocation(byteCount: 6 * block.count + 8, alignment: 8) { target in
      var count = 0
      var index = 0
      while index < source.count {
        if index &+ 8 <= source.count {
          let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          if !Self.needsEscape(word) {
            target.storeBytes(of: word, toByteOffset: count, as: UInt64.self)
            index &+= 8
            count &+= 8
            continue
          }
        }
        let end = min(index &+ 8, source.count)
        while index < end {
          Self.escape(source[index], into: target, at: &count)
          index &+= 1
        }
      }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: target[..<count]))
    }
  }

  /// Whether one of eight bytes is a control, a quote or a backslash. May say so of others too, which then take the
  /// longer way.
  @inline(__always)
  private static func needsEscape(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let found =
      (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
    return found & (ones &* 0x80) != 0
  }

  @inline(__always)
  private static func escape(_ byte: UInt8, into target: UnsafeMutableRawBufferPointer, at count: inout Int) {
    if byte >= 0x20, byte != 0x22, byte != 0x5C {
      target[count] = byte
      count &+= 1
      return
    }
    target[count] = UInt8(ascii: "\\")
    guard let short = shortForm(byte) else {
      target[count &+ 1] = UInt8(ascii: "u")
      target[count &+ 2] = UInt8(ascii: "0")
      target[count &+ 3] = UInt8(ascii: "0")
      target[count &+ 4] = hexDigit(byte >> 4)
      target[count &+ 5] = hexDigit(byte & 15)
      count &+= 6
      return
    }
    target[count &+ 1] = short
    count &+= 2
  }

  @inline(__always)
  private static func shortForm(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x22, 0x5C: byte
    case 0x0A: UInt8(ascii: "n")
    case 0x0D: UInt8(ascii: "r")
    case 0x09: UInt8(ascii: "t")
    case 0x08: UInt8(ascii: "b")
    case 0x0C: UInt8(ascii: "f")
    default: nil
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
