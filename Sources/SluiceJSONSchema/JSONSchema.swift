import CJSONSchema
import CJansson
public import SluiceJSON

/// A compiled JSON Schema (draft-07), usable from any thread.
///
/// `format` and the `content…` keywords are annotations and refuse nothing. `$ref` reaches the schema itself, the
/// documents given with it, and draft-07's own schema; nothing is fetched. Patterns are ECMA 262 over code points
/// without back-references. The limits stand in `CJSONSchema.h`.
///
/// `@unchecked Sendable`: the schema behind the pointer never changes after it was compiled.
public final class JSONSchema: @unchecked Sendable {
  private let schema: OpaquePointer

  /// Compiles a schema, which may be changed afterwards; `documents` are further schemas by their absolute URI.
  ///
  /// Throws ``JSONError/Code/invalidSchema`` with the keyword at fault.
  public init(_ schema: JSONValue, documents: [String: JSONValue] = [:]) throws(JSONError) {
    let known = JSONValue.object()
    for (uri, document) in documents { known[uri] = document }
    var message = [CChar](repeating: 0, count: 1024)
    let compiled = schema.withUnsafeJSON { schema in
      known.withUnsafeJSON { sluice_schema_compile(schema, $0, &message, message.count) }
    }
    guard let compiled else {
      throw JSONError(.invalidSchema, message.withUnsafeBytes { String(cleanly: $0) })
    }
    self.schema = compiled
  }

  deinit {
    sluice_schema_free(schema)
  }

  /// One thing that is wrong with a value: where, and what was expected there.
  public struct Violation: Hashable, Sendable {
    public var pointer: JSONPointer
    public var message: String
  }

  /// The first violations, at most eight; none for a value that the schema allows.
  public func violations(in value: JSONValue) -> [Violation] {
    var found: [Violation] = []
    _ = withUnsafeMutablePointer(to: &found) { found in
      value.withUnsafeJSON { json in
        sluice_schema_check(
          schema, json,
          { context, pointer, message in
            guard let pointer, let message else { return }
            let violation = Violation(
              pointer: JSONPointer(String(cString: pointer)) ?? JSONPointer(), message: String(cString: message))
            context?.assumingMemoryBound(to: [Violation].self).pointee.append(violation)
          }, found)
      }
    }
    return found
  }

  /// Whether the schema allows a value; cheaper than a check, because it stops at the first mistake.
  public func allows(_ value: JSONValue) -> Bool {
    value.withUnsafeJSON { sluice_schema_check(schema, $0, nil, nil) }
  }

  /// Throws ``JSONError/Code/schemaViolation`` that names the first violations, with the pointer of the first.
  public func check(_ value: JSONValue) throws(JSONError) {
    if allows(value) { return }
    let violations = violations(in: value)
    let message = violations.map { "\($0.pointer.tokens.isEmpty ? "" : "\($0.pointer.excerpt): ")\($0.message)" }
    throw JSONError(
      .schemaViolation, message.joined(separator: "; "), pointer: violations.first?.pointer)
  }
}

extension String {
  /// A terminated text that may have been cut inside a character.
  fileprivate init(cleanly buffer: UnsafeRawBufferPointer) {
    self = String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
  }
}
