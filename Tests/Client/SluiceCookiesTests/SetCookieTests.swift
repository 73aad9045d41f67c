import SluiceCookies
import SluiceMessages
import Testing

/// Reading a Set-Cookie field, by draft-ietf-httpbis-rfc6265bis-22 §5.6.
@Suite struct SetCookieTests {
  private static func refusal(_ field: String) -> CookieRefusal? {
    var store = CookieStore()
    return store.set(field, from: "https://a.example/")
  }

  @Test(arguments: ["a=\u{0}", "a=b\u{1F}", "a\u{8}=b", "a=b; path=/\u{7F}", "a=b\r\nc=d", "a=b; x=\n"])
  func `step 1: a field with a control character is ignored`(field: String) {
    #expect(Self.refusal(field) == .controlCharacter)
  }

  @Test func `steps 2 to 4: name and value are cut at the first equals sign, and trimmed`() {
    #expect(cookie(" \ta \t=\t b=c \t; Secure").map { [$0.name, $0.value] } == ["a", "b=c"])
    #expect(cookie("a=\tb\tc\t").map(\.value) == "b\tc")
    #expect(cookie("just a value").map { [$0.name, $0.value] } == ["", "just a value"])
    #expect(cookie("=value").map { [$0.name, $0.value] } == ["", "value"])
    #expect(cookie("a=").map { [$0.name, $0.value] } == ["a", ""])
    #expect(cookie("a=\"b c\"").map(\.value) == "\"b c\"")
  }

  @Test func `step 5: name and value have at most 4096 bytes together`() {
    #expect(cookie("a=" + String(repeating: "b", count: 4095))?.value.utf8.count == 4095)
    #expect(Self.refusal("a=" + String(repeating: "b", count: 4096)) == .tooLong)
    #expect(Self.refusal(String(repeating: "b", count: 4097)) == .tooLong)
  }

  @Test func `attributes, step 6: a value of more than 1024 bytes is ignored with its attribute`() {
    let path = "/" + String(repeating: "p", count: 1023)
    #expect(cookie("a=b; path=\(path)")?.path == path)
    #expect(cookie("a=b; path=\(path)x")?.path == "/dir")
    #expect(cookie("a=b; path=/short; path=\(path)x")?.path == "/short")
    #expect(cookie("a=b; domain=\(String(repeating: "d", count: 1025))")?.isHostOnly == true)
  }

  @Test func `attributes, step 7: names have no case, the last of equal names wins, unknown names are ignored`() {
    let cookie = cookie("a=b;SECURE;; HttpOnly=x ; PATH=/1; foo=bar; path = /2 ;samesite=LAX;Max-Age=60")
    #expect(cookie?.isSecure == true && cookie?.isHTTPOnly == true && cookie?.path == "/2")
    #expect(cookie?.sameSite == .lax && cookie?.expires == noon + 60)
  }

  @Test func `5_6_1: Expires is limited to 400 days, and ignored if it is not a date`() {
    #expect(cookie("a=b; expires=Fri, 15 Jan 2027 09:00:00 GMT")?.expires == 1_800_003_600)
    #expect(cookie("a=b; expires=Fri, 15 Jan 2127 09:00:00 GMT")?.expires == noon + 400 * 86_400)
    #expect(cookie("a=b; expires=soon").map(\.expires) == .some(nil))
    #expect(cookie("a=b; expires=Fri, 15 Jan 2027 09:00:00 GMT; expires=soon")?.expires == 1_800_003_600)
  }

  @Test func `5_6_2: Max-Age is digits with an optional sign, is limited to 400 days, and wins over Expires`() {
    #expect(cookie("a=b; max-age=5")?.expires == noon + 5)
    #expect(cookie("a=b; max-age=34560001")?.expires == noon + 34_560_000)
    #expect(cookie("a=b; max-age=99999999999999999999999")?.expires == noon + 34_560_000)
    for void in ["", "5x", "+5", "x5", "-", "--5", "5.0"] {
      #expect(cookie("a=b; max-age=\(void)").map(\.expires) == .some(nil), "\(void)")
    }
    #expect(cookie("a=b; max-age=5; expires=Fri, 15 Jan 2027 09:00:00 GMT")?.expires == noon + 5)
    #expect(cookie("a=b; max-age=0") == nil && cookie("a=b; max-age=-99999999999999999999") == nil)
  }

  @Test func `5_6_3: Domain is read in lower case and without its first dot`() {
    let url: HTTPURL = "https://x.a.example/"
    #expect(cookie("a=b; domain=A.Example", from: url)?.domain == "a.example")
    #expect(cookie("a=b; domain=.a.example", from: url)?.isHostOnly == false)
    #expect(cookie("a=b; domain=..a.example", from: url) == nil)
    #expect(cookie("a=b; domain=", from: url)?.isHostOnly == true)
    #expect(cookie("a=b; domain=a.example; domain=", from: url)?.isHostOnly == true)
  }

  @Test func `5_6_4: a Path that does not begin with a slash is replaced by the default path`() {
    #expect(cookie("a=b; path=x")?.path == "/dir" && cookie("a=b; path=")?.path == "/dir")
    #expect(cookie("a=b; path=/x; path=y")?.path == "/dir")
    #expect(cookie("a=b")?.path == "/dir")
    #expect(cookie("a=b", from: "https://a.example")?.path == "/")
    #expect(cookie("a=b", from: "https://a.example/page")?.path == "/")
    #expect(cookie("a=b", from: "https://a.example/dir/?q=/x/y")?.path == "/dir")
  }

  @Test func `5_6_7: SameSite is one of three words, and any other value counts as unspecified`() {
    #expect(cookie("a=b; samesite=strict")?.sameSite == .strict)
    #expect(cookie("a=b; samesite=none; secure")?.sameSite == Cookie.SameSite.none)
    #expect(cookie("a=b; samesite=x")?.sameSite == .unspecified && cookie("a=b")?.sameSite == .unspecified)
  }

  @Test func `a value that is not UTF-8 is sent back unchanged`() {
    var store = CookieStore()
    #expect(throws: Never.self) {
      try store.receive(Array("a=".utf8) + [0xE9, 0xFF], from: "http://a.example/", suffixes: .few, now: noon)
    }
    #expect(store.header(for: "http://a.example/", now: noon) == Array("a=".utf8) + [0xE9, 0xFF])
  }
}
