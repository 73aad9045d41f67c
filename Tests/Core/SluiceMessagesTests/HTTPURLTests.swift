import SluiceMessages
import Testing

struct HTTPURLTests {
  @Test func `the parts of a URL are kept as they were given`() throws {
    let url = HTTPURL("HTTPS://user:p%40ss@API.Example.com:8443/a/b%2Fc;d?x=1&y=?/#frag?@ment")
    #expect(url.origin == Origin(scheme: .https, host: "api.example.com", port: 8443))
    #expect(url.host == "api.example.com")
    #expect(url.userInfo == "user:p%40ss")
    #expect(url.path == "/a/b%2Fc;d")
    #expect(url.query == "x=1&y=?/")
    #expect(url.description == "HTTPS://user:p%40ss@API.Example.com:8443/a/b%2Fc;d?x=1&y=?/#frag?@ment")
  }

  @Test(
    arguments: [
      ("http://h", "/", nil), ("http://h?q", "/", "q"), ("http://h#f", "/", nil), ("http://h/?", "/", ""),
      ("http://h?", "/", ""), ("http://h/#?q", "/", nil), ("http://h//a//", "//a//", nil),
      ("http://h/a:b@c", "/a:b@c", nil), ("http://h/?u=http://x@y/", "/", "u=http://x@y/"),
    ] as [(String, String, String?)])
  func `path and query begin where the authority ends`(_ text: String, _ path: String, _ query: String?) throws {
    let url = try HTTPURL(text)
    #expect(url.host == "h")
    #expect(url.path == path)
    #expect(url.query == query)
  }

  @Test(
    arguments: [
      ("http://h", "h", 80), ("https://h", "h", 443), ("http://h:", "h", 80), ("http://h:1", "h", 1),
      ("http://h:65535/", "h", 65535), ("http://h:0080", "h", 80), ("http://[::1]", "::1", 80),
      ("http://[::FFFF:1.2.3.4]:81/", "::ffff:1.2.3.4", 81), ("http://example.com.", "example.com", 80),
      ("http://example.com.:82", "example.com", 82), ("http://EXAMPLE.com", "example.com", 80),
      ("http://user@h:8", "h", 8), ("http://user:@h", "h", 80), ("http://@h", "h", 80),
      ("http://a_b-c.d", "a_b-c.d", 80),
      ("http://127.0.0.1", "127.0.0.1", 80), ("http://1.example", "1.example", 80), ("http://1e3", "1e3", 80),
      ("http://h#@evil.example", "h", 80), ("http://h?@evil.example", "h", 80), ("http://h/@evil.example", "h", 80),
    ] as [(String, String, UInt16)])
  func `host and port are read as RFC 3986 says`(_ text: String, _ host: String, _ port: UInt16) throws {
    let url = try HTTPURL(text)
    #expect(url.origin.host == host)
    #expect(url.origin.port == port)
  }

  @Test(arguments: [
    "", " ", "h", "//h", "/path", "http", "http:", "http:/", "http:/h", "http://", "http:///path", "http://?q",
    "http://#f", "http://@", "http://user@", "http://user@/", "http://:80", "http://.", "http://..", "http://a..b",
    "http://.a", "http://a..", "http://a@b@c", "http://[", "http://[::1", "http://]", "http://[]", "http://[:]",
    "http://[::1]x", "http://[::1]80", "http://[::g]", "http://[fe80::1%25eth0]", "http://[::1/]", "http://h]",
    "http://h:0", "http://h:65536", "http://h:-1", "http://h:+1", "http://h:1a", "http://h:80:80",
    "http://h:99999999999",
    "http://h: 80", "http://::1", "http://a b", "http://a\\b", "http://good.example\\@evil.example", "http://a\tb",
    "http://a/\r\nHost: evil", "http://a/\0", "http://a/\u{7F}", "http://é", "http://a%2eb",
    "http://a%00",
    "http://%61", "http://a,b", "http://a;b", "http://a'b", "http://*", "http://a*", " http://a", "http://a ",
    "http://127.1", "http://2130706433", "http://0x7f.0.0.1", "http://127.0.0.0x1", "http://0177.0.0.1",
    "http://1.2.3.256", "http://1.2.3.04", "http://1.2.3.4.5", "http://1.2.3.4.5.6.7", "http://example.1",
    "ht!tp://x", "://x", "1http://x", "h_t://x",
  ])
  func `a text that two parsers could read differently is refused`(_ text: String) {
    let error = #expect(throws: MessageError.self) { try HTTPURL(text) }
    #expect(error?.code == .invalidURL)
  }

  @Test(arguments: ["ftp://h", "file:///etc/passwd", "javascript://h", "httpx://h", "ws://h", "gopher://h"])
  func `only the schemes http and https are accepted`(_ text: String) {
    let error = #expect(throws: MessageError.self) { try HTTPURL(text) }
    #expect(error?.code == .unsupportedScheme)
  }

  @Test(arguments: [
    "http://user:S3CRET@", "http://user:S3CRET@h:0", "http://user:S3CRET@@h", "http://u:S3CRET@x:S3CRET@h",
    "ftp://user:S3CRET@h", "http://user:S3CRET@h/a b", "http://user:a@S3CRET@h", "user:S3CRET@h",
    "http://user:S3/CRET@h/ ", "http://user:S3?CRET@h/ ", "http://h/ ?token=S3CRET", "http://h/?token=S3CRET ",
    "http:/user:S3CRET@h", "http://h/ #token=S3CRET", "http://u:S3@h/#CRET ",
  ])
  func `an error shows neither password nor query`(_ text: String) throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL(text) }
    #expect(!error.description.contains("S3"))
    #expect(!error.description.contains("CRET"))
  }

  @Test func `an error says what is wrong and shows no control character`() throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL.init("http://a/\u{1B}[31m\n") }
    #expect(error.subject == "url \"http://a/\\u{1B}[31m\\n\"")
    #expect(error.reason.contains("the character U+001B at offset 9"))
  }

  @Test func `the error for an invalid scheme names it`() throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL.init("ht!tp://x") }
    #expect(
      error.description == #"url "ht!tp://x": "ht!tp" before :// is not a scheme; expected http://… or https://…"#)
  }

  @Test func `a host has at most 253 bytes, and 63 between two dots`() throws {
    let label = String(repeating: "a", count: 63)
    let longest = "\(label).\(label).\(label)." + String(repeating: "b", count: 61)
    #expect(try HTTPURL("http://\(longest)./").host == longest)
    for host in [longest + "b", label + "a", "a.\(label)a.b"] {
      let error = #expect(throws: MessageError.self) { try HTTPURL("http://\(host)/") }
      #expect(error?.reason.contains("253 bytes") == true)
    }
  }

  @Test func `the longest allowed URL is accepted, and one more byte is refused`() throws {
    let prefix = "http://h/"
    let longest = prefix + String(repeating: "a", count: HTTPURL.maximumBytes - prefix.utf8.count)
    #expect(try HTTPURL(longest).path.utf8.count == HTTPURL.maximumBytes - 8)
    let error = #expect(throws: MessageError.self) { try HTTPURL(longest + "a") }
    #expect(error?.reason.contains("65537 bytes") == true)
  }

  @Test func `an origin omits the default port of its scheme, and writes an IPv6 address in brackets`() throws {
    #expect(HTTPURL("http://h:80/x").origin.description == "http://h")
    #expect(HTTPURL("https://h:80/x").origin.description == "https://h:80")
    #expect(HTTPURL("https://[::1]:8443").origin.description == "https://[::1]:8443")
    #expect(HTTPURL("http://h:80/a").origin == HTTPURL("http://H/b").origin)
    #expect(HTTPURL("http://h").origin != HTTPURL("https://h:80").origin)
  }
}
