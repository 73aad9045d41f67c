import SluiceJSON
import Testing

struct EncodingTests {
  private struct Server: Codable, Equatable {
    enum Mode: String, Codable { case fast, safe }
    var host: String
    var port: UInt16?
    var weight = 1.5
    var mode = Mode.safe
    var tags: [String: Bool] = [:]
    var nested: [[Int8]] = []
    var raw: JSONValue?
  }

  private class Base: Codable { var base = 1 }
  private final class Derived: Base {
    var own = "x"
    private enum Keys: CodingKey { case own }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      own = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .own)
      try super.init(from: decoder.container(keyedBy: Keys.self).superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(own, forKey: .own)
      try super.encode(to: container.superEncoder())
    }
  }

  private func text(_ value: some Encodable) throws -> String { try JSONValue(encoding: value).serializedText() }

  @Test func `a written value can be read back`() throws {
    let servers = [
      Server(host: "a", port: 8080, tags: ["x": true], nested: [[1, -2], []], raw: ["deep": [1, "two", .null]]),
      Server(host: "ü\u{0}"),
    ]
    let again = try JSONValue(encoding: servers).decode([Server].self)
    #expect(again == servers)
  }

  @Test func `nil members are left out, and members keep the order of the type`() throws {
    #expect(
      try text(Server(host: "a"))
        == #"{"host":"a","weight":1.5,"mode":"safe","tags":{},"nested":[]}"#)
  }

  @Test func `scalars, nil and empty containers can be encoded as a whole document`() throws {
    #expect(try text(7) == "7" && text("x") == "\"x\"" && text(true) == "true" && text(Int?.none) == "null")
    #expect(try text([Int]()) == "[]" && text([String: Int]()) == "{}" && text(UInt64(Int64.max)) == "\(Int64.max)")
    struct Empty: Encodable {}
    #expect(try text(Empty()) == "{}" && text([Empty(), Empty()]) == "[{},{}]")
    #expect(try text([1, nil, 3]) == "[1,null,3]")
  }

  @Test func `real numbers are encoded in the shortest form of their own type`() throws {
    #expect(
      try text([0.1, 19.99]) == "[0.1,19.99]" && text(Float(0.1)) == "0.1" && text(Float(16_777_216)) == "16777216.0")
    for float in [Float.leastNonzeroMagnitude, .greatestFiniteMagnitude, 1 / 3, -0.0] {
      #expect(try JSONValue(parsing: text(float)).decode(Float.self).bitPattern == float.bitPattern)
    }
  }

  @Test func `a class and its base class are encoded into the same object`() throws {
    #expect(try text(Derived()) == #"{"own":"x","base":1}"#)
    let again = try JSONValue(encoding: Derived()).decode(Derived.self)
    #expect(again.own == "x" && again.base == 1)
  }

  @Test func `numbers that JSON cannot represent are errors`() {
    #expect(throws: EncodingError.self) { try text(UInt64.max) }
    #expect(throws: EncodingError.self) { try text(["a": Double.nan]) }
    #expect(throws: EncodingError.self) { try text([Float.infinity]) }
  }
}
