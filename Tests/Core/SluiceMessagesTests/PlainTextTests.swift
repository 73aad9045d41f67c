import Testing

@testable import SluiceMessages

@Suite struct PlainTextTests {
  @Test(arguments: [
    ("plain, with \"quotes\" and C:\\new", "plain, with \"quotes\" and C:\\new"), ("grüße 🎉", "grüße 🎉"), ("", ""),
    ("a\nb\r\nc\td", #"a\nb\r\nc\td"#), ("\u{0}\u{1B}[0m\u{7F}\u{9B}", #"\u{0}\u{1B}[0m\u{7F}\u{9B}"#),
    ("a\u{2028}b\u{2029}c", #"a\u{2028}b\u{2029}c"#), ("\u{202E}cba\u{2069}", #"\u{202E}cba\u{2069}"#),
    ("\u{FEFF}{}", #"\u{FEFF}{}"#), ("a\u{200B}b\u{AD}c\u{2060}", #"a\u{200B}b\u{AD}c\u{2060}"#),
    ("X\u{200D}-A\u{FE0F}", #"X\u{200D}-A\u{FE0F}"#), ("a\u{A0}b\u{3000}\u{2800}", #"a\u{A0}b\u{3000}\u{2800}"#),
    ("\u{E0041}\u{115F}\u{FFF9}", #"\u{E0041}\u{115F}\u{FFF9}"#), ("👩‍👩‍👧 ❤️ می‌خواهم", "👩‍👩‍👧 ❤️ می‌خواهم"),
  ])
  func `characters that act on a terminal or are invisible are escaped, and all others are unchanged`(
    _ text: String, _ shown: String
  ) {
    #expect(PlainText.line(text) == shown)
  }

  @Test func `a text of several lines keeps them, and shows all other characters that act or are invisible`() {
    #expect(PlainText.lines("a\u{FEFF}\n\tb\u{1B}[0m é\r\n") == "a\\u{FEFF}\n\tb\\u{1B}[0m é\\r\n")
  }

  @Test(arguments: [
    ("GE T", #""GE T""#), ("grüße 🎉", #""grüße 🎉""#), ("", #""""#), ("a\r\nb\u{1B}", #""a\r\nb\u{1B}""#),
    (String(repeating: "a", count: 120), "\"" + String(repeating: "a", count: 120) + "\""),
    (String(repeating: "a", count: 70_000), "\"" + String(repeating: "a", count: 120) + "…\" (70000 bytes)"),
    // The limit of 120 bytes is inside the last character, which is left out.
    ("a" + String(repeating: "é", count: 60), "\"a" + String(repeating: "é", count: 59) + "…\" (121 bytes)"),
    (String(repeating: "🎉", count: 31), "\"" + String(repeating: "🎉", count: 30) + "…\" (124 bytes)"),
  ])
  func `a value that a message repeats is readable, on one line and short`(_ text: String, _ shown: String) {
    #expect(PlainText.quote(text) == shown)
  }

  @Test(
    arguments: [
      ([0x67, 0xFC], #""g\xFC""#), ([0xC3, 0xA9, 0xC3, 0x20], #""é\xC3 ""#), ([0xE2, 0x82], #""\xE2\x82""#),
      ([0xFF, 0x0A, 0xF0, 0x9F, 0x8E, 0x89], #""\xFF\n🎉""#), ([0xED, 0xA0, 0x80], #""\xED\xA0\x80""#),
    ] as [([UInt8], String)])
  func `a byte that is not UTF-8 is shown by its number`(_ bytes: [UInt8], _ shown: String) {
    #expect(PlainText.quote(bytes.span) == shown)
  }

  @Test func `bytes that are no characters are cut at the limit`() {
    let shown = PlainText.quote([UInt8](repeating: 0x80, count: 200).span)
    #expect(shown == "\"" + String(repeating: "\\x80", count: 120) + "…\" (200 bytes)")
  }

  @Test func `a cut leaves whole characters and a mark within the bound`() {
    #expect(PlainText.cut("abcdef", limitBytes: 6) == "abcdef")
    #expect(PlainText.cut("abcdefg", limitBytes: 6) == "abc…")
    for limit in 3..<20 {
      let cut = PlainText.cut(String(repeating: "€", count: 20), limitBytes: limit)
      #expect(cut.utf8.count <= limit && cut.utf8.count > limit - 3, "\(limit)")
      #expect(cut == String(repeating: "€", count: limit / 3 - 1) + "…")
    }
  }
}
