import SluiceMessages
import Testing

/// The target of a `Location` field (RFC 9110 §10.2.2).
@Suite struct RedirectTargetTests {
  private static func target(
    _ location: String, from base: String = "http://a.com/b/c?q#s", hosts: HostEncoder? = nil
  ) throws -> String {
    try HTTPURL(base).redirectTarget(location.utf8.span, hosts: hosts).string
  }

  @Test(arguments: [
    ("/x", "http://a.com/x#s"), ("x", "http://a.com/b/x#s"), ("../x", "http://a.com/x#s"),
    ("?y", "http://a.com/b/c?y#s"),
    ("//other.com/x", "http://other.com/x#s"), ("https://other.com", "https://other.com#s"),
    ("HTTP://A.COM:80/x", "HTTP://A.COM:80/x#s"), ("http://a.com/x/../y/./z", "http://a.com/y/z#s"),
    ("//a.com/../../x", "http://a.com/x#s"), ("/x#own", "http://a.com/x#own"), ("/x#", "http://a.com/x#"),
    ("/a b", "http://a.com/a%20b#s"), ("/grüße?ä", "http://a.com/gr%C3%BC%C3%9Fe?%C3%A4#s"),
    ("/x?http://other.com", "http://a.com/x?http://other.com#s"), ("/x@y", "http://a.com/x@y#s"),
  ])
  func `a target is resolved, and gets the request's fragment if the target has no fragment`(
    location: String, expected: String
  ) throws {
    #expect(try Self.target(location) == expected)
  }

  @Test(
    arguments: [
      ("", "it is empty"), ("ftp://a.com/", "scheme \"ftp\""), ("javascript:alert(1)", "not absolute"),
      ("data:text/html,x", "not absolute"), ("file:///etc/passwd", "scheme \"file\""), ("http:", "not absolute"),
      ("http:/x", "not absolute"), ("http://", "no host"), ("ht!tp://x", "not a scheme"), ("1:2", "not a scheme"),
      ("http://user@other.com/", "a user"), ("//user:password@other.com/", "a user"), ("http://@a.com/", "a user"),
      ("/a\\b", "\"\\\""), ("/a\u{7F}", "U+007F"), ("/a\tb", "U+0009"), ("http://a.com:0/", "a port"),
      ("http://a.com:99999/", "a port"), ("http://[::1/", "without ]"), ("http://2130706433/", "not an IPv4 address"),
      ("http://ä.com/", "host \"ä.com\""), ("http://b%C3%A4.com/", "character in its host"), ("//", "no host"),
      ("///x", "no host"), ("http://a b.com/", "character in its host"),
      ("/" + String(repeating: "x", count: 65536), "65537 bytes"),
    ])
  func `an invalid target is refused, and the error says why`(location: String, reason: String) throws {
    let error = try #require(throws: MessageError.self) { try Self.target(location) }
    #expect(error.reason.contains(reason), "\(error)")
  }

  @Test func `a host beyond ASCII in a target is converted to A-labels`() throws {
    let hosts = HostEncoder { _ in "xn--bcher-kva.example" }
    for location in ["http://bücher.example/ä b?ö", "//bücher.example/ä b?ö"] {
      #expect(
        try Self.target(location, hosts: hosts) == "http://xn--bcher-kva.example/%C3%A4%20b?%C3%B6#s")
    }
  }

  @Test func `bytes that are not UTF-8 are kept in the target, but are refused in its host`() throws {
    let base = HTTPURL("http://a.com/")
    let hosts = HostEncoder { host in host }
    let path = Array("/caf".utf8) + [0xE9, 0x20, 0xFF]
    #expect(try base.redirectTarget(path.span, hosts: hosts).string == "http://a.com/caf%E9%20%FF")
    let host = Array("http://caf".utf8) + [0xE9] + Array(".com/".utf8)
    let error = try #require(throws: MessageError.self) { try base.redirectTarget(host.span, hosts: hosts) }
    #expect(error.reason == "its host \"caf\u{FFFD}.com\" is not UTF-8")
  }

  @Test func `a target can have ten kilobytes`() throws {
    let long = "/" + String(repeating: "x", count: 10_240)
    #expect(try Self.target(long, from: "http://a.com/") == "http://a.com" + long)
  }

  @Test func `CR and LF are not part of a target`() throws {
    #expect(throws: MessageError.self) { try Self.target("/x\r\nx-evil: 1") }
    #expect(throws: MessageError.self) { try Self.target("/x\n") }
  }

  @Test func `user and password are kept within the origin, and removed at another origin`() throws {
    let base = "http://user:p%40ss@a.com/b"
    #expect(try Self.target("/x", from: base) == "http://user:p%40ss@a.com/x")
    #expect(try Self.target("http://a.com/x", from: base) == "http://user:p%40ss@a.com/x")
    #expect(try Self.target("http://a.com:8080/x", from: base) == "http://a.com:8080/x")
    #expect(try Self.target("https://a.com/x", from: base) == "https://a.com/x")
    #expect(try Self.target("//b.com/x", from: base) == "http://b.com/x")
  }

  @Test func `user and password are percent-encoded in a URL, and decoded when they are read`() throws {
    let url = HTTPURL("http://a.com:81/x?y#z").withUserInfo(HTTPURL.userInfo(user: "a@b:c", password: "ä/%"))
    #expect(url.string == "http://a%40b%3Ac:%C3%A4%2F%25@a.com:81/x?y#z")
    #expect(url.credentials.map { String(decoding: $0.user, as: UTF8.self) } == "a@b:c")
    #expect(url.credentials.map { String(decoding: $0.password, as: UTF8.self) } == "ä/%")
    #expect(url.withoutUserInfo.string == "http://a.com:81/x?y#z")
  }
}
