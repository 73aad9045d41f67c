import SluiceMessages
import Testing

@testable import SluiceTransport

/// Which hosts `no_proxy` excludes from the proxy.
@Suite struct DirectHostsTests {
  private func isDirect(_ list: String, _ host: String) -> Bool {
    DirectHosts(list).contains(Origin(scheme: .http, host: host, port: 80))
  }

  @Test(arguments: [
    ("*", "example.com"), ("example.com", "example.com"), ("example.com", "api.example.com"),
    (".example.com", "example.com"), (".example.com", "api.example.com"), ("EXAMPLE.com", "example.com"),
    ("a.test,example.com", "example.com"), ("a.test , example.com,", "example.com"), (" , ,localhost", "localhost"),
    ("example.com,b.test c.test", "example.com"), ("127.0.0.1", "127.0.0.1"), ("*", "::1"),
    ("127.0.0.0/8", "127.0.0.1"), ("10.1.2.0/23", "10.1.3.4"), ("0.0.0.0/0", "8.8.8.8"), ("fd00::/8", "fdab::1"),
    ("[fd00::]/8", "fdab::1"), ("example.com.", "example.com"), ("[::1]", "::1"), ("::1", "::1"),
    ("0:0:0:0:0:0:0:1", "::1"), ("example.com:80", "example.com"), ("127.0.0.1:80", "127.0.0.1"), ("[::1]:80", "::1"),
    ("a.test example.com", "example.com"), ("a.test\t,b.test", "a.test"),
    ("::ffff:127.0.0.1", "::ffff:127.0.0.1"), ("127.0.0.1", "::ffff:127.0.0.1"),
  ])
  func `a host that an entry names is excluded`(_ list: String, _ host: String) {
    #expect(isDirect(list, host))
  }

  @Test(arguments: [
    ("", "example.com"), (",", "example.com"), (".", "example.com"), ("*,a.test", "example.com"),
    ("*.example.com", "api.example.com"), ("example.com", "badexample.com"), ("api.example.com", "example.com"),
    ("example.com", "example.com.test"), ("0.0.1", "127.0.0.1"), ("1", "127.0.0.1"),
    ("..example.com", "example.com"), (".127.0.0.1", "127.0.0.1"), ("example.com:81", "example.com"),
    ("[::1]:81", "::1"), ("10.1.2.0/23", "10.1.4.4"), ("127.0.0.0/33", "127.0.0.1"), ("127.0.0.0/-1", "127.0.0.1"),
    ("127.0.0.0/", "127.0.0.1"), ("fd00::/129", "fd00::1"), ("127.0.0.0/8", "::1"), ("example.com:x", "example.com"),
    ("example.com:65536", "example.com"), ("\u{212A}elvin.test", "kelvin.test"),
  ])
  func `every other host is reached through the proxy`(_ list: String, _ host: String) {
    #expect(!isDirect(list, host))
  }
}
