import SluiceMessages
import SluiceTestKit
import Testing

struct HostPatternTests {
  @Test(arguments: [
    ("api.example.com", "http://api.example.com"), ("API.Example.COM", "https://api.example.com:8443/x"),
    ("api.example.com.", "http://api.example.com"), ("api.example.com", "http://api.example.com./"),
    ("*.example.com", "http://a.example.com"), ("*.example.com", "http://a.b.EXAMPLE.com"), ("*", "http://anything"),
    ("https://*", "https://anything:1"), ("https://*:81", "https://anything:81"),
    ("https://api.example.com", "https://api.example.com:8443"),
    ("api.example.com:8443", "https://api.example.com:8443"), ("*.example.com:81", "http://a.example.com:81"),
    ("[::1]", "http://[::1]:9/"), ("[::1]:9", "http://[::1]:9/"), ("127.0.0.1", "http://127.0.0.1"),
    ("http://h:80", "http://h"), ("h:80", "http://h"),
  ])
  func `a pattern matches the hosts it names`(_ pattern: String, _ url: String) throws {
    #expect(try HostPattern(pattern).matches(HTTPURL(url).origin))
  }

  @Test(arguments: [
    ("example.com", "http://api.example.com"), ("example.com", "http://example.com.evil.example"),
    ("example.com", "http://notexample.com"), ("example.com", "http://evil.example/example.com"),
    ("example.com", "http://evil.example/?u=http://example.com/"), ("example.com", "http://example.com@evil.example/"),
    ("example.com", "http://evil.example/#example.com"), ("*.example.com", "http://example.com"),
    ("*.example.com", "http://notexample.com"), ("*.example.com", "http://a.example.com.evil.example"),
    ("*.example.com", "http://evil.example/?a.example.com"), ("https://example.com", "http://example.com"),
    ("https://*", "http://anything"), ("example.com:8443", "https://example.com"), ("h:80", "https://h"),
    ("[::1]", "http://[::2]"), ("127.0.0.1", "http://127.0.0.10"),
  ])
  func `a pattern never matches part of a host, a path, a query or a user`(_ pattern: String, _ url: String) throws {
    #expect(try !HostPattern(pattern).matches(HTTPURL(url).origin))
  }

  @Test(arguments: [
    "", " ", "*.", "**", "*example.com", "*.*.com", "a.*.com", "a*", "example.com/", "example.com/v1", "example.com?",
    "example.com#", "user@example.com", "ftp://example.com", "://example.com", "example.com:", "example.com:0",
    "example.com:x", "https://", "*:", "*:0", "*:65536", "*:x", "*.:80", "*.0.0.1", "::1", "exa mple", "éxample",
    "http://example.com/", "a..b", "example.com/\u{301}", "example.com?\u{301}",
  ])
  func `an invalid host is refused, and the error says what was expected`(_ pattern: String) {
    let error = #expect(throws: MessageError.self) { try HostPattern(pattern) }
    #expect(error?.reason.contains("*.suffix") == true)
  }

  @Test func `a suffix matches exactly the names below it`() throws {
    var random = SeededRandom(seed: 3)
    let pattern = try HostPattern("*.ab.c")
    for _ in 0..<5000 {
      let host = String(
        (0..<Int.random(in: 1...10, using: &random)).map { _ in
          ["a", "b", "c", "."].randomElement(using: &random) ?? "a"
        }.joined())
      guard let url = try? HTTPURL("http://\(host)/") else { continue }
      let labels = url.host.split(separator: ".")
      #expect(pattern.matches(url.origin) == (labels.count > 2 && labels.suffix(2) == ["ab", "c"]), "\(host)")
    }
  }

  @Test func `a list finds the first pattern that matches a URL or an origin`() throws {
    var list = HostPatternList()
    #expect(list.firstIndex(matching: HTTPURL("http://a.example")) == nil)
    let patterns = ["api.example.com", "*.example.com", "https://*.example.com:8443", "[::1]:9"]
    for pattern in patterns { list.append(try HostPattern(pattern)) }
    list.append(HTTPURL("https://base.test").origin)
    list.append(try HostPattern("https://*"))
    list.append(HTTPURL("http://[::ffff:10.0.0.1]").origin)
    let places: [(String, Int?)] = [
      ("http://api.example.com/x", 0), ("http://b.example.com", 1), ("https://a.b.example.com:8443", 1),
      ("http://[::1]:9", 3), ("https://base.test/", 4), ("https://base.test:444", 5), ("http://base.test", nil),
      ("http://example.com", nil), ("http://base.test.evil.example", nil), ("http://evil.example/base.test", nil),
      ("http://10.0.0.1", 6), ("http://[::ffff:a00:1]", 6), ("http://10.0.0.1:81", nil),
    ]
    for (url, place) in places { #expect(list.firstIndex(matching: try HTTPURL(url)) == place, "\(url)") }
  }
}
