import SluiceMessages
import SluiceTestKit
import Testing

/// Host lists against every form in which a host can be written.
struct HostFormTests {
  /// One host on a list, and the hosts of URLs that are it and are not it.
  struct Row: Sendable {
    let pattern: String
    let matching: [String]
    let other: [String]
  }

  @Test(arguments: [
    Row(
      pattern: "[::1]",
      matching: [
        "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0:1]", "[0::0001]",
        "[::0.0.0.1]",
      ],
      other: ["[::]", "[::2]", "[1::]", "[::1:1]", "127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]),
    Row(pattern: "[0:0:0:0:0:0:0:1]", matching: ["[::1]", "[::0001]"], other: ["[::]", "[::10]"]),
    Row(
      pattern: "[2001:DB8::A:0:0:B]", matching: ["[2001:db8:0:0:a::b]", "[2001:0db8::000a:0:0:b]"],
      other: ["[2001:db8::a:0:b]", "[2001:db8::a:b]"]),
    Row(
      pattern: "[64:ff9b::1.2.3.4]", matching: ["[64:ff9b::102:304]"], other: ["1.2.3.4", "[::ffff:1.2.3.4]"]),
  ])
  func `an IPv6 address is compared by value`(_ row: Row) throws { try check(row) }

  @Test(arguments: [
    Row(
      pattern: "127.0.0.1",
      matching: [
        "127.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]", "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::ffff:7f00:0001]",
      ],
      other: ["127.0.0.2", "127.0.0.10", "[::127.0.0.1]", "[::1]", "[::ffff:0:127.0.0.1]", "localhost"]),
    Row(
      pattern: "[::ffff:127.0.0.1]", matching: ["127.0.0.1", "[::ffff:7f00:1]"], other: ["[::7f00:1]", "127.0.0.0"]),
    Row(pattern: "[::FFFF:7f00:1]", matching: ["127.0.0.1", "[::ffff:127.0.0.1]"], other: ["[::ffff:7f00:2]"]),
  ])
  func `an IPv4 address and its IPv4-mapped form are one host`(_ row: Row) throws { try check(row) }

  @Test(arguments: [
    Row(
      pattern: "*:8080", matching: ["a:8080", "a.b.c:8080", "127.0.0.1:8080", "[::1]:8080", "a.:08080"],
      other: ["a", "a:80", "a:808", "[::8080]"]),
    Row(pattern: "[::1]:80", matching: ["[0::1]", "[0::1]:", "[::1]:080"], other: ["[::1]:81"]),
    Row(pattern: "127.0.0.1:81", matching: ["[::ffff:127.0.0.1]:81"], other: ["127.0.0.1", "[::ffff:127.0.0.1]:82"]),
    Row(pattern: "*.example.com:0081", matching: ["a.example.com:81"], other: ["a.example.com", "example.com:81"]),
  ])
  func `a port is compared as a number, and a star may have one`(_ row: Row) throws { try check(row) }

  @Test(arguments: [
    Row(pattern: "API.Example.COM", matching: ["api.example.com", "API.EXAMPLE.COM.", "Api.example.com."], other: []),
    Row(pattern: "api.example.com.", matching: ["api.example.com", "api.example.com."], other: ["api.example.com.x"]),
    Row(
      pattern: "*.Example.com.", matching: ["a.example.com", "A.B.EXAMPLE.com."],
      other: ["example.com", "example.com.", "aexample.com"]),
    Row(pattern: "LOCALHOST", matching: ["localhost", "localhost."], other: ["a.localhost", "127.0.0.1", "[::1]"]),
    Row(
      pattern: "*.localhost", matching: ["a.localhost", "A.b.LocalHost."], other: ["localhost", "a.localhost.test"]),
  ])
  func `neither case nor a final dot makes another name`(_ row: Row) throws { try check(row) }

  @Test(arguments: [
    Row(
      pattern: "XN--Mnchen-3ya.example", matching: ["xn--mnchen-3ya.example", "xn--MNCHEN-3YA.example."],
      other: ["munchen.example", "mnchen-3ya.example"]),
    Row(pattern: "*.xn--p1ai", matching: ["xn--e1afmkfd.xn--p1ai"], other: ["xn--p1ai"]),
  ])
  func `an internationalized name is compared in its xn-- form`(_ row: Row) throws { try check(row) }

  @Test(arguments: [
    "münchen.example", "*.münchen.example", "xn--mnchen-3ya。example", "１２７.0.0.1", "m%C3%BCnchen.example",
    "[fe80::1%25eth0]", "[fe80::1%eth0]", "[fe80::1%251]", "127.1", "0x7f000001", "2130706433", "0177.0.0.1",
    "127.0.0.01",
    "[::1", "::1", "[::1%]", "[:::1]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4::5:6:7:8]",
    "[1:2:3:4:5:6:7:8::]", "[::1:2:3:4:5:6:7:8]", "[::12345]",
    "[::1.2.3]", "[::1.2.3.256]", "[::01.2.3.4]", "[1.2.3.4]", "[1:2:3:4:5:6:7:1.2.3.4]", "[1.2.3.4::]", "[::1:]",
    "[:1::]",
    "[1::2::3]", "[v1.a]", "[::g]", "[]", "[ ::1]",
  ])
  func `what two readers could take for different hosts is in no URL and on no list`(_ host: String) {
    #expect(throws: MessageError.self) { try HTTPURL("http://\(host)/") }
    #expect(throws: MessageError.self) { try HostPattern(host) }
  }

  @Test(arguments: [
    ("münchen.example", "xn--"), ("[fe80::1%25eth0]", "zone"), ("::1", "brackets"), ("fe80::1:8080", "brackets"),
  ])
  func `a refused host says how to write it`(_ pattern: String, _ advice: String) throws {
    let error = try #require(throws: MessageError.self) { try HostPattern(pattern) }
    #expect(error.reason.contains("*.suffix") && error.reason.contains(advice), "\(error)")
  }

  @Test(arguments: [
    ("[0:0:0:0:0:0:0:0]", "::"), ("[1:0:0:0:0:0:0:0]", "1::"), ("[0:0:0:1:0:0:0:0]", "0:0:0:1::"),
    ("[1:0:0:2:0:0:0:3]", "1:0:0:2::3"), ("[1:0:0:2:3:0:0:4]", "1::2:3:0:0:4"),
    ("[1:0:2:3:4:5:6:7]", "1:0:2:3:4:5:6:7"),
    ("[1:2:3:4:5:6:7::]", "1:2:3:4:5:6:7:0"), ("[::2:3:4:5:6:7:8]", "0:2:3:4:5:6:7:8"),
    ("[ABCD:EF01:2345:6789:abcd:ef01:2345:6789]", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"),
    ("[::ffff:0102:0304]", "::ffff:1.2.3.4"), ("[::1.2.3.4]", "::102:304"),
    ("[2001:db8::1.2.3.4]", "2001:db8::102:304"),
  ])
  func `the host of a URL is the canonical text of its address`(_ host: String, _ canonical: String) throws {
    let url = try HTTPURL("http://\(host)/")
    #expect(url.host == canonical)
    #expect(url.string == "http://\(host)/")
    #expect(try HTTPURL(url.origin.description).origin == url.origin)
  }

  @Test func `an address is itself however it is spelled, and no other address`() throws {
    var random = SeededRandom(seed: 8)
    for _ in 0..<2000 {
      let groups = (0..<8).map { _ in [0, 0, 1, 0xFFFF].randomElement(using: &random) ?? 0 }
      let plain = groups.map { String($0, radix: 16) }.joined(separator: ":")
      let long = groups.map { String($0 + 0x10000, radix: 16, uppercase: true).dropFirst() }.joined(separator: ":")
      let url = try HTTPURL("http://[\(plain)]/")
      #expect(try HTTPURL("http://[\(long)]").origin == url.origin)
      #expect(try HostPattern("[\(long)]").matches(url.origin))
      #expect(try HostPattern("[\(url.host)]").matches(url.origin))
      var changed = groups
      changed[Int.random(in: 0..<8, using: &random)] ^= 2
      let other = changed.map { String($0, radix: 16) }.joined(separator: ":")
      #expect(try !HostPattern("[\(plain)]").matches(HTTPURL("http://[\(other)]").origin), "\(plain) \(other)")
    }
  }

  @Test(
    arguments: [
      ("localhost", true), ("LOCALHOST.", true), ("a.localhost", true), ("a.b.localhost.", true), ("127.0.0.1", true),
      ("127.255.0.3", true), ("[::1]", true), ("[0:0::1]", true), ("[::ffff:127.9.9.9]", true),
      ("localhost.test", false),
      ("notlocalhost", false), ("128.0.0.1", false), ("[::2]", false), ("[::ffff:128.0.0.1]", false),
      ("[::127.0.0.1]", false),
      ("0.0.0.0", false), ("[::]", false),
    ])
  func `loopback is what is on this machine by name or by address`(_ host: String, _ isLoopback: Bool) throws {
    #expect(try HTTPURL("http://\(host)/").origin.isLoopback == isLoopback)
  }

  private func check(_ row: Row) throws {
    let pattern = try HostPattern(row.pattern)
    var list = HostPatternList()
    list.append(pattern)
    for host in row.matching + row.other {
      let url = try HTTPURL("http://\(host)/")
      let isMatching = row.matching.contains(host)
      #expect(pattern.matches(url.origin) == isMatching, "\(row.pattern) and \(host)")
      #expect((list.firstIndex(matching: url) != nil) == isMatching, "\(row.pattern) on a list, and \(host)")
    }
  }
}
