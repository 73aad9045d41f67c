import SluiceJSON
import SluiceMessages

/// `properties`, sorted by key.
struct Properties: SchemaRule {
  let schemas: [(key: String, schema: Int)]

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    var isValid = true
    for (key, schema) in schemas where isValid || checker.goesOn {
      if let member = value[key] { isValid = try checker.apply(schema, to: member, at: key) && isValid }
    }
    return isValid
  }
}

/// `patternProperties` and `additionalProperties`.
struct OtherProperties: SchemaRule {
  let patterns: [(pattern: SchemaPattern, schema: Int)]
  /// `properties`. A look-up here compares keys by their bytes, whereas Swift strings compare by Unicode equivalence.
  let named: JSONValue
  let additional: Int

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    guard !patterns.isEmpty || additional != SchemaRules.allowed else { return true }
    var isValid = true
    for (key, member) in value.members where isValid || checker.goesOn {
      var isKnown = named[key] != nil
      for (pattern, schema) in patterns where try pattern.matches(key, &checker.work) {
        isKnown = true
        isValid = try checker.apply(schema, to: member, at: key) && isValid
      }
      if isKnown { continue }
      if additional == SchemaRules.forbidden {
        isValid = checker.fail("unknown key \"\(PlainText.cut(key, limitBytes: 63))\"\(knownKeys)", at: key)
      } else {
        isValid = try checker.apply(additional, to: member, at: key) && isValid
      }
    }
    return isValid
  }

  private var knownKeys: String {
    var keys = ""
    for (key, _) in named.sortedMembers where keys.utf8.count < 300 { keys += (keys.isEmpty ? "" : ", ") + key }
    return keys.isEmpty ? "" : "; known here: " + keys
  }
}

struct PropertyNames: SchemaRule {
  let schema: Int

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    var isValid = true
    for (key, _) in value.members where isValid || checker.goesOn {
      isValid = try checker.apply(schema, to: JSONValue(key), at: key) && isValid
    }
    return isValid
  }
}

struct Required: SchemaRule {
  let keys: [String]

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    var isValid = true
    for key in keys where value.isObject && value[key] == nil { isValid = checker.fail("missing key \"\(key)\"") }
    return isValid
  }
}

struct Dependencies: SchemaRule {
  let keys: [(key: String, needed: [String])]
  let schemas: [(key: String, schema: Int)]

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    var isValid = true
    for (key, needed) in keys where value[key] != nil {
      for name in needed where value[name] == nil {
        isValid = checker.fail("missing key \"\(name)\", which \"\(key)\" needs")
      }
    }
    for (key, schema) in schemas where value[key] != nil {
      isValid = try checker.apply(schema, to: value) && isValid
    }
    return isValid
  }
}
