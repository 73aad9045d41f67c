import SluiceJSON

struct Const: SchemaRule {
  let expected: JSONValue

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    if try value.equals(expected, &checker.work) { return true }
    return checker.fail("expected \(expected.excerpt), found \(value.excerpt)")
  }
}

struct Enum: SchemaRule {
  private let values: [JSONValue]
  private var byHash: [Int: [JSONValue]] = [:]

  init(_ list: JSONValue) throws(JSONError) {
    var work = SchemaWork()
    values = Array(list.elements)
    for value in values { byHash[try value.hash(&work), default: []].append(value) }
  }

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    for allowed in byHash[try value.hash(&checker.work)] ?? [] where try allowed.equals(value, &checker.work) {
      return true
    }
    return checker.fail("expected one of \(excerpt); found \(value.excerpt)")
  }

  private var excerpt: String {
    var excerpt = ""
    for value in values where excerpt.utf8.count < 300 { excerpt += (excerpt.isEmpty ? "" : ", ") + value.excerpt }
    return excerpt
  }
}

struct TypeRule: SchemaRule {
  /// Sorted.
  let names: [String]

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    if names.contains(where: { Self.isOf($0, value) }) { return true }
    return checker.fail("expected \(names.map(Self.noun).joined(separator: " or ")), found \(value.noun)")
  }

  private static func isOf(_ name: String, _ value: JSONValue) -> Bool {
    switch name {
    case "integer": value.integer != nil || value.real.map { $0.rounded() == $0 } ?? false
    case "number": value.number != nil
    default: value.kind.rawValue == name
    }
  }

  private static func noun(_ name: String) -> String {
    switch name {
    case "null": name
    case "boolean": "true or false"
    case "number", "string": "a \(name)"
    default: "an \(name)"
    }
  }
}

struct Bound: SchemaRule {
  enum Side: String {
    case maximum, exclusiveMaximum, minimum, exclusiveMinimum
  }

  let side: Side
  let limit: JSONValue

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    guard let order = value.order(limit) else { return true }
    let (isWithin, phrase): (Bool, (String) -> String) =
      switch side {
      case .maximum: (order <= 0, { "up to \($0)" })
      case .exclusiveMaximum: (order < 0, { "below \($0)" })
      case .minimum: (order >= 0, { "from \($0) up" })
      case .exclusiveMinimum: (order > 0, { "above \($0)" })
      }
    return isWithin || checker.fail("expected a number \(phrase(limit.numberExcerpt)), found \(value.excerpt)")
  }
}

struct MultipleOf: SchemaRule {
  let divisor: JSONValue

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    value.isMultiple(of: divisor)
      || checker.fail("expected a multiple of \(divisor.numberExcerpt), found \(value.excerpt)")
  }
}

struct Size: SchemaRule {
  /// What the rule counts, named as in the keywords.
  enum Unit: String {
    case items = "Items"
    case characters = "Length"
    case keys = "Properties"
  }

  let unit: Unit
  let isMaximum: Bool
  let limit: Int

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    guard let size = size(of: value), isMaximum ? size > limit : size < limit else { return true }
    return checker.fail("expected at \(isMaximum ? "most" : "least") \(limit) \(unit), found \(size)")
  }

  /// nil for a value to which the keyword does not apply.
  private func size(of value: JSONValue) -> Int? {
    switch unit {
    case .items: value.isArray ? value.count : nil
    case .keys: value.isObject ? value.count : nil
    // Counts code points: every byte of UTF-8 that does not continue a code point.
    case .characters: value.withStringBytes { $0.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } }
    }
  }
}

extension SchemaPattern: SchemaRule {
  /// The text is not repeated, because it may be a secret.
  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    guard let text = value.string, try !matches(text, &checker.work) else { return true }
    return checker.fail("expected a text that matches /\(self.text)/")
  }
}
