import SluiceCookies
import SluiceMessages
import SluiceTestKit
import Testing

/// Properties that must hold, whatever a server sends.
@Suite struct CookiePropertyTests {
  private static let hosts: [HTTPURL] = [
    "http://a.example/x/y", "https://a.example/", "https://x.a.example/x", "http://x.a.example/", "https://b.example/",
    "http://127.0.0.1/", "https://[::1]/", "http://localhost/", "https://x.co.uk/", "http://y.x.com/a",
  ]
  private static let pieces = [
    "a", "=", "=", ";", ";", "; ", " ", "\t", "__Host-", "__secure-", "Domain=", "domain=.", "a.example", "x.a.example",
    "com", "co.uk", "example", "127.0.0.1", "::1", "localhost", "Path=", "/", "/x", "/x/y", "Secure", "HttpOnly",
    "Max-Age=", "60", "-1", "0", "99999999999999999999", "Expires=", "Wed, 21 Oct 2026 07:28:00 GMT", "SameSite=None",
    "\u{0}", "\n", "\u{7F}", "é", ",", "\"", ".",
  ]

  private static func field(_ random: inout SeededRandom) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...14, using: &random) {
      if Int.random(in: 0..<20, using: &random) == 0 {
        bytes.append(UInt8.random(in: 0...255, using: &random))
      } else {
        bytes += Array((pieces.randomElement(using: &random) ?? "").utf8)
      }
    }
    return bytes
  }

  @Test(arguments: 0..<8) func `random fields never crash, and never set a cookie that breaks a rule`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var store = CookieStore()
    var set = 0
    for number in 0..<1000 {
      let url = Self.hosts.randomElement(using: &random) ?? "http://a.example/"
      let field = Self.field(&random)
      let isHTTPS = url.origin.scheme == .https
      let secret = isHTTPS ? [] : store.cookies.filter(\.isSecure)
      let cookie = try? store.receive(field[...], from: url, suffixes: .few, now: noon)
      guard let cookie else { continue }
      set += 1
      #expect(Self.keepsRules(cookie, url.host, isHTTPS), "\(seed)/\(number): \(field)")
      // A field over http must not remove or hide a Secure cookie.
      let left = Set(isHTTPS ? [] : store.cookies)
      #expect(secret.allSatisfy { left.contains($0) }, "\(seed)/\(number): \(field)")
    }
    #expect(set > 100)
    // Each kept cookie can be written and read again, and is sent in a valid field.
    let read = try? CookieFileText.read(CookieFileText.write(store.cookies), now: noon)
    #expect(read?.map(\.key) == store.cookies.map(\.key))
    for url in Self.hosts {
      guard let value = store.header(for: url, now: noon) else { continue }
      #expect(throws: Never.self) { try HeaderFields.check(name: "cookie".utf8.span, value: value.span) }
    }
  }

  private static func keepsRules(_ cookie: Cookie, _ host: String, _ isHTTPS: Bool) -> Bool {
    let name = cookie.name.lowercased()
    let prefixed = name.isEmpty ? cookie.value.lowercased() : name
    let domain = cookie.domain
    let isInDomain = host == domain || !cookie.isHostOnly && host.hasSuffix("." + domain)
    let isRegistrable = cookie.isHostOnly || domain.contains(".") && !["co.uk", "127.0.0.1"].contains(domain)
    let keepsPrefix =
      prefixed.hasPrefix("__secure-") || prefixed.hasPrefix("__host-")
      ? isHTTPS && cookie.isSecure && !name.isEmpty : true
    let keepsHost = name.hasPrefix("__host-") ? cookie.isHostOnly && cookie.path == "/" : true
    return isInDomain && isRegistrable && keepsPrefix && keepsHost && (isHTTPS || !cookie.isSecure)
      && cookie.path.hasPrefix("/") && cookie.nameBytes.count + cookie.valueBytes.count <= 4096
      && (cookie.expires ?? 0) <= noon + 400 * 86_400
  }

  @Test(arguments: 0..<8) func `a random file is read or reported as damaged, and never causes a crash`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let lines = ["#HttpOnly_.a.example\tTRUE\t/x\tTRUE\t1800000060\ta\t1", "127.0.0.1\tFALSE\t/\tFALSE\t0\tb\t2", ""]
    let good = Array(lines.joined(separator: "\n").utf8)
    var damaged = 0
    for _ in 0..<1000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let cookies = try? CookieFileText.read(bytes, now: noon)
      if cookies == nil { damaged += 1 }
      for cookie in cookies ?? [] {
        let again = try? CookieFileText.read(CookieFileText.write([cookie]), now: noon)
        #expect(again?.map(\.key) == [cookie.key])
      }
    }
    #expect(damaged > 100)
  }
}
