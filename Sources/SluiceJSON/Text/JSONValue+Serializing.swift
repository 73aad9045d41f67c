import CJansson

/// How a value is written. Without options: compact, members in their own order, reals with 17 significant digits.
public struct JSONWritingOptions: OptionSet, Sendable {
  /// The bits of jansson's encoding flags.
  public let rawValue: Int32

  /// Takes jansson's bits. Bits for which this type has no constant are passed on to jansson.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Sorts members by the bytes of their keys, so that equal values give the same text.
  public static let sorted = JSONWritingOptions(rawValue: JSON_SORT_KEYS)
  /// Indents by two spaces for each level, and writes each member or element on its own line.
  public static let indented = JSONWritingOptions(rawValue: 2)
  /// Writes `\uXXXX` for every non-ASCII character.
  public static let ascii = JSONWritingOptions(rawValue: JSON_ENSURE_ASCII)

  var janssonFlags: Int {
    Int(JSON_ENCODE_ANY | rawValue | (contains(.indented) ? 0 : JSON_COMPACT))
  }
}

extension JSONValue {
  /// The value as JSON text in UTF-8.
  ///
  /// Fails for a value that contains itself, is nested deeper than 2048 levels, repeats more than
  /// 262,144 values, or holds a number that is not finite or a string that is not UTF-8. Parsing never
  /// produces such a value.
  ///
  /// - Parameter limitBytes: a longer text is an error; no memory is allocated for it.
  public func serialized(
    _ options: JSONWritingOptions = [], limitBytes: Int = .max
  ) throws(JSONError) -> [UInt8] {
    try checkNesting()
    let flags = options.janssonFlags
    var needed = 512
    // jansson returns the size of the text. So a second call is needed only for a text that does not fit into the first
    // buffer.
    for _ in 0..<2 {
      let capacity = needed
      let text = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        needed = buffer.withMemoryRebound(to: CChar.self) { json_dumpb(json, $0.baseAddress, capacity, flags) }
        count = needed <= capacity ? needed : 0
      }
      if needed == 0 { break }
      guard needed <= limitBytes else {
        throw JSONError(.tooLong, "the text has \(needed) bytes, \(limitBytes) are allowed")
      }
      if needed <= capacity { return text }
    }
    throw JSONError(.invalidUTF8, "a text that is not UTF-8 cannot be written")
  }

  /// The value as JSON text.
  public func serializedText(
    _ options: JSONWritingOptions = [], limitBytes: Int = .max
  ) throws(JSONError) -> String {
    String(decoding: try serialized(options, limitBytes: limitBytes), as: UTF8.self)
  }
}

extension JSONValue: CustomStringConvertible {
  /// Compact JSON, or a note in angle brackets if the value cannot be written.
  public var description: String {
    do { return try serializedText() } catch { return "<not JSON: \(error.message)>" }
  }
}
