import SluiceJSON

/// A schema and what it refers to, as rules. Schemas name one another by their number, because they may form a cycle.
struct SchemaRules {
  /// The numbers of the schemas `true` and `false`.
  static let allowed = 0
  static let forbidden = 1

  /// The rules of each schema, in the order in which violations are reported.
  var schemas: [[any SchemaRule]] = []
  var root = allowed
}

/// What a keyword of a schema demands, checked in form and ready to be applied.
protocol SchemaRule: Sendable {
  /// Whether the value is as demanded. If it is not, the checker is told why.
  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool
}

/// The schema `false`.
struct Forbidden: SchemaRule {
  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    checker.fail("nothing is allowed here")
  }
}
