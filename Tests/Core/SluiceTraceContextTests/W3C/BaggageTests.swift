import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct BaggageTests {
  private static func content(_ text: String) -> String? { content(Array(text.utf8)) }

  private static func content(_ bytes: [UInt8]) -> String? {
    switch Baggage.content(bytes.span) {
    case .nothing, .beyondLimits: nil
    case .part(let range): String(decoding: bytes[range], as: UTF8.self)
    case .members(let members): String(decoding: members, as: UTF8.self)
    }
  }

  private static func members(_ count: Int) -> String { (0..<count).map { "k\($0)=v" }.joined(separator: ",") }

  @Test(arguments: [
    "a=1", "a=1,b=2", "a=1 , b = 2", "a=1;p", "a=1;p;q=2", "a = 1 ; p = 2", "user=%C3%A9", "a=", "A!=b", "a=1=2",
    "a=1,a=2", members(64),
  ])
  func `valid baggage is passed on unchanged`(text: String) {
    #expect(Self.content(text) == text)
  }

  @Test(
    arguments: [
      ("", nil), (" ", nil), (",", nil), ("a", nil), ("=1", nil), ("a b=1", nil), ("a=1 2", nil), ("a=\"1\"", nil),
      ("a=\\", nil), ("a=é", nil), ("a=1;", nil), ("a=1;p q", nil), (" a=1 ", "a=1"), ("a=1,b,c=3", "a=1,c=3"),
      ("a=1,,b=2", "a=1,b=2"), ("a=\u{1},b=2", "b=2"), ("a=1;=2,b=2;p", "b=2;p"),
    ] as [(String, String?)])
  func `invalid members are left out, and the valid members stay`(text: String, content: String?) {
    #expect(Self.content(text) == content)
  }

  @Test func `baggage with a sixty-fifth valid member is not passed on, and invalid members do not count`() {
    #expect(Self.content(Self.members(65)) == nil)
    #expect(Self.content(Self.members(64) + ",,=,") == Self.members(64))
    #expect(Self.content("=," + Self.members(65)) == nil)
    #expect(Baggage.content(Self.members(65).utf8.span) == .beyondLimits)
  }

  @Test func `baggage of 8192 bytes is passed on, and baggage of 8193 bytes is not`() {
    let first = "a=" + String(repeating: "x", count: 4000)
    let fits = "b=" + String(repeating: "y", count: 8192 - first.count - 3)
    #expect(Self.content(first + "," + fits)?.utf8.count == 8192)
    #expect(Self.content(first + "," + fits + "y") == nil)
    #expect(Self.content("=," + first + "," + fits)?.utf8.count == 8192)
    #expect(Self.content("=," + first + "," + fits + "y") == nil)
    #expect(Baggage.content((String(repeating: "k", count: 8192) + "=v").utf8.span) == .beyondLimits)
  }

  @Test func `parts that are left out are reported with the reason`() {
    #expect(Baggage.refusal("a=1".utf8.span) == nil)
    #expect(Baggage.refusal(" ".utf8.span) == nil)
    #expect(Baggage.refusal("=".utf8.span)?.reason == "none of its members is valid")
    #expect(Baggage.refusal("a=1,=".utf8.span)?.reason == "members that are not valid are left out")
    #expect(Baggage.refusal(Self.members(65).utf8.span)?.reason.hasPrefix("it has more than 64 members") == true)
  }

  @Test func `blanks between members do not count towards the limit`() {
    let text = Self.members(10) + String(repeating: " ", count: 9000) + ",last=1"
    #expect(Self.content(text) == Self.members(10) + ",last=1")
  }

  @Test func `baggage that was passed on once can be passed on again unchanged, and no bytes cause a trap`() {
    var random = SeededRandom(seed: 5)
    let alphabet = Array("ab=;, \t%\"\\\u{1}é".utf8)
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      guard let content = Self.content(bytes) else { continue }
      #expect(Self.content(content) == content)
      #expect(content.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 < 0x7F })
    }
  }
}
