import SluiceJSON

/// Applies rules to a value, its members and its elements. An instance serves one check, on one thread.
struct SchemaChecker {
  private let rules: SchemaRules
  /// Whether the caller wants the list of broken rules, and not only whether there is one.
  private let reports: Bool
  /// The violations found so far; nil if violations are not reported, as in ``holds(_:for:)``.
  var found: [JSONSchema.Violation]?
  /// The path to the value that is being checked, if violations are reported.
  private(set) var path: [String] = []
  private var depth = 0
  var work = SchemaWork()

  private init(_ rules: SchemaRules, reports: Bool) {
    self.rules = rules
    self.reports = reports
    found = reports ? [] : nil
  }

  static func allows(_ value: JSONValue, _ rules: SchemaRules) -> Bool {
    var checker = SchemaChecker(rules, reports: false)
    return (try? checker.apply(rules.root, to: value)) ?? false
  }

  static func violations(of rules: SchemaRules, in value: JSONValue) -> [JSONSchema.Violation] {
    var checker = SchemaChecker(rules, reports: true)
    do { _ = try checker.apply(rules.root, to: value) } catch {
      // The error left `path` unchanged, so it leads to the value at which the check reached the limit.
      checker.found?.append(JSONSchema.Violation(pointer: JSONPointer(tokens: checker.path), message: error.message))
    }
    return checker.found ?? []
  }

  mutating func apply(_ schema: Int, to value: JSONValue) throws(JSONError) -> Bool {
    try work.spend(1)
    guard depth < SchemaLimit.depth else {
      throw .schemaLimit("nested too deeply to check (limit \(SchemaLimit.depth))")
    }
    depth += 1
    var isValid = true
    for rule in rules.schemas[schema] where isValid || goesOn {
      isValid = try rule.allows(value, &self) && isValid
    }
    depth -= 1
    return isValid
  }

  /// Applies a schema to a member or an element.
  mutating func apply(
    _ schema: Int, to value: JSONValue, at token: @autoclosure () -> String
  ) throws(JSONError) -> Bool {
    guard reports else { return try apply(schema, to: value) }
    path.append(token())
    let isValid = try apply(schema, to: value)
    path.removeLast()
    return isValid
  }

  /// Returns whether a value satisfies a schema, without reporting its violations. For schemas that the value need not
  /// satisfy, such as those of `if`, `not` and `contains`.
  mutating func holds(_ schema: Int, for value: JSONValue) throws(JSONError) -> Bool {
    let outer = found
    found = nil
    defer { found = outer }
    return try apply(schema, to: value)
  }

  /// Whether the caller wants more violations than the first.
  var goesOn: Bool { found.map { $0.count < SchemaLimit.reports } ?? false }

  /// - Parameter key: names the member at fault, if it is not the value itself.
  mutating func fail(_ message: @autoclosure () -> String, at key: String? = nil) -> Bool {
    guard goesOn else { return false }
    let pointer = JSONPointer(tokens: path + (key.map { [$0] } ?? []))
    found?.append(JSONSchema.Violation(pointer: pointer, message: message()))
    return false
  }
}
