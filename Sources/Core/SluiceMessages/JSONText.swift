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

  package mutating func number(_ key: String?, _ value: Int) {
    if value < 0 { minus(key) } else { begin(key) }
    append(digits: value.magnitude)
  }

  package mutating func number(_ key: String?, _ value: Int64) { number(key, Int(value)) }
  package mutating func number(_ key: String?, _ value: Int32) { number(key, Int(value)) }
  package mutating func number(_ key: String?, _ value: UInt32) { number(key, Int(value)) }

  package mutating func number(_ key: String?, _ value: UInt64) {
    begin(key)
    append(digits: UInt(value))
  }

  /// The UUID as text.
  package mutating func text(_ key: String?, _ id: TransactionID) {
    begin(key)
    let text = id.text
    bytes.append(addingCapacity: text.count + 2) { output in
      output.append(UInt8(ascii: "\""))
      output.append(copying: text.span)
      output.append(UInt8(ascii: "\""))
    }
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
    guard let key else {
      if needsComma { bytes.append(UInt8(ascii: ",")) }
      needsComma = true
      return
    }
    let name = key.utf8.span
    guard Self.isPlain(name) else {
      if needsComma { bytes.append(UInt8(ascii: ",")) }
      needsComma = true
      escape(key)
      return bytes.append(UInt8(ascii: ":"))
    }
    let hasComma = needsComma
    needsComma = true
    // Appends everything at once: each separate append would check again whether there is room.
    bytes.append(addingCapacity: name.count + 4) { output in
      if hasComma { output.append(UInt8(ascii: ",")) }
      output.append(UInt8(ascii: "\""))
      output.append(copying: name)
      output.append(UInt8(ascii: "\""))
      output.append(UInt8(ascii: ":"))
    }
  }

  private mutating func minus(_ key: String?) {
    begin(key)
    bytes.append(UInt8(ascii: "-"))
  }

  private mutating func append(digits number: UInt) {
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var place = digits.count
    var rest = number
    repeat {
      place -= 1
      digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    bytes.append(copying: digits.span.extracting(place..<digits.count))
  }

  private mutating func quote(_ text: String) {
    let plain = text.utf8.span
    guard Self.isPlain(plain) else { return escape(text) }
    bytes.append(addingCapacity: plain.count + 2) { output in
      output.append(UInt8(ascii: "\""))
      output.append(copying: plain)
      output.append(UInt8(ascii: "\""))
    }
  }

  /// Whether no character needs an escape.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    var index = 0
    while let word = text.word(at: index) {
      guard word.isPlainJSON else { return false }
      index += 8
    }
    // Checks the last eight bytes, some of them twice: this costs less than checking the remaining bytes one by one.
    if let word = text.word(at: text.count - 8) { return word.isPlainJSON }
    while index < text.count {
      let byte = text[index]
      guard byte >= 0x20, byte != 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { return false }
      index += 1
    }
    return true
  }

  private mutating func escape(_ text: String) {
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
