import SluiceJSON
import Testing

struct ValueTests {
  @Test func `each accessor returns a value only for its own kind`() {
    let all: [JSONValue] = [["a": 1], [1], "text", 5, 1.5, true, .null]
    #expect(all.map(\.kind) == [.object, .array, .string, .integer, .real, .boolean, .null])
    #expect(all.map(\.string) == [nil, nil, "text", nil, nil, nil, nil])
    #expect(all.map(\.integer) == [nil, nil, nil, 5, nil, nil, nil])
    #expect(all.map(\.real) == [nil, nil, nil, nil, 1.5, nil, nil])
    #expect(all.map(\.number) == [nil, nil, nil, 5, 1.5, nil, nil])
    #expect(all.map(\.bool) == [nil, nil, nil, nil, nil, true, nil])
    #expect(all.map(\.count) == [1, 1, 0, 0, 0, 0, 0])
  }

  @Test func `members keep the order in which they were added, and a changed member keeps its place`() {
    let value: JSONValue = ["z": 1, "a": 2, "m": 3]
    value["a"] = "two"
    value["z"] = nil
    value["z"] = 4
    #expect(value.members.map(\.key) == ["a", "m", "z"])
    #expect(value.description == #"{"a":"two","m":3,"z":4}"#)
  }

  @Test func `reading a member returns the member itself, not a copy`() {
    let value: JSONValue = ["list": [1]]
    value["list"]?.append(2)
    #expect(value == ["list": [1, 2]])
  }

  @Test func `a deep copy shares no value with the original`() throws {
    let value: JSONValue = ["list": [1]]
    let copy = try value.deepCopy()
    copy["list"]?.append(2)
    #expect(value == ["list": [1]])
  }

  @Test func `a member outlives its document`() {
    var document: JSONValue? = ["inner": ["text": "kept"]]
    let inner = document?["inner"]
    document = nil
    #expect(inner?["text"]?.string == "kept")
  }

  @Test func `setting a member of a scalar changes nothing and returns false`() {
    let text: JSONValue = "text"
    #expect(!text.set(1, forKey: "a"))
    #expect(!text.append(1))
    #expect(text["a"] == nil)
    #expect(text == "text")
  }

  @Test func `an object cannot be put into itself`() {
    let object = JSONValue.object()
    #expect(!object.set(object, forKey: "self"))
  }

  @Test func `a value that contains itself is neither copied nor written`() {
    let outer = JSONValue.object()
    let inner: JSONValue = ["outer": outer]
    outer["inner"] = inner
    #expect(throws: JSONError.self) { try outer.serialized() }
    #expect(throws: JSONError.self) { try outer.deepCopy() }
    #expect(outer.description.hasPrefix("<not JSON"))
    outer["inner"] = nil
  }

  @Test func `a text keeps every character, including NUL`() throws {
    let value = JSONValue("a\u{0}ä😀\"")
    #expect(value.string == "a\u{0}ä😀\"")
    #expect(try value.serializedText() == #""a\u0000ä😀\"""#)
  }

  @Test func `bytes that are not UTF-8 make no string`() {
    let bytes: [UInt8] = [0x67, 0xFC, 0x6E]
    #expect(bytes.withUnsafeBufferPointer { JSONValue(utf8: $0) } == nil)
  }

  @Test func `a real that is not finite becomes null`() {
    #expect(JSONValue(Double.nan).isNull)
    #expect(JSONValue(-Double.infinity).isNull)
  }

  @Test func `a pointer leads to members and elements by their exact names`() throws {
    let value = try JSONValue(parsing: #"{"a/b": [10, {"m~n": "x"}], "": 1, "01": {}}"#)
    #expect(value.value(at: try #require(JSONPointer("/a~1b/1/m~0n"))) == "x")
    #expect(value.value(at: try #require(JSONPointer(""))) === value)
    #expect(value.value(at: try #require(JSONPointer("/"))) == 1)
    #expect(value.value(at: try #require(JSONPointer("/a~1b/01"))) == nil)
    #expect(value.value(at: try #require(JSONPointer("/a~1b/-"))) == nil)
    #expect(value.value(at: try #require(JSONPointer("/a~1b/9"))) == nil)
    #expect(value.value(at: try #require(JSONPointer("/01/x/y"))) == nil)
    #expect(JSONPointer("a") == nil)
    #expect(JSONPointer("/~2") == nil)
    #expect(JSONPointer(tokens: ["a/b", "~"]).description == "/a~1b/~0")
  }
}
