import CJansson

/// How a value is written. Without options: compact, and members in their own order.
public struct JSONWritingOptions: OptionSet, Sendable {
  /// The bits of jansson's encoding flags.
  public let rawValue: Int32

  /// Takes jansson's bits. Bits for which this type has no constant have no effect.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Sorts members by the bytes of their keys, so that equal values give the same text.
  public static let sorted = JSONWritingOptions(rawValue: JSON_SORT_KEYS)
  /// Indents by two spaces for each level, and writes each member or element on its own line.
  public static let indented = JSONWritingOptions(rawValue: 2)
  /// Writes `\uXXXX` for every non-ASCII character.
  public static let ascii = JSONWritingOptions(rawValue: JSON_ENSURE_ASCII)
}

extension JSONValue {
  /// The value as JSON text in UTF-8. A real number has the shortest form that reads back the same: `19.99`, `100.0`,
  /// `1e+22`. A program in C that writes the value with jansson 2.14 gets 17 significant digits instead.
  ///
  /// Fails for a value that contains itself, is nested deeper than 2048 levels, repeats more than
  /// 262,144 values, or holds a number that is not finite or a string that is not UTF-8. Parsing never
  /// produces such a value.
  ///
  /// - Parameter limitBytes: a longer text is an error; only its bytes are counted.
  public func serialized(
    _ options: JSONWritingOptions = [], limitBytes: Int = .max
  ) throws(JSONError) -> [UInt8] {
    var text = JSONText(capacity: 512)
    let byteCount = try text.append(self, options, limitBytes: limitBytes)
    guard byteCount <= limitBytes else {
      throw JSONError(.tooLong, "the text has \(byteCount) bytes, \(limitBytes) are allowed")
    }
    return text.bytes
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
