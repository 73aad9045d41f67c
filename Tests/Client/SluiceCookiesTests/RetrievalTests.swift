import SluiceCookies
import SluiceMessages
import Testing

/// Which cookies a request gets, by draft-ietf-httpbis-rfc6265bis-22 §5.8.3.
@Suite struct RetrievalTests {
  private var store = CookieStore()

  @Test mutating func `step 1: a host-only cookie is sent to no other host`() {
    store.set("a=b", from: "http://a.example/")
    #expect(store.sent(to: "http://a.example/") == "a=b" && store.sent(to: "http://A.EXAMPLE.:81/") == "a=b")
    for url: HTTPURL in ["http://x.a.example/", "http://ba.example/", "http://example/", "http://b.example/"] {
      #expect(store.sent(to: url) == nil, "\(url)")
    }
  }

  @Test mutating func `step 1: a cookie for a domain is also sent to the hosts below it`() {
    store.set("a=b; domain=a.example", from: "http://x.a.example/")
    for url: HTTPURL in ["http://a.example/", "http://x.a.example/", "http://z.y.a.example/"] {
      #expect(store.sent(to: url) == "a=b", "\(url)")
    }
    for url: HTTPURL in ["http://ba.example/", "http://a.example.com/", "http://example/"] {
      #expect(store.sent(to: url) == nil, "\(url)")
    }
  }

  @Test mutating func `step 1: a cookie is sent if its path is the path of the request or a folder above it`() throws {
    store.set("a=b; path=/dir", from: "http://a.example/")
    store.set("c=d; path=/slash/", from: "http://a.example/")
    for (path, field) in [
      ("/dir", "a=b"), ("/dir/", "a=b"), ("/dir/x?y", "a=b"), ("/dirt", nil), ("/Dir", nil), ("/", nil),
      ("/slash", nil), ("/slash/", "c=d"), ("/slash/x", "c=d"), ("/x?/dir", nil),
    ] {
      #expect(try store.sent(to: HTTPURL("http://a.example\(path)")) == field, "\(path)")
    }
  }

  @Test mutating func `step 1: a Secure cookie is sent only over https`() {
    store.set("a=b; secure", from: "https://a.example/")
    #expect(store.sent(to: "http://a.example/") == nil && store.sent(to: "https://a.example/") == "a=b")
  }

  @Test mutating func `step 1: a program gets cookies with SameSite and HttpOnly like all others`() {
    store.set("a=b; samesite=strict; httponly", from: "https://a.example/")
    #expect(store.sent(to: "http://a.example/") == "a=b")
  }

  @Test mutating func `a cookie is no longer sent in the second in which it expires`() {
    store.set("a=b; max-age=10", from: "http://a.example/")
    #expect(store.sent(to: "http://a.example/", at: noon + 9) == "a=b")
    #expect(store.sent(to: "http://a.example/", at: noon + 10) == nil)
  }

  @Test mutating func `step 2: cookies with longer paths come first, and for equally long paths, older cookies do`() {
    store.set("new=1; path=/a", from: "http://a.example/")
    store.set("root=1; path=/", from: "http://a.example/")
    store.set("long=1; path=/a/b", from: "http://a.example/")
    store.set("domain=1; path=/a; domain=a.example", from: "http://a.example/")
    #expect(store.sent(to: "http://a.example/a/b/c") == "long=1; new=1; domain=1; root=1")
  }

  @Test mutating func `step 4: a cookie without a name is sent as its value`() {
    store.set("value", from: "http://a.example/")
    store.set("a=", from: "http://a.example/")
    #expect(store.sent(to: "http://a.example/") == "value; a=")
  }

  // MARK: Limits

  @Test mutating func `beyond 180 cookies of a domain, a jar removes the least recently used one without Secure`() {
    for number in 0..<180 {
      store.set("c\(number)=1; path=/\(number)\(number < 5 ? "; secure" : "")", from: "https://a.example/")
    }
    // The cookie c5 was used just now, so c6 is the least recently used cookie.
    #expect(store.sent(to: "https://a.example/5") == "c5=1")
    store.set("more=1; path=/more", from: "https://a.example/")
    store.set("other=1", from: "https://b.example/")
    #expect(store.count == 181)
    #expect(store.sent(to: "https://a.example/6") == nil && store.sent(to: "https://a.example/5") == "c5=1")
    for number in 0..<200 { store.set("s\(number)=1; secure", from: "https://a.example/") }
    #expect(store.cookies.filter { $0.domain == "a.example" }.count == 180)
    #expect(store.cookies.allSatisfy { $0.isSecure || $0.domain == "b.example" })
    #expect(store.sent(to: "https://b.example/") == "other=1")
  }

  @Test mutating func `beyond 3000 cookies, a jar removes expired ones first, then the least recently used`() throws {
    store.set("old=1", from: "http://first.example/")
    store.set("short=1; max-age=1", from: "http://second.example/")
    for number in 0..<2998 { store.set("c=1", from: try HTTPURL("http://h\(number).example/")) }
    #expect(store.count == 3000)
    #expect(store.sent(to: "http://first.example/") == "old=1")
    store.set("c=1", from: "http://last.example/", at: noon + 5)
    #expect(store.count == 3000 && store.sent(to: "http://first.example/") == "old=1")
    store.set("c=1", from: "http://very-last.example/", at: noon + 5)
    #expect(store.count == 3000 && store.sent(to: "http://h0.example/") == nil)
    #expect(store.sent(to: "http://very-last.example/") == "c=1")
  }
}
