import CJansson
import SluiceMessages

/// Options that make the parser more or less strict than RFC 8259.
public struct JSONParsingOptions: OptionSet, Sendable {
  /// The bits of jansson's decoding flags.
  public let rawValue: Int32

  /// Takes jansson's bits. Bits for which this type has no constant are passed on to jansson.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Refuses an object that has a key twice. Without this option, the last member with the key counts.
  public static let rejectDuplicates = JSONParsingOptions(rawValue: JSON_REJECT_DUPLICATES)
  /// Accepts only an object or an array at the top.
  public static let containersOnly = JSONParsingOptions(rawValue: JSON_DECODE_ANY)
  /// Accepts `\u0000` in strings (never in keys). C code reads such a string only up to this character.
  public static let allowNUL = JSONParsingOptions(rawValue: JSON_ALLOW_NUL)
  /// Reads integers as real numbers, so that an integer can have more than 64 bits, but is rounded.
  package static let integersAsReals = JSONParsingOptions(rawValue: JSON_DECODE_INT_AS_REAL)

  /// The flags for jansson. jansson has no flag for `containersOnly`, only one for the opposite, so the bit is
  /// inverted.
  var janssonFlags: Int { Int(rawValue ^ JSON_DECODE_ANY) }
}

extension JSONValue {
  /// Parses one JSON text in UTF-8. Only white space may surround the value.
  ///
  /// Limits: nesting of 2048 levels, integers of 64 bits, and real numbers in the range of a double. A number out of
  /// range is an error and is never rounded to infinity.
  public convenience init(
    parsing text: UnsafeRawBufferPointer, options: JSONParsingOptions = []
  ) throws(JSONError) {
    JSONSeed.plantOnce()
    var error = json_error_t()
    let start = text.baseAddress?.assumingMemoryBound(to: CChar.self)
    // An empty text has no address, and jansson would report that as a mistake of the caller.
    let parsed =
      start.map { json_loadb($0, text.count, options.janssonFlags, &error) }
      ?? json_loads("", options.janssonFlags, &error)
    guard let parsed else { throw JSONError(parsing: error) }
    self.init(adopting: parsed)
  }

  /// Parses a copy of the bytes, by the rules of ``init(parsing:options:)-(UnsafeRawBufferPointer,_)``.
  public convenience init(parsing text: some Sequence<UInt8>, options: JSONParsingOptions = []) throws(JSONError) {
    var result: Swift.Result<JSONValue, JSONError>?
    let bytes = ContiguousArray(text)
    bytes.withUnsafeBytes { bytes in
      result = Swift.Result { () throws(JSONError) in try JSONValue(parsing: bytes, options: options) }
    }
    guard let parsed = try result?.get() else { throw JSONError(.syntax, "no text") }
    self.init(adopting: parsed.retainedUnsafeJSON())
  }

  /// Parses the UTF-8 of the text, by the rules of ``init(parsing:options:)-(UnsafeRawBufferPointer,_)``.
  public convenience init(parsing text: String, options: JSONParsingOptions = []) throws(JSONError) {
    try self.init(parsing: text.utf8, options: options)
  }
}

extension JSONError {
  init(parsing error: json_error_t) {
    var error = error
    let reason = sluice_json_error_code(&error)
    let text = String(cString: sluice_json_error_text(&error))
    let column = max(Int(error.column), 1)
    self.init(
      Code(janssonReason: reason),
      reason == Int32(json_error_stack_overflow.rawValue)
        ? "nested deeper than 2048 levels" : PlainText.line(text),
      position: JSONPosition(line: max(Int(error.line), 1), column: column, offset: Int(error.position)))
  }
}

extension JSONError.Code {
  fileprivate init(janssonReason reason: Int32) {
    self =
      switch json_error_code(rawValue: UInt32(reason)) {
      case json_error_out_of_memory: .outOfMemory
      case json_error_stack_overflow: .tooDeep
      case json_error_invalid_utf8: .invalidUTF8
      case json_error_premature_end_of_input: .truncated
      case json_error_end_of_input_expected: .trailingText
      case json_error_null_character, json_error_null_byte_in_key: .nul
      case json_error_duplicate_key: .duplicateKey
      case json_error_numeric_overflow: .numberOutOfRange
      default: .syntax
      }
  }
}
