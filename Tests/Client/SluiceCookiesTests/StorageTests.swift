import SluiceCookies
import SluiceMessages
import Testing

/// Which cookies a server may set, by draft-ietf-httpbis-rfc6265bis-22 §5.7. Most tests send what a hostile server
/// would send.
@Suite struct StorageTests {
  private var store = CookieStore()

  @Test mutating func `step 2: a field without a name and a value sets no cookie`() {
    for field in ["", " ", "=", " = ", "; secure", "=; path=/"] {
      #expect(store.set(field, from: "http://a.example/") == .empty, "\(field)")
    }
  }

  @Test mutating func `step 1: a tab in a name or a path is refused`() {
    #expect(store.set("a\tb=c", from: "http://a.example/") == .tab)
    #expect(store.set("a=c; path=/x\ty", from: "http://a.example/") == .tab)
  }

  @Test mutating func `step 8: a domain beyond ASCII is refused`() {
    #expect(store.set("a=b; domain=ä.example", from: "http://a.example/") == .domainNotASCII)
    #expect(store.set("a=b; domain=xn--4ca.example", from: "http://xn--4ca.example/") == nil)
  }

  @Test(arguments: [
    ("com", "http://www.evil.com/"), ("example", "http://a.example/"), ("co.uk", "http://evil.co.uk/"),
    (".CO.UK", "http://evil.co.uk/"), ("github.io", "http://evil.github.io/"), ("internal", "http://x.internal/"),
  ])
  mutating func `step 9: a cookie for a public suffix is refused`(domain: String, url: String) throws {
    #expect(store.set("a=b; domain=\(domain)", from: try HTTPURL(url)) == .publicSuffix)
    #expect(store.count == 0)
  }

  @Test mutating func `step 9_3: if the public suffix is the host itself, the cookie becomes a host-only cookie`() {
    #expect(store.set("a=b; domain=github.io", from: "http://github.io/") == nil)
    #expect(store.set("c=d; domain=localhost", from: "http://localhost/") == nil)
    #expect(store.cookies.map(\.isHostOnly) == [true, true])
    #expect(store.sent(to: "http://victim.github.io/") == nil)
  }

  @Test mutating func `step 9: without a list of suffixes, only host-only cookies are kept`() {
    #expect(store.set("a=b; domain=a.example", from: "http://x.a.example/", suffixes: .unknown) == .publicSuffix)
    #expect(store.set("a=b; domain=a.example", from: "http://a.example/", suffixes: .unknown) == nil)
    #expect(store.set("c=d", from: "http://x.a.example/", suffixes: .unknown) == nil)
    #expect(store.cookies.map(\.isHostOnly) == [true, true])
  }

  @Test(arguments: [
    ("b.example", "http://a.example/"), ("x.a.example", "http://a.example/"), ("a.example", "http://ba.example/"),
    ("evila.example", "http://a.example/"), ("a.example.", "http://a.example/"), ("*.a.example", "http://x.a.example/"),
    ("0.0.1", "http://127.0.0.1/"), ("1", "http://127.0.0.1/"), ("127.0.0.2", "http://127.0.0.1/"),
    (":1", "http://[::1]/"), ("a.example/", "http://a.example/"), ("a.example:80", "http://a.example/"),
  ])
  mutating func `step 10: a cookie for another host than the request's is refused`(domain: String, url: String) throws {
    #expect(store.set("a=b; domain=\(domain)", from: try HTTPURL(url)) == .otherHost)
    #expect(store.count == 0)
  }

  @Test mutating func `step 10: a cookie from an IP address is only for this address`() {
    #expect(store.set("a=b; domain=127.0.0.1", from: "http://127.0.0.1/") == nil)
    #expect(store.set("c=d; domain=::1", from: "http://[::1]/") == nil)
    #expect(store.cookies.map(\.isHostOnly) == [true, true])
  }

  @Test mutating func `step 13: a response over http cannot set a Secure cookie`() {
    #expect(store.set("a=b; secure", from: "http://a.example/") == .secureOverHTTP)
    #expect(store.set("a=b; secure", from: "https://a.example/") == nil)
  }

  @Test mutating func `step 16: a response over http cannot hide a Secure cookie of its host or domain`() {
    store.set("sid=1; secure; path=/login; domain=a.example", from: "https://x.a.example/")
    #expect(store.set("sid=2; path=/login", from: "http://x.a.example/") == .hidesSecure)
    #expect(store.set("sid=2; path=/login/en", from: "http://x.a.example/") == .hidesSecure)
    #expect(store.set("sid=2; path=/login; domain=a.example", from: "http://a.example/") == .hidesSecure)
    #expect(store.set("sid=; path=/login; domain=a.example; max-age=0", from: "http://a.example/") == .hidesSecure)
    // The next two cookies are allowed: one has a shorter path, and the other has another name.
    #expect(store.set("sid=2; path=/", from: "http://x.a.example/") == nil)
    #expect(store.set("SID=2; path=/login", from: "http://x.a.example/") == nil)
    #expect(store.sent(to: "https://x.a.example/login") == "sid=1; SID=2; sid=2")
  }

  @Test mutating func `step 16: a response over https can replace a Secure cookie`() {
    store.set("sid=1; secure", from: "https://a.example/")
    #expect(store.set("sid=2", from: "https://a.example/") == nil)
    #expect(store.sent(to: "http://a.example/") == "sid=2")
  }

  @Test mutating func `step 19: SameSite=None needs Secure`() {
    #expect(store.set("a=b; samesite=none", from: "https://a.example/") == .crossSiteNotSecure)
  }

  @Test(arguments: ["__Secure-a", "__SECURE-a", "__secure-"])
  mutating func `step 20: a name with the prefix __Secure- needs Secure, and therefore https`(name: String) {
    #expect(store.set("\(name)=b", from: "https://a.example/") == .securePrefix)
    #expect(store.set("\(name)=b", from: "http://a.example/") == .securePrefix)
    #expect(store.set("\(name)=b; secure", from: "http://a.example/") == .secureOverHTTP)
    #expect(store.set("\(name)=b; secure; domain=a.example", from: "https://a.example/") == nil)
  }

  @Test(arguments: ["__Host-a", "__HOST-a", "__host-"])
  mutating func `step 21: a name with the prefix __Host- needs Secure, Path=/ and no Domain`(name: String) {
    let url: HTTPURL = "https://x.a.example/"
    for attributes in ["; path=/", "; secure", "; secure; path=/x", "; secure; path=/; domain=a.example"] {
      #expect(store.set("\(name)=b\(attributes)", from: url) == .hostPrefix, "\(attributes)")
    }
    #expect(store.set("\(name)=b; secure; path=/; domain=x.a.example", from: url) == .hostPrefix)
    #expect(store.set("\(name)=b; path=/", from: "http://x.a.example/") == .hostPrefix)
    #expect(store.set("\(name)=b; secure; path=/", from: "http://x.a.example/") == .secureOverHTTP)
    #expect(store.count == 0)
    #expect(store.set("\(name)=b; secure; path=/", from: url) == nil)
  }

  @Test(arguments: ["__Host-a=b", "=__host-a=b", "=__Secure-a=b", "=__SECURE-a"])
  mutating func `step 22: a value without a name cannot look like a name with a prefix`(field: String) {
    let expected: CookieRefusal = field.hasPrefix("=") ? .namelessPrefix : .hostPrefix
    #expect(store.set(field, from: "https://a.example/") == expected)
    #expect(store.set("__Secure-a", from: "https://a.example/") == .namelessPrefix)
  }

  @Test mutating func `step 23: a cookie with the same name, domain and path is replaced, and keeps its age`() {
    store.set("a=1; path=/", from: "http://a.example/")
    store.set("b=1; path=/", from: "http://a.example/")
    store.set("a=2; path=/", from: "http://a.example/")
    #expect(store.sent(to: "http://a.example/") == "a=2; b=1")
    store.set("a=3; path=/; domain=a.example", from: "http://a.example/")
    #expect(store.count == 3)
  }

  @Test mutating func `an expired cookie removes the cookie that it would replace`() {
    store.set("a=1; path=/", from: "http://a.example/")
    store.set("a=; path=/x; max-age=0", from: "http://a.example/")
    #expect(store.count == 1)
    store.set("a=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT", from: "http://a.example/")
    #expect(store.count == 0)
  }
}
