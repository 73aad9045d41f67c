import SluiceJSON

/// The rules of a schema and of the schemas that it refers to. Schemas name one another by their number, because they
/// may form a cycle.
struct SchemaRules {
  /// The numbers of the schemas `true` and `false`.
  static let allowed = 0
  static let forbidden = 1

  /// The rules of each schema, in the order in which violations are reported.
  var schemas: [[any SchemaRule]] = []
  var root = allowed
}

/// The demand of one keyword of a schema, already checked and ready to be applied.
protocol SchemaRule: Sendable {
  /// Whether the value meets the demand. If the value does not meet the demand, the rule reports the reason to the
  /// checker.
  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool
}

/// The schema `false`.
struct Forbidden: SchemaRule {
  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    checker.fail("nothing is allowed here")
  }
}
