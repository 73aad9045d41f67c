/// Builds JSON text member by member, without creating values first.
package struct JSONText: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// - Parameter capacity: the number of bytes to reserve.
  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  // Each of these functions adds a member of an object or, if the key is nil, an element of an array.

  package mutating func text(_ key: String?, _ value: String) {
    begin(key)
    quote(value)
  }

  package mutating func number(_ key: String?, _ value: some BinaryInteger) {
    begin(key)
    bytes += "\(value)".utf8
  }

  /// A finite number.
  package mutating func real(_ key: String?, _ value: Double) {
    begin(key)
    bytes += "\(value)".utf8
  }

  package mutating func flag(_ key: String?, _ value: Bool) {
    begin(key)
    bytes += value ? "true".utf8 : "false".utf8
  }

  /// - Parameter write: appends a value in JSON.
  package mutating func value(_ key: String?, _ write: (inout [UInt8]) -> Void) {
    begin(key)
    write(&bytes)
  }

  /// - Parameter body: adds the members.
  package mutating func object(_ key: String? = nil, _ body: (inout JSONText) -> Void) { group(key, "{", "}", body) }

  /// - Parameter body: adds the elements.
  package mutating func array(_ key: String? = nil, _ body: (inout JSONText) -> Void) { group(key, "[", "]", body) }

  /// The text with a final line break.
  package consuming func line() -> [UInt8] {
    bytes.append(UInt8(ascii: "\n"))
    return bytes
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
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20, 0x7F: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
