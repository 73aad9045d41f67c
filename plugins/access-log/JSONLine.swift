import SluicePlugin

/// Builds one JSON object on one line, member by member; numbers are written as people expect them.
struct JSONLine {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]
  private var isFirst = true

  init() {
    bytes.reserveCapacity(512)
  }

  mutating func add(_ key: String, _ text: String) {
    begin(key)
    quote(text)
  }

  mutating func add(_ key: String, _ number: Int) {
    begin(key)
    bytes.append(contentsOf: String(number).utf8)
  }

  mutating func add(_ key: String, _ value: AttributeValue) {
    switch value {
    case .text(let text): add(key, text)
    case .integer(let integer): add(key, Int(integer))
    case .number(let number): add(key, spelling: "\(number)")
    case .bool(let bool): add(key, spelling: "\(bool)")
    }
  }

  private mutating func add(_ key: String, spelling: String) {
    begin(key)
    bytes.append(contentsOf: spelling.utf8)
  }

  /// Three decimals, which are microseconds.
  mutating func add(_ key: String, milliseconds duration: Duration) {
    begin(key)
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let fraction = String(microseconds % 1000)
    bytes.append(contentsOf: String(microseconds / 1000).utf8)
    bytes.append(UInt8(ascii: "."))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 3 - fraction.utf8.count))
    bytes.append(contentsOf: fraction.utf8)
  }

  /// Members go into an object of that key until ``close()``.
  mutating func open(_ key: String) {
    begin(key)
    bytes.append(UInt8(ascii: "{"))
    isFirst = true
  }

  mutating func close() {
    bytes.append(UInt8(ascii: "}"))
    isFirst = false
  }

  /// The object and its line break.
  consuming func finished() -> [UInt8] {
    bytes.append(UInt8(ascii: "}"))
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private mutating func begin(_ key: String) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    quote(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0..<0x20, 0x7F: escape(byte)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    let digits = Array("0123456789abcdef".utf8)
    bytes.append(contentsOf: Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]])
  }
}
