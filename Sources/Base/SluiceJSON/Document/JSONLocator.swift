/// Finds the position of a value in a text, for messages about configuration files.
///
/// It reads the text again instead of keeping positions while parsing, because errors are rare. A text that is not
/// valid JSON is read as far as possible.
package struct JSONLocator {
  private let text: [UInt8]
  private var offset = 0

  package init(_ text: [UInt8]) {
    self.text = text
  }

  /// The position of the member's key, the array's element, or the whole value. If the text has no value at the end of
  /// the path, this is the position of the last value on the path that exists. If a key occurs twice, the last one
  /// counts, as in parsing.
  package func position(of pointer: JSONPointer) -> JSONPosition {
    var scanner = self
    scanner.skipSpace()
    var found = scanner.offset
    for token in pointer.tokens {
      guard let place = scanner.enter(token) else { break }
      found = place.start
      scanner.offset = place.value
    }
    return position(atOffset: found)
  }

  /// The text of the value at the end of the path, without white space outside of strings; nil if there is none.
  package func compactText(of pointer: JSONPointer) -> [UInt8]? {
    var scanner = self
    for token in pointer.tokens {
      guard let place = scanner.enter(token) else { return nil }
      scanner.offset = place.value
    }
    let start = scanner.offset
    scanner.skipValue()
    return Self.compact(text[start..<scanner.offset])
  }

  private static func compact(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var (compact, isInString, isEscaped) = ([UInt8](), false, false)
    compact.reserveCapacity(text.count)
    for byte in text {
      if !isInString, spaces.contains(byte) { continue }
      compact.append(byte)
      if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    return compact
  }

  /// Line and column of an offset.
  package func position(atOffset offset: Int) -> JSONPosition {
    let before = text.prefix(offset)
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
    return JSONPosition(line: line, column: column, offset: offset)
  }

  /// Where a member or element begins, and where its value begins.
  private typealias Place = (start: Int, value: Int)

  private mutating func enter(_ token: String) -> Place? {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return findMember(token)
    case UInt8(ascii: "["): return findElement(token)
    default: return nil
    }
  }

  private mutating func findMember(_ name: String) -> Place? {
    var found: Place?
    offset += 1
    while true {
      skipSpace(and: UInt8(ascii: ","))
      let start = offset
      guard let key = readKey() else { return found }
      skipSpace(and: UInt8(ascii: ":"))
      if key == name { found = (start, offset) }
      skipValue()
    }
  }

  private mutating func findElement(_ token: String) -> Place? {
    guard let wanted = Int(token) else { return nil }
    offset += 1
    for index in 0... {
      skipSpace(and: UInt8(ascii: ","))
      guard let byte = next, byte != UInt8(ascii: "]") else { return nil }
      if index == wanted { return (offset, offset) }
      let start = offset
      skipValue()
      guard offset > start else { return nil }
    }
    return nil
  }

  private var next: UInt8? { offset < text.count ? text[offset] : nil }

  private static let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

  private mutating func skipSpace(and separator: UInt8? = nil) {
    while let byte = next, Self.spaces.contains(byte) || byte == separator { offset += 1 }
  }

  private mutating func readKey() -> String? {
    guard next == UInt8(ascii: "\"") else { return nil }
    let start = offset
    skipString()
    let spelled = text[start..<offset]
    return (try? JSONValue(parsing: spelled, options: .allowNUL))?.string
      ?? String(decoding: spelled.dropFirst().dropLast(), as: UTF8.self)
  }

  private mutating func skipString() {
    offset += 1
    while let byte = next, byte != UInt8(ascii: "\"") {
      offset += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    offset = min(offset + 1, text.count)
  }

  /// Skips to the comma or bracket that ends the value, past all brackets that the value itself opens.
  private mutating func skipValue() {
    var depth = 0
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        skipString()
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
      case UInt8(ascii: ","):
        if depth == 0 { return }
      default: break
      }
      offset += 1
    }
  }
}
