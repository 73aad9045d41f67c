import SluiceJSON
import Testing

/// Values that are nested deeper than jansson's recursive functions can follow.
struct NestingTests {
  private static func nested(_ depth: Int, in innermost: JSONValue = .array()) -> JSONValue {
    var value = innermost
    for level in 1..<depth {
      let outer: JSONValue = level.isMultiple(of: 2) ? .array() : .object()
      if !outer.append(value) { outer["a"] = value }
      value = outer
    }
    return value
  }

  private static func code(_ body: () throws -> Void) -> JSONError.Code? {
    do { try body() } catch { return (error as? JSONError)?.code }
    return nil
  }

  @Test func `a value of the maximum depth can be written and copied, and a deeper value cannot`() throws {
    let deepest = Self.nested(JSONValue.depthLimit)
    #expect(try JSONValue(parsing: deepest.serialized()) == deepest)
    #expect(try deepest.deepCopy() == deepest)
    let deeper = JSONValue.array()
    deeper.append(deepest)
    #expect(Self.code { _ = try deeper.serialized() } == .tooDeep)
    #expect(Self.code { _ = try deeper.deepCopy() } == .tooDeep)
  }

  @Test func `every recursive function refuses a value with 200,000 levels, and such a value can be released`() async {
    await #expect(processExitsWith: .success) {
      let value = Self.nested(200_000)
      try #require(Self.code { _ = try value.serialized() } == .tooDeep)
      try #require(Self.code { _ = try value.deepCopy() } == .tooDeep)
      try #require(value.description.hasPrefix("<not JSON"))
      try #require(value != Self.nested(200_000))
      try #require(value == value)
    }
  }

  @Test func `a nested member that is replaced or removed is released`() async {
    await #expect(processExitsWith: .success) {
      let object: JSONValue = ["b": 1]
      object["a"] = Self.nested(200_000)
      object["a"] = 1
      object["a"] = Self.nested(200_000)
      object["a"] = nil
      try #require(object == ["b": 1])
    }
  }

  @Test func `a nested value with several references is released when the last reference ends`() async {
    await #expect(processExitsWith: .success) {
      let inner = Self.nested(200_000)
      var outer: JSONValue? = [inner, inner, [inner]]
      outer = nil
      try #require(outer == nil && inner.count == 1)
    }
  }

  @Test func `the release of a value does not release parts that have other references`() {
    let kept: JSONValue = ["x": [1, 2]]
    do {
      let deep = Self.nested(100_000, in: kept)
      #expect(deep.count == 1)
    }
    #expect(kept == ["x": [1, 2]])
  }

  @Test func `a small value whose text would be exponentially long is refused`() {
    var value: JSONValue = [1]
    for _ in 0..<60 { value = [value, value] }
    #expect(Self.code { _ = try value.serialized() } == .tooLarge)
  }

  @Test func `a value can contain many values that are also referenced elsewhere`() throws {
    let parts = (0..<300_000).map { _ in JSONValue.array() }
    let whole = JSONValue.array()
    for part in parts { whole.append(part) }
    #expect(try whole.serialized().count == 900_001)
  }

  @Test func `the error for a value that contains itself differs from the error for deep nesting`() {
    let outer = JSONValue.object()
    outer["inner"] = ["outer": outer]
    #expect(Self.code { _ = try outer.serialized() } == .circular)
    outer["inner"] = nil
  }
}
