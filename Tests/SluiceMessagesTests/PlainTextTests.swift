import Testing

@testable import SluiceMessages

@Suite struct PlainTextTests {
  @Test(arguments: [
    ("plain, with \"quotes\" and C:\\new", "plain, with \"quotes\" and C:\\new"), ("grüße 🎉", "grüße 🎉"), ("", ""),
    ("a\nb\r\nc\td", #"a\nb\r\nc\td"#), ("\u{0}\u{1B}[0m\u{7F}\u{9B}", #"\u{0}\u{1B}[0m\u{7F}\u{9B}"#),
    ("a\u{2028}b\u{2029}c", #"a\u{2028}b\u{2029}c"#), ("\u{202E}cba\u{2069}", #"\u{202E}cba\u{2069}"#),
  ])
  func `what acts is escaped, and the rest stays`(_ text: String, _ shown: String) {
    #expect(PlainText.line(text) == shown)
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
