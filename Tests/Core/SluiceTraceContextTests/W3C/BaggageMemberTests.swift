import SluiceTestKit
import Testing

@testable import SluiceTraceContext

/// The W3C Baggage test vectors (github.com/w3c/baggage, test/), rewritten. Each of the 24 vectors has a check here.
@Suite struct BaggageMemberTests {
  private typealias Property = BaggageMember.Property
  private static let special = "\t \"';=asdf!@#$%^&*()"
  private static let encoded = "%09%20%22%27%3B%3Dasdf%21%40%23%24%25%5E%26%2A%28%29"
  private static let blank = " \t "

  @Test(
    arguments: [
      ("no text, no members", "", []),
      ("one member", "city=Bern", [BaggageMember("city", "Bern")]),
      ("equals signs after the first belong to the value", "sum=1+1=2", [BaggageMember("sum", "1+1=2")]),
      ("a value is decoded", "any=\(encoded)", [BaggageMember("any", special)]),
      ("a property", "city=Bern;cap", [BaggageMember("city", "Bern", properties: [Property("cap")])]),
      (
        "two properties", "city=Bern;cap;of=CH",
        [BaggageMember("city", "Bern", properties: [Property("cap"), Property("of", "CH")])]
      ),
      (
        "properties with the same name", "city=Bern;of;of=CH;of=BE",
        [BaggageMember("city", "Bern", properties: [Property("of"), Property("of", "CH"), Property("of", "BE")])]
      ),
      (
        "a property with a value", "city=Bern;of=CH",
        [BaggageMember("city", "Bern", properties: [Property("of", "CH")])]
      ),
      (
        "the value of a property is decoded", "city=Bern;any=\(encoded)",
        [BaggageMember("city", "Bern", properties: [Property("any", special)])]
      ),
      (
        "the key of a property is not decoded", "city=Bern;of%20%09%20%3D%20%09%20CH",
        [BaggageMember("city", "Bern", properties: [Property("of%20%09%20%3D%20%09%20CH")])]
      ),
      (
        "two members with properties", "city=Bern;cap,lake=Thun;of=BE",
        [
          BaggageMember("city", "Bern", properties: [Property("cap")]),
          BaggageMember("lake", "Thun", properties: [Property("of", "BE")]),
        ]
      ),
      (
        "two members with valued properties", "city=Bern;of=CH,lake=Thun;of=BE",
        [
          BaggageMember("city", "Bern", properties: [Property("of", "CH")]),
          BaggageMember("lake", "Thun", properties: [Property("of", "BE")]),
        ]
      ),
    ] as [(String, String, [BaggageMember])])
  func `members are read, both with and without blanks around every delimiter`(
    fact: String, text: String, members: [BaggageMember]
  ) {
    #expect(Baggage.members(of: text) == members, "\(fact)")
    // The values are encoded, so splitting at `,`, `;` and `=` finds only delimiters.
    let spaced = text.split(separator: ",").map { member in
      member.split(separator: ";").map { pair in
        let parts = pair.split(separator: "=", maxSplits: 1)
        return parts.joined(separator: "\(Self.blank)=\(Self.blank)") + Self.blank
      }.joined(separator: ";\(Self.blank)")
    }.joined(separator: ",\(Self.blank)")
    #expect(Baggage.members(of: spaced) == members, "\(fact), spaced")
  }

  @Test func `values and properties are encoded when they are written`() {
    let member = BaggageMember("any", Self.special, properties: [Property("of", Self.special), Property("cap")])
    #expect(Baggage.text(of: [member]) == "any=\(Self.encoded);of=\(Self.encoded);cap")
    #expect(Baggage.text(of: [BaggageMember("no token", "1"), BaggageMember("a", "é")]) == "a=%C3%A9")
  }

  @Test func `64 members are written and passed on`() {
    let text = Baggage.text(of: (0..<64).map { BaggageMember("key\($0)", "value") })
    #expect(text.split(separator: ",").count == 64)
    #expect(Baggage.content(text.utf8.span) == .part(0..<text.utf8.count))
  }

  @Test func `a member of 8192 bytes is written and passed on`() {
    let text = Baggage.text(of: [BaggageMember("a", String(repeating: "0123456789", count: 819))])
    #expect(text.utf8.count == 8192)
    #expect(Baggage.content(text.utf8.span) == .part(0..<8192))
  }

  @Test func `512 members with 8192 bytes in total are written, but not passed on`() {
    let members = (0..<512).map { BaggageMember("k\($0 + 100)", "0123456789" + ($0 == 511 ? "a" : "")) }
    let text = Baggage.text(of: members)
    #expect(text.utf8.count == 8192)
    #expect(Baggage.content(text.utf8.span) == .beyondLimits)
  }

  @Test func `a value that cannot be decoded is read unchanged and causes no trap`() {
    #expect(Baggage.members(of: "a=%,b=%4,c=%zz,d=%41%").map(\.value) == ["%", "%4", "%zz", "A%"])
    #expect(Baggage.members(of: "a=%FF").map(\.value) == ["\u{FFFD}"])
  }

  @Test func `written members are read back unchanged`() {
    var random = SeededRandom(seed: 17)
    for _ in 0..<1000 {
      let members = (0..<Int.random(in: 0...5, using: &random)).map { index in
        BaggageMember(
          "k\(index)", Self.word(&random),
          properties: (0..<Int.random(in: 0...2, using: &random)).map {
            Property("p\($0)", Bool.random(using: &random) ? Self.word(&random) : nil)
          })
      }
      #expect(Baggage.members(of: Baggage.text(of: members)) == members)
    }
  }

  private static func word(_ random: inout SeededRandom) -> String {
    String(
      (0..<Int.random(in: 0...8, using: &random)).map { _ in "ab é,;=%\"\\\u{1}🌊".randomElement(using: &random) ?? "a" }
    )
  }
}
