public import SluiceJSON

/// A compiled JSON Schema (draft-07), usable from any thread.
///
/// `format` and the `content…` keywords are annotations and refuse nothing. Numbers compare by value: 1 and 1.0 are
/// equal, and 1.0 is an integer. `$ref` reaches the schema itself, the documents given with it, and draft-07's own
/// schema; nothing is fetched. Patterns are regular expressions of ECMA 262 over code points, without back-references.
///
/// Nesting, patterns and the work of a check are limited. A value that meets a limit violates the schema.
public final class JSONSchema: Sendable {
  private let rules: SchemaRules

  /// Compiles a schema. The keys of `documents` are absolute URIs, and the values are further schemas that the schema
  /// may refer to. Later changes of these values have no effect.
  ///
  /// Throws ``JSONError/Code/invalidSchema`` with the keyword at fault.
  public init(_ schema: JSONValue, documents: [String: JSONValue] = [:]) throws(JSONError) {
    do { rules = try SchemaCompiler.rules(of: schema, documents, Draft07.rules.get()) } catch {
      throw JSONError(.invalidSchema, error.message)
    }
  }

  /// Compiles a schema that was checked before, without checking it against draft-07's own schema.
  package init(trusting schema: JSONValue) throws(JSONError) {
    do { rules = try SchemaCompiler.rules(of: schema, [:], nil) } catch {
      throw JSONError(.invalidSchema, error.message)
    }
  }

  /// One violation: its place in the value, and what was expected there.
  public struct Violation: Hashable, Sendable {
    /// The place in the value; a pointer without tokens means the whole value.
    public var pointer: JSONPointer
    /// A description of what was expected there, without the place.
    public var message: String
  }

  /// The first violations, at most eight, and the limit that the check reached, if any. Empty if the schema allows the
  /// value.
  public func violations(in value: JSONValue) -> [Violation] { SchemaChecker.violations(of: rules, in: value) }

  /// Whether the schema allows a value; cheaper than a check, because it stops at the first mistake.
  public func allows(_ value: JSONValue) -> Bool { SchemaChecker.allows(value, rules) }

  /// Throws ``JSONError/Code/schemaViolation``. The error names the first violations, and its pointer leads to the
  /// first of them.
  public func check(_ value: JSONValue) throws(JSONError) {
    if allows(value) { return }
    let violations = violations(in: value)
    let message = violations.map { "\($0.pointer.tokens.isEmpty ? "" : "\($0.pointer.excerpt): ")\($0.message)" }
    throw JSONError(
      .schemaViolation, message.joined(separator: "; "), pointer: violations.first?.pointer)
  }
}
