import Glibc
package import SluiceMessages

/// JSON text that is written directly into bytes, without jansson values. The spelling is jansson's: compact, non-ASCII
/// characters unchanged, and `\uXXXX` with upper-case digits for controls that have no short form.
package struct JSONText: ~Copyable {
  /// A raw buffer, because an array checks its storage at each append.
  private var start: UnsafeMutableRawPointer
  private var capacity: Int
  /// The number of bytes that were written.
  package private(set) var count = 0

  package init(capacity: Int = 0) {
    self.capacity = max(capacity, 64)
    start = .allocate(byteCount: self.capacity, alignment: 1)
  }

  deinit { start.deallocate() }

  /// A copy of the written bytes.
  package var bytes: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: start, count: count)) }

  /// Lends the written bytes.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The byte that was written last; nil if there is none.
  var lastByte: UInt8? { count > 0 ? start.load(fromByteOffset: count &- 1, as: UInt8.self) : nil }

  /// Removes all bytes after the first `place` bytes, except for the last byte. Returns how many it has removed.
  mutating func keepLastByte(after place: Int) -> Int {
    guard let last = lastByte, count > place + 1 else { return 0 }
    let removed = count - place - 1
    start.storeBytes(of: last, toByteOffset: place, as: UInt8.self)
    count = place + 1
    return removed
  }

  /// Keeps the first `count` bytes and removes the bytes after them.
  package mutating func truncate(to count: Int) { self.count = min(count, self.count) }

  /// Removes all bytes. Keeps at most `kept` bytes of memory for the next text, but always at least 64.
  package mutating func removeAll(keepingCapacity kept: Int) {
    count = 0
    guard capacity > kept else { return }
    start.deallocate()
    capacity = max(kept, 64)
    start = .allocate(byteCount: capacity, alignment: 1)
  }

  /// Text that is JSON already.
  @inline(__always)
  mutating func write(_ text: StaticString) {
    copy(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Text that is JSON already.
  mutating func append(_ text: [UInt8]) { text.withUnsafeBytes { copy($0) } }

  /// Fails if the value cannot be written (``JSONValue/serialized(_:limitBytes:)``).
  mutating func append(_ value: JSONValue) throws(JSONError) { _ = try append(value, []) }

  /// A finite number in the shortest form that reads back the same.
  mutating func append(_ real: Double) {
    var text = real.description
    text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ number: Int) {
    if number < 0 { write("-") }
    append(number.magnitude)
  }

  mutating func append(_ number: UInt) {
    reserve(20)
    var digits = 1
    var rest = number / 10
    while rest > 0 {
      digits += 1
      rest /= 10
    }
    rest = number
    var place = count + digits
    count = place
    repeat {
      place -= 1
      start.storeBytes(
        of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: place, as: UInt8.self)
      rest /= 10
    } while rest > 0
  }

  /// Milliseconds with one to three decimals.
  mutating func append(milliseconds duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard (0..<1_000_000_000).contains(seconds), attoseconds % 1_000_000_000 == 0 else {
      return append(duration.roundedMilliseconds)
    }
    let microseconds = (Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000) + 500) / 1000
    append(microseconds / 1000)
    let rest = microseconds % 1000
    reserve(4)
    put(UInt8(ascii: "."))
    put(Self.digit(rest / 100))
    if rest % 100 > 0 { put(Self.digit(rest / 10 % 10)) }
    if rest % 10 > 0 { put(Self.digit(rest % 10)) }
  }

  private static func digit(_ value: Int) -> UInt8 { UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value) }

  /// The UUID in quotes.
  package mutating func append(quoting id: TransactionID) {
    let text = id.text
    reserve(text.count + 2)
    put(UInt8(ascii: "\""))
    text.span.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(start: start + count, count: $0.count).copyMemory(from: $0)
    }
    count &+= text.count
    put(UInt8(ascii: "\""))
  }

  /// A string in quotes.
  mutating func append(quoting text: String) {
    var text = text
    text.withUTF8 { append(quoting: $0) }
  }

  /// A string in quotes. The caller has checked that the text is UTF-8.
  mutating func append(quoting text: UnsafeBufferPointer<UInt8>) {
    let source = UnsafeRawBufferPointer(text)
    reserve(2)
    put(UInt8(ascii: "\""))
    var index = 0
    while index < source.count {
      let end = min(index + Self.blockBytes, source.count)
      appendEscaped(source, index..<end)
      index = end
    }
    // `appendEscaped` reserves room for this quote too.
    put(UInt8(ascii: "\""))
  }

  /// A string in quotes, with `\uXXXX` for each UTF-16 unit of a character that is not ASCII.
  mutating func append(asciiQuoting text: String) {
    write("\"")
    for unit in text.utf16 {
      reserve(6)
      if unit < 0x80 {
        putEscaped(UInt8(unit))
      } else {
        write("\\u")
        for shift in [12, 8, 4, 0] as [UInt16] { put(Self.hexDigit(UInt8(unit >> shift & 15))) }
      }
    }
    write("\"")
  }

  /// Writes a token (RFC 9110 §5.6.2) as a key: in lower case and in quotes, with a colon after it.
  mutating func append(key token: UnsafeBufferPointer<UInt8>, isFirst: Bool) {
    reserve(token.count + 4)
    if !isFirst { put(UInt8(ascii: ",")) }
    put(UInt8(ascii: "\""))
    let source = UnsafeRawBufferPointer(token)
    var index = 0
    while index &+ 8 <= source.count {
      let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      start.storeBytes(of: word.asciiLowercased, toByteOffset: count, as: UInt64.self)
      index &+= 8
      count &+= 8
    }
    if source.count >= 8 {
      // Converts the last eight bytes, some of them twice: this costs less than converting the remaining bytes one by
      // one.
      let word = source.loadUnaligned(fromByteOffset: source.count &- 8, as: UInt64.self)
      count &+= source.count &- index
      start.storeBytes(of: word.asciiLowercased, toByteOffset: count &- 8, as: UInt64.self)
      index = source.count
    }
    while index < source.count {
      put(source[index].asciiLowercased)
      index &+= 1
    }
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
  }

  // MARK: Escapes

  /// Text is escaped in blocks of at most this many bytes. Room is reserved for one block, at six bytes for each of its
  /// bytes.
  private static let blockBytes = 1024

  private mutating func appendEscaped(_ source: UnsafeRawBufferPointer, _ range: Range<Int>) {
    reserve(6 * range.count + 9)
    var index = range.lowerBound
    while index &+ 8 <= range.upperBound {
      let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let found = Self.escapes(in: word)
      // If a byte must be escaped, it and the bytes after it are overwritten below.
      start.storeBytes(of: word, toByteOffset: count, as: UInt64.self)
      guard found != 0 else {
        index &+= 8
        count &+= 8
        continue
      }
      let plain = found.trailingZeroBitCount / 8
      index &+= plain
      count &+= plain
      putEscaped(source[index])
      index &+= 1
    }
    let rest = range.upperBound &- index
    guard rest > 0 else { return }
    if range.upperBound >= 8 {
      // The last eight bytes of the text. The first of them may already be written; `word` has spaces in their place.
      let last = source.loadUnaligned(fromByteOffset: range.upperBound &- 8, as: UInt64.self)
      let shift = UInt64(64 &- rest &* 8)
      let word = UInt64(littleEndian: last) &>> shift | 0x2020_2020_2020_2020 &<< (64 &- shift)
      if Self.escapes(in: word.littleEndian) == 0 {
        start.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= rest
        return
      }
    }
    while index < range.upperBound {
      putEscaped(source[index])
      index &+= 1
    }
  }

  /// Looks for control characters, quotes and backslashes among eight bytes. In the result, the highest bit of the first
  /// such byte is set; bits of later bytes may be wrong. Returns 0 if there is no such byte.
  @inline(__always)
  private static func escapes(in littleEndian: UInt64) -> UInt64 {
    let word = UInt64(littleEndian: littleEndian)
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let found = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
    return found & (ones &* 0x80)
  }

  @inline(__always)
  private mutating func putEscaped(_ byte: UInt8) {
    if byte >= 0x20, byte != 0x22, byte != 0x5C { return put(byte) }
    put(UInt8(ascii: "\\"))
    if let short = Self.shortForm(byte) { return put(short) }
    put(UInt8(ascii: "u"))
    put(UInt8(ascii: "0"))
    put(UInt8(ascii: "0"))
    put(Self.hexDigit(byte >> 4))
    put(Self.hexDigit(byte & 15))
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

  // MARK: The buffer

  /// The caller must have made room.
  @inline(__always)
  private mutating func put(_ byte: UInt8) {
    start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  @inline(__always)
  private mutating func copy(_ text: UnsafeRawBufferPointer) {
    reserve(text.count)
    guard let source = text.baseAddress else { return }
    memcpy(start + count, source, text.count)
    count &+= text.count
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity &- count < more { grow(more) }
  }

  private mutating func grow(_ more: Int) {
    capacity = max(count + more, 2 * capacity)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
    memcpy(larger, start, count)
    start.deallocate()
    start = larger
  }
}
