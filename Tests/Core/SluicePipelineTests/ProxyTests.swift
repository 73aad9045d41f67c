import SluiceMessages
import SluicePipeline
import Testing

struct ProxyTests {
  /// RFC 3986 §3.2.3 treats an empty port as an absent one.
  @Test(arguments: [
    ("p", "p:1080"), ("p:3128", "p:3128"), ("http://p", "p:1080"), ("https://p/", "p:443"), ("HTTP://P:80", "p:80"),
    ("socks5://u:pw@[::1]:9", "[::1]:9"), ("socks://p", "p:1080"), ("p:", "p:1080"), ("https://p:", "p:443"),
    ("socks5h://u:@[::1]:", "[::1]:1080"), ("u:p%40w@p:65535", "p:65535"),
  ])
  func `the URL of a proxy is read as curl reads it`(_ text: String, _ authority: String) throws {
    #expect(try Proxy(text).place.authority == authority)
  }

  @Test(arguments: [
    ("foo://h", "known schemes"), ("bad proxy", "blank"), ("http://bücher", "not ASCII"), ("http://", "names no host"),
    ("socks5://:1080", "names no host"), ("http://u:secret@:9", "names no host"), ("http://p:99999", "1 to 65535"),
    ("http://p:0", "1 to 65535"), ("p:port", "1 to 65535"), ("http//p:3128", "something follows"),
    ("http:/p", "something follows"), ("http://p/path", "something follows"), ("http://p?x", "something follows"),
    ("http://u:12/secret@p", "%2F"), ("http://u:sec#ret@p", "%23"), ("http://u:sec@ret@p:1", "%40"),
    ("http://::1:3128", "brackets"), ("http://[::1]x", "bracket"), ("http://[::1", "not valid"), ("p\n", "control"),
    ("socks5://\(String(repeating: "u", count: 256))@p", "255 bytes"), ("socks4://a%00b@p", "NUL"),
  ])
  func `a URL that names no usable proxy is refused, with a reason that hides the password`(
    _ text: String, _ words: String
  ) {
    do throws(ProxyFault) {
      let proxy = try Proxy(text)
      Issue.record("it was read as \(proxy.name)")
    } catch {
      #expect(error.reason.contains(words), "\(error.reason)")
      #expect(!error.reason.contains("secret") && !error.reason.contains("ret@"), "\(error.reason)")
    }
  }

  @Test func `a long user is a matter of SOCKS 5 alone`() throws {
    let user = String(repeating: "u", count: 300)
    for scheme in ["http", "socks4"] { #expect(try Proxy("\(scheme)://\(user)@p").credentials?.user.count == 300) }
  }

  @Test func `what a proxy demands is named`() {
    func demand(_ value: String) -> String {
      Challenge.proxyDemand(Challenge.challenges(in: ["Proxy-Authenticate": value], "proxy-authenticate"))
    }
    #expect(demand("Basic realm=\"r\"") == "it demands a user and a password; check those in its URL")
    #expect(demand("NTLM, Negotiate") == "it demands NTLM or Negotiate, and Sluice knows only Basic and Digest")
    #expect(demand("") == "it demands a user and a password; check those in its URL")
  }
}
