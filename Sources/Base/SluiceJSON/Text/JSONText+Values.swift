import CJansson
import SluiceMessages

extension JSONText {
  /// Writes a value as ``JSONValue/serialized(_:limitBytes:)`` describes it. Does not recurse, however deep the value
  /// is nested.
  ///
  /// - Returns: the number of bytes of the whole text. If it is above `limitBytes`, the text is incomplete.
  mutating func append(
    _ value: JSONValue, _ options: JSONWritingOptions, limitBytes: Int = .max
  ) throws(JSONError) -> Int {
    let start = count
    var dropped = 0
    var walk = JSONWalk(value.json, isSorted: options.contains(.sorted))
    var open: [UInt8] = []
    defer { withExtendedLifetime(value) {} }
    while let child = try walk.nextChecked(depth: JSONValue.depthLimit) {
      let depth = child.isContainer ? walk.depth - 1 : walk.depth
      while open.count > depth { close(&open, options) }
      if depth > 0 { try beginMember(walk.key, depth, options) }
      if child.isContainer {
        let isArray = child.pointee.type == JSON_ARRAY
        open.append(isArray ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        isArray ? write("[") : write("{")
      } else {
        try append(scalar: child, options)
      }
      // A text that is too long is only counted. One byte stays, because the next member looks at the last byte.
      if count - start + dropped > limitBytes { dropped += keepLastByte(after: start) }
    }
    while !open.isEmpty { close(&open, options) }
    return count - start + dropped
  }

  private mutating func beginMember(
    _ key: UnsafeBufferPointer<UInt8>?, _ depth: Int, _ options: JSONWritingOptions
  ) throws(JSONError) {
    if !isInEmptyContainer { write(",") }
    if options.contains(.indented) { beginLine(depth) }
    guard let key else { return }
    try append(string: key, options)
    options.contains(.indented) ? write(": ") : write(":")
  }

  private mutating func close(_ open: inout [UInt8], _ options: JSONWritingOptions) {
    let end = open.removeLast()
    if options.contains(.indented), !isInEmptyContainer { beginLine(open.count) }
    end == UInt8(ascii: "]") ? write("]") : write("}")
  }

  private mutating func beginLine(_ depth: Int) {
    write("\n")
    for _ in 0..<depth { write("  ") }
  }

  /// Whether a container has just been opened. No other value ends with such a bracket.
  var isInEmptyContainer: Bool { lastByte == UInt8(ascii: "[") || lastByte == UInt8(ascii: "{") }

  private mutating func append(
    scalar json: UnsafeMutablePointer<json_t>, _ options: JSONWritingOptions
  ) throws(JSONError) {
    switch json.pointee.type {
    case JSON_STRING:
      guard let text = DocumentText.bytes(json) else { return }
      try append(string: text, options)
    case JSON_INTEGER: append(Int(json_integer_value(json)))
    case JSON_REAL: append(json_real_value(json))
    case JSON_TRUE: write("true")
    case JSON_FALSE: write("false")
    default: write("null")
    }
  }

  private mutating func append(
    string text: UnsafeBufferPointer<UInt8>, _ options: JSONWritingOptions
  ) throws(JSONError) {
    guard Self.isText(text) else { throw JSONError(.invalidUTF8, "a text that is not UTF-8 cannot be written") }
    guard options.contains(.ascii), !DocumentText.isASCII(text) else { return append(quoting: text) }
    append(asciiQuoting: String(decoding: text, as: UTF8.self))
  }
}
