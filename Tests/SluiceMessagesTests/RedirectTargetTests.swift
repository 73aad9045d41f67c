import SluiceMessages
import Testing

/// Where a `Location` leads (RFC 9110 §10.2.2).
@Suite struct RedirectTargetTests {
  private static func target(_ location: String, from base: String = "http://a.com/b/c?q#s") throws -> String? {
    try HTTPURL(base).redirectTarget(location.utf8.span)?.string
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
  func `a target resolves and takes over the fragment`(location: String, expected: String) throws {
    #expect(try Self.target(location) == expected)
  }

  @Test(arguments: [
    "", "ftp://a.com/", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http:", "http:/x", "http://",
    "http://user@other.com/", "//user:password@other.com/", "/a\\b", "/a\u{7F}", "/a\tb", "http://a.com:0/",
    "http://a.com:99999/", "http://[::1/", "http://2130706433/", "http://ä.com/", "//", "///x",
    "/" + String(repeating: "x", count: 65536),
  ])
  func `a target that is none is not followed`(location: String) throws {
    #expect(try Self.target(location) == nil)
  }

  @Test func `ten kilobytes are a target`() throws {
    let long = "/" + String(repeating: "x", count: 10_240)
    #expect(try Self.target(long, from: "http://a.com/") == "http://a.com" + long)
  }

  @Test func `CR and LF are no part of a target`() throws {
    #expect(try Self.target("/x\r\nx-evil: 1") == nil)
    #expect(try Self.target("/x\n") == nil)
  }

  @Test func `user and password stay within the origin and go no further`() throws {
    let base = "http://user:p%40ss@a.com/b"
    #expect(try Self.target("/x", from: base) == "http://user:p%40ss@a.com/x")
    #expect(try Self.target("http://a.com/x", from: base) == "http://user:p%40ss@a.com/x")
    #expect(try Self.target("http://a.com:8080/x", from: base) == "http://a.com:8080/x")
    #expect(try Self.target("https://a.com/x", from: base) == "https://a.com/x")
    #expect(try Self.target("//b.com/x", from: base) == "http://b.com/x")
  }

  @Test func `user and password are percent-encoded into a URL and out of it`() throws {
    let url = try HTTPURL("http://a.com:81/x?y#z").withUserInfo(HTTPURL.userInfo(user: "a@b:c", password: "ä/%"))
    #expect(url.string == "http://a%40b%3Ac:%C3%A4%2F%25@a.com:81/x?y#z")
    #expect(url.credentials.map { String(decoding: $0.user, as: UTF8.self) } == "a@b:c")
    #expect(url.credentials.map { String(decoding: $0.password, as: UTF8.self) } == "ä/%")
    #expect(url.withoutUserInfo.string == "http://a.com:81/x?y#z")
  }
}
