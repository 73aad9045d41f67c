import SluiceJSON
import Testing

struct DecodingTests {
  private struct Server: Decodable, Equatable {
    enum Mode: String, Decodable { case fast, safe }
    var host: String
    var port: UInt16?
    var weight: Double?
    var mode: Mode?
    var tags: [String: Bool]?
    var raw: JSONValue?
  }

  private struct List: Decodable {
    var servers: [Server]
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONValue(parsing: text, options: .containersOnly).decode(type, unknownKeys: .refused)
  }

  @Test func `a value is decoded into its type, and null and absent members become nil`() throws {
    let list = try read(
      List.self,
      #"{"servers": [{"host": "a", "port": 8080, "weight": 1, "mode": "safe", "tags": {"x": true}, "raw": [1]},"#
        + #"{"host": "b", "port": null}]}"#)
    #expect(
      list.servers == [
        Server(host: "a", port: 8080, weight: 1, mode: .safe, tags: ["x": true], raw: [1]), Server(host: "b"),
      ])
  }

  @Test(arguments: [
    (#"{"servers": [{"host": "a"}, {"host": 7}]}"#, #"key "servers[1].host": expected a string, found a number"#),
    (#"{"servers": [{"port": 1}]}"#, #"key "servers[0].host": is missing"#),
    (
      #"{"servers": [{"host": "a", "port": 65536}]}"#,
      #"key "servers[0].port": expected a number from 0 to 65535, found 65536"#
    ),
    (#"{"servers": [{"host": "a", "port": 1.5}]}"#, #"key "servers[0].port": expected an integer, found a number"#),
    (
      #"{"servers": [{"host": "a", "prot": 1}]}"#,
      #"key "servers[0]": the key "prot" is unknown; remove it or correct its spelling"#
    ),
    (#"{"servers": {}}"#, #"key "servers": expected an array, found an object"#),
    (
      #"{"servers": [{"host": "a", "tags": {"x": null}}]}"#,
      #"key "servers[0].tags.x": expected true or false, found null"#
    ),
    (#"[]"#, "expected an object, found an array"),
  ])
  func `the error for a wrong value names the place of the value`(text: String, message: String) {
    let error = #expect(throws: JSONDecodingError.self) { try read(List.self, text) }
    #expect(error?.description == message)
  }

  @Test func `if a word is not a case of its enumeration, the error names the place of the word`() {
    let error = #expect(throws: JSONDecodingError.self) {
      try read(List.self, #"{"servers": [{"host": "a", "mode": "odd"}]}"#)
    }
    #expect(error?.keyPath == "servers[0].mode")
  }

  @Test func `unknown keys are ignored unless they must be refused`() throws {
    #expect(try JSONValue(parsing: #"{"host": "a", "x": 1}"#).decode(Server.self) == Server(host: "a"))
  }

  @Test func `the elements of an array are decoded one by one, and a missing element is an error`() throws {
    struct Pair: Decodable {
      var name: String
      var count: Int
      init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        name = try elements.decode(String.self)
        count = try elements.decode(Int.self)
      }
    }
    #expect(try read(Pair.self, #"["a", 2]"#).count == 2)
    let error = #expect(throws: JSONDecodingError.self) { try read(Pair.self, #"["a"]"#) }
    #expect(error?.description == #"key "[1]": is missing; the array ends before it"#)
  }
}
