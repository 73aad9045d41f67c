public import SluiceMessages

/// What is wrong with a JSON text or value, and where.
public struct JSONError: Error, Hashable, Sendable {
  /// What kind of mistake it is; more may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code for programs, in snake case.
    public let rawValue: String

    /// Accepts any text; this module uses the codes below.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text is not JSON (RFC 8259), for a reason that has no code of its own.
    public static let syntax = Code(rawValue: "syntax")
    /// The text ends before the value does.
    public static let truncated = Code(rawValue: "truncated")
    /// Something follows the value.
    public static let trailingText = Code(rawValue: "trailing_text")
    /// An object has a key twice, and the options contain ``JSONParsingOptions/rejectDuplicates``.
    public static let duplicateKey = Code(rawValue: "duplicate_key")
    /// A text to parse, or a string to write, is not UTF-8.
    public static let invalidUTF8 = Code(rawValue: "invalid_utf8")
    /// A string holds U+0000 and the options don't allow it, or a key holds it.
    public static let nul = Code(rawValue: "nul")
    /// An integer of more than 64 bits, or a real number too large for a double.
    public static let numberOutOfRange = Code(rawValue: "number_out_of_range")
    /// Arrays and objects nested deeper than 2048 levels.
    public static let tooDeep = Code(rawValue: "too_deep")
    /// More than 262,144 repeated values.
    public static let tooLarge = Code(rawValue: "too_large")
    /// A text longer than the caller allows.
    public static let tooLong = Code(rawValue: "too_long")
    /// A number that is NaN or infinite.
    public static let notFinite = Code(rawValue: "not_finite")
    /// The parser could not allocate memory for the value.
    public static let outOfMemory = Code(rawValue: "out_of_memory")
    /// A value that contains itself.
    public static let circular = Code(rawValue: "circular")
    /// A JSON Schema that cannot be used.
    public static let invalidSchema = Code(rawValue: "invalid_schema")
    /// A value that its JSON Schema does not allow.
    public static let schemaViolation = Code(rawValue: "schema_violation")
  }

  /// The kind of mistake, for programs.
  public var code: Code
  /// What is wrong, for people; without the position in the text.
  public var message: String
  /// Line, column and offset in the text; nil if no text was read.
  package var position: JSONPosition?
  /// The path to the value or the key with the mistake in the examined document. Nil if no document was examined.
  public var pointer: JSONPointer?

  package init(_ code: Code, _ message: String, position: JSONPosition? = nil, pointer: JSONPointer? = nil) {
    self.code = code
    self.message = message
    self.position = position
    self.pointer = pointer
  }

  /// The line in the text, counted from 1; nil if no text was read.
  public var line: Int? { position?.line }
  /// The column in Unicode code points, counted from 1; nil if no text was read.
  public var column: Int? { position?.column }
  /// The offset in bytes, counted from 0; nil if no text was read.
  public var offset: Int? { position?.offset }
}

extension JSONError: DescribedError {
  /// `line 3, column 7: message`, or only the message if no text was read.
  public var description: String {
    guard let position else { return message }
    return "line \(position.line), column \(position.column): \(message)"
  }
}

/// A place in a text: line and column count from 1, the column in Unicode code points, the offset in bytes from 0.
package struct JSONPosition: Hashable, Sendable {
  package var line: Int
  package var column: Int
  package var offset: Int

  package init(line: Int, column: Int, offset: Int) {
    self.line = line
    self.column = column
    self.offset = offset
  }
}
