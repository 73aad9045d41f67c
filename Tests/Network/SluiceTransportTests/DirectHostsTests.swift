import Testing

@testable import SluiceCurl

/// Which hosts `no_proxy` certainly excludes.
@Suite struct DirectHostsTests {
  @Test(arguments: [
    ("*", "example.com"), ("example.com", "example.com"), ("example.com", "api.example.com"),
    (".example.com", "example.com"), (".example.com", "api.example.com"), ("EXAMPLE.com", "example.com"),
    ("a.test,example.com", "example.com"), ("a.test , example.com,", "example.com"), (" , ,localhost", "localhost"),
    ("example.com,b.test c.test", "example.com"),
    ("127.0.0.1", "127.0.0.1"), ("*", "::1"),
  ])
  func `a host that an entry names is excluded`(_ list: String, _ host: String) {
    #expect(DirectHosts(list).contains(host))
  }

  @Test(arguments: [
    ("", "example.com"), (",", "example.com"), (".", "example.com"), ("*,a.test", "example.com"),
    ("*.example.com", "api.example.com"), ("example.com", "badexample.com"), ("api.example.com", "example.com"),
    ("example.com", "example.com.test"), ("127.0.0.0/8", "127.0.0.1"), ("0.0.1", "127.0.0.1"), ("1", "127.0.0.1"),
    ("example.com.", "example.com"), ("[::1]", "::1"), ("example.com:80", "example.com"),
    ("a.test example.com", "example.com"), ("a.test b.test,127.0.0.1", "127.0.0.1"), ("a.test\t,b.test", "a.test"),
    ("..example.com", "example.com"), ("..example.com", "a.example.com"), (".127.0.0.1", "127.0.0.1"),
    ("::1", "::1"), ("::ffff:127.0.0.1", "::ffff:127.0.0.1"), ("\u{212A}elvin.test", "kelvin.test"),
  ])
  func `a host is left to libcurl if no entry names it in a form that each version knows`(
    _ list: String, _ host: String
  ) {
    #expect(!DirectHosts(list).contains(host))
  }
}
