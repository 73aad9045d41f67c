import SluiceIDNA
import SluiceMessages
import Testing

/// The results of libidn2 for hosts that URLs depend on.
@Suite struct HostEncoderTests {
  @Test(arguments: [
    ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
    ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("straße.example", "xn--strae-oqa.example"),
    ("ς.example", "xn--3xa.example"), ("日本語。example", "xn--wgv71a119e.example"),
    ("my_service.bücher.example", "my_service.xn--bcher-kva.example"), ("ü.XN--Bcher-KVA", "xn--tda.xn--bcher-kva"),
    ("ü\u{AD}x.example", "xn--x-dha.example"), ("１２７.0.0.1", "127.0.0.1"), ("bücher.example。", "xn--bcher-kva.example"),
    ("א1ב.example", "xn--1-zhce.example"),
  ])
  func `a host is converted to its A-labels`(_ host: String, _ labels: String) throws {
    #expect(try HTTPURL("http://\(host)/", hosts: .idna).host == labels)
  }

  @Test(arguments: [
    ("ü\u{3000}b.example", "not allowed in a name"), ("evil／.example", "not a host"), ("℀.example", "not a host"),
    ("a＠b.example", "not a host"),
    ("a\u{2019}‹.example", "not allowed in a name"), ("\u{378}.example", "not allowed in a name"),
    ("💩.example", "not allowed in a name"),
    ("a\u{200D}b.example", "joiner"), ("\u{301}a.example", "combining"), ("אaב.example", "directions"),
    ("1אב.example", "directions"), ("-ü.example", "hyphen"), ("ü-.example", "hyphen"), ("ab--ü.example", "hyphens"),
    ("xn--a.ü.example", "xn--"), ("xn--zzzzzz.ü.example", "xn--"), ("ü..example", "two dots"), (".ü", "two dots"),
    ("\u{AD}", "no host"), ("ü.0x7f", "IPv4"), ("１２７.1", "IPv4"),
    (String(repeating: "ü", count: 60) + ".example", "63 bytes"),
    (String(repeating: "ü", count: 500) + ".example", "bytes"),
    (String(repeating: "ü.", count: 100) + "example", "253 bytes"),
  ])
  func `an invalid internationalized name is refused`(_ host: String, _ reason: String) throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL("http://\(host)/", hosts: .idna) }
    #expect(error.code == .invalidURL)
    #expect(error.reason.contains(reason), "\(error)")
  }

  @Test func `the error for an invalid host names the host`() throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL("http://u:p@💩.example/?q", hosts: .idna) }
    #expect(
      error.description
        == "url \"…@💩.example/?…\": its host \"💩.example\" has a character that is not allowed in a name (RFC 5892)")
  }
}
