import SluiceJSON
import SluiceMessages

/// Limits that keep a hostile schema or value from exhausting the stack or the clock. A schema that exceeds a limit is
/// refused; a value that exceeds a limit violates its schema. The message names the limit.
enum SchemaLimit {
  /// How deeply a check may nest the application of subschemas. This limit also bounds the nesting of a checked value.
  static let depth = 1000
  /// How deeply subschemas may be nested in the text of a schema.
  static let nesting = 200
  /// Bytes of a regular expression.
  static let patternBytes = 2048
  /// Bytes of a string or key that is matched with a regular expression.
  static let matchedBytes = 262_144
  /// See ``SchemaWork``.
  static let steps = 20_000_000
  /// Violations that one check reports; the check stops after this number.
  static let reports = 8
}

/// The work of one check. It counts a step for each subschema that is applied, for each value that is compared or
/// hashed, and for every few comparisons of characters with a pattern.
struct SchemaWork {
  private static let comparisonsPerStep = 4
  private var steps = 0

  var comparisonsLeft: Int { (SchemaLimit.steps - steps) * Self.comparisonsPerStep }

  mutating func spend(_ count: Int) throws(JSONError) {
    steps += count
    guard steps <= SchemaLimit.steps else { throw .schemaLimit("takes too many steps to check") }
  }

  mutating func spend(comparisons: Int) throws(JSONError) { try spend(1 + comparisons / Self.comparisonsPerStep) }
}

extension JSONError {
  /// A schema that cannot be used. The text of the error may repeat parts of the schema.
  static func invalidSchema(_ message: String) -> JSONError {
    JSONError(.invalidSchema, PlainText.line(message, limitBytes: 1024))
  }

  /// A check that cannot be finished.
  static func schemaLimit(_ message: String) -> JSONError { JSONError(.schemaViolation, message) }
}
