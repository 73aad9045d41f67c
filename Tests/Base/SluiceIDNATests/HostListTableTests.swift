import SluiceIDNA
import SluiceMessages
import Testing

/// Compares host lists with the hosts of URLs, which are written in every possible form.
struct HostListTableTests {
  /// One host on a list, hosts of URLs that must match it, and hosts that must not match it.
  struct Row: Sendable, CustomTestStringConvertible {
    let listed: String
    let matching: [String]
    let other: [String]

    var testDescription: String { listed }
  }

  private static let ipv6 = [
    Row(
      listed: "[::1]",
      matching: [
        "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0:1]", "[0::0001]",
        "[::0.0.0.1]",
      ],
      other: ["[::]", "[::2]", "[1::]", "[::1:1]", "127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]),
    Row(listed: "[0:0:0:0:0:0:0:1]", matching: ["[::1]", "[::0001]"], other: ["[::]", "[::10]"]),
    Row(
      listed: "[2001:DB8::A:0:0:B]", matching: ["[2001:db8:0:0:a::b]", "[2001:0db8::000a:0:0:b]"],
      other: ["[2001:db8::a:0:b]", "[2001:db8::a:b]"]),
    Row(listed: "[64:ff9b::1.2.3.4]", matching: ["[64:ff9b::102:304]"], other: ["1.2.3.4", "[::ffff:1.2.3.4]"]),
    // An address with a zone is not in this table, because it matches nothing.
    Row(listed: "[fe80::1]", matching: ["[FE80:0::1]"], other: ["[fe80::2]"]),
  ]

  private static let ipv4 = [
    Row(
      listed: "127.0.0.1",
      matching: [
        "127.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]", "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::ffff:7f00:0001]", "１２７.0.0.1", "127。0．0｡1",
      ],
      other: ["127.0.0.2", "127.0.0.10", "[::127.0.0.1]", "[::1]", "[::ffff:0:127.0.0.1]", "localhost"]),
    Row(listed: "[::ffff:127.0.0.1]", matching: ["127.0.0.1", "[::ffff:7f00:1]"], other: ["[::7f00:1]", "127.0.0.0"]),
    Row(listed: "[::FFFF:7f00:1]", matching: ["127.0.0.1", "[::ffff:127.0.0.1]"], other: ["[::ffff:7f00:2]"]),
    Row(listed: "１２７.0.0.1", matching: ["127.0.0.1", "[::ffff:127.0.0.1]"], other: ["127.0.0.2"]),
  ]

  private static let ports = [
    Row(
      listed: "*:8080", matching: ["a:8080", "a.b.c:8080", "127.0.0.1:8080", "[::1]:8080", "a.:08080", "ü.a:8080"],
      other: ["a", "a:80", "a:808", "[::8080]"]),
    Row(listed: "[::1]:80", matching: ["[0::1]", "[0::1]:", "[::1]:080"], other: ["[::1]:81"]),
    Row(listed: "127.0.0.1:81", matching: ["[::ffff:127.0.0.1]:81"], other: ["127.0.0.1", "[::ffff:127.0.0.1]:82"]),
    Row(listed: "*.example.com:0081", matching: ["a.example.com:81"], other: ["a.example.com", "example.com:81"]),
    Row(listed: "bücher.example:81", matching: ["xn--bcher-kva.example:81"], other: ["bücher.example"]),
    Row(listed: "http://bücher.example", matching: ["bücher.example", "bücher.example:81"], other: ["example"]),
    Row(listed: "https://bücher.example", matching: [], other: ["bücher.example", "bücher.example:443"]),
  ]

  private static let caseAndFinalDot = [
    Row(listed: "API.Example.COM", matching: ["api.example.com", "API.EXAMPLE.COM.", "Api.example.com."], other: []),
    Row(listed: "api.example.com.", matching: ["api.example.com", "api.example.com."], other: ["api.example.com.x"]),
    Row(
      listed: "*.Example.com.", matching: ["a.example.com", "A.B.EXAMPLE.com."],
      other: ["example.com", "example.com.", "aexample.com"]),
    Row(listed: "LOCALHOST", matching: ["localhost", "localhost."], other: ["a.localhost", "127.0.0.1", "[::1]"]),
    Row(listed: "*.localhost", matching: ["a.localhost", "A.b.LocalHost."], other: ["localhost", "a.localhost.test"]),
  ]

  private static let internationalized = [
    Row(
      listed: "bücher.example",
      matching: [
        "bücher.example", "BÜCHER.Example", "bu\u{308}cher.example", "bücher。example", "bücher.example.",
        "xn--bcher-kva.example", "XN--BCHER-KVA.example.", "ｂücher.example",
      ],
      other: [
        "bucher.example", "buecher.example", "a.bücher.example", "bücher.example.test", "xn--bcher-kva.test",
        "xn--bcher-kva",
      ]),
    Row(
      listed: "XN--Bcher-KVA.example.", matching: ["bücher.example", "xn--bcher-kva.example"],
      other: ["bcher-kva.example"]),
    Row(
      listed: "*.bücher.example", matching: ["a.bücher.example", "A.b.xn--bcher-kva.example", "ü.BÜCHER.example"],
      other: ["bücher.example", "abücher.example", "a.bucher.example"]),
    Row(
      listed: "*.рф", matching: ["пример.рф", "xn--e1afmkfd.xn--p1ai", "ПРИМЕР.РФ"], other: ["xn--p1ai", "рф.example"]),
    Row(listed: "*.xn--p1ai", matching: ["пример.рф", "a.xn--p1ai"], other: ["рф"]),
    // The transitional mapping, which would make these two the same host, must not be used.
    Row(listed: "straße.example", matching: ["STRAßE.example", "xn--strae-oqa.example"], other: ["strasse.example"]),
    Row(listed: "日本語。example", matching: ["xn--wgv71a119e.example"], other: ["日本.example"]),
    // A name whose letters only look like the letters of another name is a different name.
    Row(listed: "аpple.example", matching: ["xn--pple-43d.example"], other: ["apple.example"]),
  ]

  @Test(arguments: ipv6 + ipv4 + ports + caseAndFinalDot + internationalized)
  func `a host on a list matches all spellings of the same host, and no other host`(_ row: Row) throws {
    let pattern = try HostPattern(row.listed, hosts: .idna)
    var list = HostPatternList()
    list.append(pattern)
    for host in row.matching + row.other {
      let url = try HTTPURL("http://\(host)/", hosts: .idna)
      let isMatching = row.matching.contains(host)
      #expect(pattern.matches(url.origin) == isMatching, "\(row.listed) and \(host)")
      #expect((list.firstIndex(matching: url) != nil) == isMatching, "\(row.listed) on a list, and \(host)")
    }
  }

  @Test(arguments: [
    ("[fe80::1%25eth0]", "zone"), ("[fe80::1%eth0]", "zone"), ("::1", "brackets"),
    ("💩.example", "the name has a character that is not allowed in a name"),
    ("*.💩.example:81", "the name has a character"),
    ("https://xn--a.ü.example", "begins with xn--"), ("ü..example", "*.suffix"), ("ü／x", "*.suffix"),
    ("＊.example", "stands for \"*.example\""), ("a.＊.example", "*.suffix"), ("*。bücher.example", "*.suffix"),
    ("bücher.example：81", "stands for"), ("ü@bücher.example", "*.suffix"), ("bücher.example/", "*.suffix"),
    ("bücher.example:0", "*.suffix"), ("b%C3%BCcher.example", "*.suffix"), ("１２７.1", "*.suffix"),
  ])
  func `an invalid host is refused in a list, and the error says why`(_ listed: String, _ words: String) throws {
    let error = try #require(throws: MessageError.self) { try HostPattern(listed, hosts: .idna) }
    #expect(error.reason.contains(words), "\(error)")
  }

  @Test func `without an encoder, the error for a name beyond ASCII asks for its xn-- form`() throws {
    let error = try #require(throws: MessageError.self) { try HostPattern("bücher.example") }
    #expect(error.reason.hasSuffix("; write a name beyond ASCII in its xn-- form"), "\(error)")
  }
}
