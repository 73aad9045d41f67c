import SluiceJSON

/// `items` and `additionalItems`.
struct Items: SchemaRule {
  let first: [Int]
  let rest: Int

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    guard value.isArray, !first.isEmpty || rest != SchemaRules.allowed else { return true }
    var isValid = true
    for index in 0..<value.count where isValid || checker.goesOn {
      if index == first.count, index > 0, rest == SchemaRules.forbidden {
        return checker.fail("expected at most \(index) items, found \(value.count)")
      }
      guard let item = value[index] else { break }
      let schema = index < first.count ? first[index] : rest
      isValid = try checker.apply(schema, to: item, at: String(index)) && isValid
    }
    return isValid
  }
}

struct Contains: SchemaRule {
  let schema: Int

  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    guard value.isArray else { return true }
    for item in value.elements where try checker.holds(schema, for: item) { return true }
    return checker.fail("contains no item of the required form")
  }
}

struct UniqueItems: SchemaRule {
  func allows(_ value: JSONValue, _ checker: inout SchemaChecker) throws(JSONError) -> Bool {
    var seen: [Int: [(index: Int, item: JSONValue)]] = [:]
    for (index, item) in value.elements.enumerated() {
      let hash = try item.hash(&checker.work)
      for other in seen[hash] ?? [] where try other.item.equals(item, &checker.work) {
        return checker.fail("items \(other.index) and \(index) are equal")
      }
      seen[hash, default: []].append((index, item))
    }
    return true
  }
}
