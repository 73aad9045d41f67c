/// One line of JSON that is put together member by member, without building values first.
struct LineText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  init() {
    bytes.reserveCapacity(512)
    open()
  }

  mutating func text(_ name: String, _ value: String) {
    key(name)
    quote(value)
  }

  mutating func number(_ name: String, _ value: some BinaryInteger) {
    key(name)
    bytes += "\(value)".utf8
  }

  /// A finite number.
  mutating func real(_ name: String, _ value: Double) {
    key(name)
    bytes += "\(value)".utf8
  }

  mutating func flag(_ name: String, _ value: Bool) {
    key(name)
    bytes += value ? "true".utf8 : "false".utf8
  }

  /// A member that is an object, whose members the body adds.
  mutating func object(_ name: String, _ body: (inout LineText) -> Void) {
    key(name)
    open()
    body(&self)
    close()
  }

  /// Ends the line.
  mutating func end() -> [UInt8] {
    close()
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private mutating func open() {
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  private mutating func close() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  private mutating func key(_ name: String) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    quote(name)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
