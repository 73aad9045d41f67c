public import SluiceJSON

/// A compiled JSON Schema (draft-07), usable from any thread.
///
/// `format` and the `content…` keywords are annotations and refuse nothing. Numbers compare by value: 1 and 1.0 are
/// equal, and 1.0 is an integer. `$ref` reaches the schema itself, the documents given with it, and draft-07's own
/// schema; nothing is fetched. Patterns are ECMA 262 over code points without back-references.
///
/// Nesting, patterns and the work of a check are limited. A value that meets a limit violates the schema.
public final class JSONSchema: Sendable {
  private let rules: SchemaRules

  /// Compiles a schema, which may be changed afterwards; `documents` are further schemas by their absolute URI.
  ///
  /// Throws ``JSONError/Code/invalidSchema`` with the keyword at fault.
  public init(_ schema: JSONValue, documents: [String: JSONValue] = [:]) throws(JSONError) {
    do { rules = try SchemaCompiler.rules(of: schema, documents, Draft07.rules.get()) } catch {
      throw JSONError(.invalidSchema, error.message)
    }
  }

  /// One thing that is wrong with a value: where, and what was expected there.
  public struct Violation: Hashable, Sendable {
    /// The place in the value; without tokens it is the whole value.
    public var pointer: JSONPointer
    /// What was expected there, for people; without the place.
    public var message: String
  }

  /// The first violations, at most eight, and a limit that was met; none for a value that the schema allows.
  public func violations(in value: JSONValue) -> [Violation] { SchemaChecker.violations(of: rules, in: value) }

  /// Whether the schema allows a value; cheaper than a check, because it stops at the first mistake.
  public func allows(_ value: JSONValue) -> Bool { SchemaChecker.allows(value, rules) }

  /// Throws ``JSONError/Code/schemaViolation`` that names the first violations, with the pointer of the first.
  public func check(_ value: JSONValue) throws(JSONError) {
    if allows(value) { return }
    let violations = violations(in: value)
    let message = violations.map { "\($0.pointer.tokens.isEmpty ? "" : "\($0.pointer.excerpt): ")\($0.message)" }
    throw JSONError(
      .schemaViolation, message.joined(separator: "; "), pointer: violations.first?.pointer)
  }
}
