import SluiceJSON

struct AllOf: SchemaRule {
  let schemas: [Int]

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    var isValid = true
    for schema in schemas where isValid || checker.goesOn {
      isValid = try checker.apply(schema, to: value) && isValid
    }
    return isValid
  }
}

struct AnyOf: SchemaRule {
  let schemas: [Int]

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    let (fitting, misfits) = try checker.forms(schemas, value, atMost: 1)
    return fitting.isEmpty ? checker.fail(misfits) : true
  }
}

struct OneOf: SchemaRule {
  let schemas: [Int]

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    let (fitting, misfits) = try checker.forms(schemas, value, atMost: 2)
    if fitting.isEmpty { return checker.fail(misfits) }
    if fitting.count == 1 { return true }
    return checker.fail("fits forms \(fitting[0]) and \(fitting[1]) at once, expected exactly one")
  }
}

struct Not: SchemaRule {
  let schema: Int

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    try checker.holds(schema, for: value) ? checker.fail("has a form that is not allowed here") : true
  }
}

/// `if`, `then` and `else`.
struct Conditional: SchemaRule {
  let condition: Int
  let then: Int
  let otherwise: Int

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    try checker.apply(checker.holds(condition, for: value) ? then : otherwise, to: value)
  }
}

extension SchemaChecker {
  /// The numbers of the first forms that fit, counted from 1, and the violations of each form that does not fit.
  fileprivate mutating func forms(
    _ schemas: [Int], _ value: JSONValue, atMost limit: Int
  ) throws(JSONError) -> (fitting: [Int], misfits: [[JSONSchema.Violation]]) {
    let outer = found
    defer { found = outer }
    var fitting: [Int] = []
    var misfits: [[JSONSchema.Violation]] = []
    for (index, schema) in schemas.enumerated() where fitting.count < limit {
      found = outer == nil ? nil : []
      if try apply(schema, to: value) { fitting.append(index + 1) } else { misfits.append(found ?? []) }
    }
    return (fitting, misfits)
  }

  /// Reports the violations of the form whose first violation is deepest in the value. If all forms fail at this value
  /// itself, reports what each form expects.
  fileprivate mutating func fail(_ misfits: [[JSONSchema.Violation]]) -> Bool {
    guard goesOn, let count = found?.count else { return false }
    var closest: [JSONSchema.Violation] = []
    for form in misfits where form.depth > max(closest.depth, path.count) { closest = form }
    if !closest.isEmpty {
      found?.append(contentsOf: closest.prefix(SchemaLimit.reports - count))
      return false
    }
    var all = ""
    for message in misfits.compactMap(\.first?.message) where all.utf8.count <= 400 {
      all += (all.isEmpty ? "" : "; or ") + message
    }
    return fail(all.isEmpty ? "fits none of the allowed forms" : all)
  }
}

extension [JSONSchema.Violation] {
  /// How deep in the value the first violation is.
  fileprivate var depth: Int { first?.pointer.tokens.count ?? 0 }
}
