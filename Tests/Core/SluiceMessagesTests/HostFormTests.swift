import SluiceMessages
import SluiceTestKit
import Testing

/// Which forms of hosts are refused in URLs and on lists, and how the other forms are converted. `HostListTableTests`
/// compares lists with URLs.
struct HostFormTests {
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
  func `a text that two readers could read as different hosts is refused in URLs and on lists`(_ host: String) {
    #expect(throws: MessageError.self) { try HTTPURL("http://\(host)/") }
    #expect(throws: MessageError.self) { try HostPattern(host) }
  }

  @Test(arguments: [
    ("münchen.example", "xn--"), ("[fe80::1%25eth0]", "zone"), ("::1", "brackets"), ("fe80::1:8080", "brackets"),
  ])
  func `the error for a refused host says how to write the host`(_ pattern: String, _ advice: String) throws {
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
  func `a URL's host that is an address gets the canonical text of the address`(
    _ host: String, _ canonical: String
  ) throws {
    let url = try HTTPURL("http://\(host)/")
    #expect(url.host == canonical)
    #expect(url.string == "http://\(host)/")
    #expect(try HTTPURL(url.origin.description).origin == url.origin)
  }

  @Test func `origins with and without a final dot are equal, and only the look-up sees the dot`() {
    let (with, without) = (HTTPURL("http://A.example./x").origin, HTTPURL("http://a.example/").origin)
    #expect(with == without && Set([with, without]).count == 1 && with.host == "a.example")
    #expect(with.description == "http://a.example")
    #expect(with.lookUpName == "a.example." && without.lookUpName == "a.example")
    #expect(HTTPURL("http://127.0.0.1./").origin.lookUpName == "127.0.0.1")
    #expect(HTTPURL("http://[::1]/").origin.lookUpName == "::1")
    #expect(HTTPURL("http://a.example./x").sibling("http://a.example./y".utf8.span)?.origin.lookUpName == "a.example.")
  }

  @Test func `all spellings of an address are equal, and differ from other addresses`() throws {
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
  func `an origin is loopback if its host is a name or an address of this machine`(_ host: String, _ isLoopback: Bool)
    throws
  {
    #expect(try HTTPURL("http://\(host)/").origin.isLoopback == isLoopback)
  }
}
