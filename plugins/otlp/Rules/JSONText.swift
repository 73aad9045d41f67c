/// Builds JSON member by member, without building values first.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  mutating func object(_ key: String? = nil, _ body: (inout JSONText) -> Void) { group(key, "{", "}", body) }

  mutating func array(_ key: String, _ body: (inout JSONText) -> Void) { group(key, "[", "]", body) }

  mutating func text(_ key: String, _ value: String) {
    begin(key)
    quote(value)
  }

  mutating func integer(_ key: String, _ value: Int) {
    begin(key)
    bytes += "\(value)".utf8
  }

  /// 64 bits, which the JSON form of protocol buffers spells as a string.
  mutating func wide(_ key: String?, _ value: some FixedWidthInteger) {
    begin(key)
    quote("\(value)")
  }

  /// Infinite numbers are strings in the JSON form of protocol buffers.
  mutating func number(_ key: String?, _ value: Double) {
    begin(key)
    if value.isFinite {
      bytes += "\(value)".utf8
    } else {
      quote(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
    }
  }

  mutating func flag(_ key: String, _ value: Bool) {
    begin(key)
    bytes += value ? "true".utf8 : "false".utf8
  }

  private mutating func group(_ key: String?, _ open: String, _ close: String, _ body: (inout JSONText) -> Void) {
    begin(key)
    bytes += open.utf8
    needsComma = false
    body(&self)
    bytes += close.utf8
    needsComma = true
  }

  private mutating func begin(_ key: String?) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    guard let key else { return }
    quote(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
