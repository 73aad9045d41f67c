import SluiceCookies
import SluiceMessages
import Testing

/// The public suffix list of this machine's libpsl.
@Suite struct PublicSuffixTests {
  private func refusal(_ domain: String, _ url: HTTPURL) -> CookieRefusal? {
    var store = CookieStore()
    return store.set("a=b; domain=\(domain)", from: url, suffixes: .system)
  }

  @Test func `the list contains suffixes of one or two labels, private suffixes, wildcards and their exceptions`() {
    #expect(refusal("com", "http://x.com/") == .publicSuffix)
    #expect(refusal("co.uk", "http://x.co.uk/") == .publicSuffix)
    #expect(refusal("github.io", "http://x.github.io/") == .publicSuffix)
    #expect(refusal("foo.ck", "http://x.foo.ck/") == .publicSuffix)
    #expect(refusal("www.ck", "http://x.www.ck/") == nil)
    #expect(refusal("xn--55qx5d.cn", "http://x.xn--55qx5d.cn/") == .publicSuffix)
    #expect(refusal("COM", "http://x.com/") == .publicSuffix)
  }

  @Test func `a domain that somebody registered is not a suffix`() {
    #expect(refusal("x.com", "http://www.x.com/") == nil)
    #expect(refusal("x.co.uk", "http://www.x.co.uk/") == nil)
    #expect(refusal("x.github.io", "http://www.x.github.io/") == nil)
  }

  @Test func `the last label of a domain is a suffix even if the list does not contain it`() {
    #expect(refusal("intranet", "http://x.intranet/") == .publicSuffix)
    #expect(refusal("x.intranet", "http://y.x.intranet/") == nil)
  }
}
