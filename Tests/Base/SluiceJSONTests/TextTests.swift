import SluiceJSON
import Testing

struct TextTests {
  @Test(arguments: [
    (#"{"a": 1,, }"#, JSONError.Code.syntax), ("{} x", .trailingText), (#"{"a""#, .truncated),
    ("[184467440737095516150]", .numberOutOfRange), ("[1e999]", .numberOutOfRange), (#"["\u0000"]"#, .nul),
    (#"{"\u0000": 1}"#, .nul), ("", .truncated), ("   ", .truncated), ("[NaN]", .syntax),
  ])
  func `an error's code names the kind of mistake in a text`(text: String, code: JSONError.Code) {
    #expect {
      _ = try JSONValue(parsing: text)
    } throws: { error in
      let found = (error as? JSONError)?.code
      #expect(found == code)
      return found == code
    }
  }

  @Test(arguments: [10, 5000])
  func `a text that is longer than the caller's limit is not written`(_ count: Int) throws {
    let value = JSONValue(String(repeating: "a", count: count))
    #expect(try value.serialized(limitBytes: count + 2).count == count + 2)
    #expect {
      _ = try value.serialized(limitBytes: count + 1)
    } throws: { error in
      guard let error = error as? JSONError else { return false }
      return error.code == .tooLong && error.message == "the text has \(count + 2) bytes, \(count + 1) are allowed"
    }
  }

  @Test func `an error names line, column and offset`() throws {
    #expect {
      _ = try JSONValue(parsing: "{\n  \"ä\": tru\n}")
    } throws: { error in
      guard let error = error as? JSONError else { return false }
      return error.line == 2 && error.column == 10 && error.offset == 13
        && error.description == "line 2, column 10: invalid token near 'tru'"
    }
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    let text: [UInt8] = Array("\"g".utf8) + [0xFC] + Array("n\"".utf8)
    #expect {
      _ = try JSONValue(parsing: text)
    } throws: { ($0 as? JSONError)?.code == .invalidUTF8 }
  }

  @Test func `options decide whether duplicate keys, scalars and NUL are accepted`() throws {
    #expect(try JSONValue(parsing: #"{"a": 1, "a": 2}"#) == ["a": 2])
    #expect {
      _ = try JSONValue(parsing: #"{"a": 1, "a": 2}"#, options: .rejectDuplicates)
    } throws: { ($0 as? JSONError)?.code == .duplicateKey }
    #expect(try JSONValue(parsing: "5") == 5)
    #expect(throws: JSONError.self) { try JSONValue(parsing: "5", options: .containersOnly) }
    #expect(try JSONValue(parsing: #""\u0000""#, options: .allowNUL).string == "\u{0}")
  }

  @Test func `a text that is cut off at any place is refused without a crash`() throws {
    let text = Array(#"{"a": [1, -2.5e3, true, null, "ä\u00e4\ud83d\ude00"], "b": {"c": ""}}"#.utf8)
    for length in 0..<text.count {
      #expect(throws: JSONError.self) { try JSONValue(parsing: text.prefix(length)) }
    }
    #expect(try JSONValue(parsing: text).count == 2)
  }

  @Test func `nesting beyond 2048 levels is refused, even in a text with a million levels`() throws {
    let allowed = String(repeating: "[", count: 2047) + String(repeating: "]", count: 2047)
    #expect(try JSONValue(parsing: allowed).count == 1)
    #expect {
      _ = try JSONValue(parsing: String(repeating: "[", count: 1_000_000))
    } throws: { error in
      (error as? JSONError)?.code == .tooDeep && "\(error)".contains("nested deeper than 2048 levels")
    }
  }

  @Test func `a string of 50 MB is read and written completely`() throws {
    let size = 50_000_000
    var text = [UInt8](repeating: UInt8(ascii: "x"), count: size + 2)
    text[0] = UInt8(ascii: "\"")
    text[size + 1] = UInt8(ascii: "\"")
    let value = try JSONValue(parsing: text)
    #expect(value.withStringBytes { $0.count } == size)
    #expect(try value.serialized() == text)
  }

  @Test func `random bytes cause no crash, and a parsed value is the same after it was written and read`() throws {
    var random = SystemRandomNumberGenerator()
    let seed = random.next()
    var state = seed
    let alphabet = Array(#"{}[]:,"\u0a1e-.+ tfn"#.utf8) + [0xC3, 0xA4, 0x00, 0xFF]
    for _ in 0..<20_000 {
      let text = (0..<12).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return alphabet[Int(state >> 33) % alphabet.count]
      }
      guard let value = try? JSONValue(parsing: text, options: .allowNUL) else { continue }
      #expect(try JSONValue(parsing: value.serialized(), options: .allowNUL) == value, "seed \(seed): \(text)")
    }
  }

  @Test func `a text can be written compact, sorted or indented`() throws {
    let value: JSONValue = ["b": [1, 2.5], "a": "ä/"]
    #expect(try value.serializedText() == #"{"b":[1,2.5],"a":"ä/"}"#)
    #expect(try value.serializedText(.sorted) == #"{"a":"ä/","b":[1,2.5]}"#)
    #expect(try value.serializedText(.ascii) == #"{"b":[1,2.5],"a":"\u00E4/"}"#)
    #expect(try JSONValue(arrayLiteral: 1).serializedText(.indented) == "[\n  1\n]")
    #expect(try JSONValue("scalar").serializedText() == #""scalar""#)
  }

  @Test func `a text that is longer than the first buffer is written completely`() throws {
    for length in [509, 510, 511, 512, 5000] {
      let text = String(repeating: "x", count: length)
      #expect(try JSONValue(text).serializedText() == "\"\(text)\"")
    }
  }

  @Test(arguments: [
    ("19.99", "19.99"), ("1.10", "1.1"), ("0.1", "0.1"), ("0.30000000000000004", "0.30000000000000004"),
    ("1e2", "100.0"), ("1.0", "1.0"), ("-0.0", "-0.0"), ("1e22", "1e+22"), ("5e-324", "5e-324"),
    ("2.2250738585072014e-308", "2.2250738585072014e-308"), ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ("9007199254740993.0", "9007199254740992.0"), ("0.1000000000000000055511151231257827", "0.1"),
  ])
  func `a real number is written in the shortest form that reads back the same`(given: String, written: String) throws {
    let value = try JSONValue(parsing: "{\"a\": [\(given)]}")
    #expect(try value.serializedText() == "{\"a\":[\(written)]}")
    #expect(try value.serializedText(.indented) == "{\n  \"a\": [\n    \(written)\n  ]\n}")
    let again = try JSONValue(parsing: "[\(written)]").elements.first { _ in true }
    #expect(again?.kind == .real && again?.real?.bitPattern == Double(given)?.bitPattern)
  }

  @Test func `every real number reads back the same`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let real = Double(bitPattern: random.next())
      guard real.isFinite else { continue }
      let text = try JSONValue(real).serializedText()
      #expect(try JSONValue(parsing: text).real?.bitPattern == real.bitPattern, "\(text)")
    }
  }

  @Test func `nested values are sorted and indented on each level, and empty ones stay on one line`() throws {
    let value = try JSONValue(
      parsing: #"{"b": [[], {}, [1, [true, null]]], "aa": {"y": false, "x": {"z": "\n"}}, "a": -1, "": "é"}"#)
    #expect(
      try value.serializedText()
        == #"{"b":[[],{},[1,[true,null]]],"aa":{"y":false,"x":{"z":"\n"}},"a":-1,"":"é"}"#)
    #expect(
      try value.serializedText(.sorted)
        == #"{"":"é","a":-1,"aa":{"x":{"z":"\n"},"y":false},"b":[[],{},[1,[true,null]]]}"#)
    #expect(
      try value.serializedText([.sorted, .indented, .ascii]) == """
        {
          "": "\\u00E9",
          "a": -1,
          "aa": {
            "x": {
              "z": "\\n"
            },
            "y": false
          },
          "b": [
            [],
            {},
            [
              1,
              [
                true,
                null
              ]
            ]
          ]
        }
        """)
    #expect(try JSONValue("😀\u{1}\"\\/").serializedText(.ascii) == #""\uD83D\uDE00\u0001\"\\/""#)
  }
}

struct LocatorTests {
  private let text = Array(
    """
    {
      "plugins": {"a": 1,
        "ä\\u0062": [10, {"x": "},]"}, 30]},
      "request": [ "s\\"", ["deep"] ]
    }
    """.utf8)

  @Test(arguments: [
    ("", 1, 1), ("/plugins", 2, 3), ("/plugins/a", 2, 15), ("/plugins/äb", 3, 5), ("/plugins/äb/1/x", 3, 22),
    ("/plugins/äb/2", 3, 35), ("/request/1/0", 4, 24), ("/request/1/7", 4, 23), ("/nothing/here", 1, 1),
    ("/plugins/a/x", 2, 15),
  ])
  func `a locator finds the key or the element that a pointer names`(pointer: String, line: Int, column: Int) throws {
    let position = JSONLocator(text).position(of: try #require(JSONPointer(pointer)))
    #expect((position.line, position.column) == (line, column))
  }

  @Test func `a locator reads a text that is cut off at any place without a crash`() throws {
    let pointer = try #require(JSONPointer("/request/1/0"))
    for length in 0..<text.count {
      #expect(JSONLocator(Array(text.prefix(length))).position(of: pointer).offset <= length)
    }
  }

  @Test func `if a key is repeated, the locator finds the last one`() throws {
    let position = JSONLocator(Array(#"{"a": 1, "a": {"b": 2}}"#.utf8)).position(of: try #require(JSONPointer("/a/b")))
    #expect(position.column == 16)
  }
}
