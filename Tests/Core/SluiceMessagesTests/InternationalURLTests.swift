import SluiceMessages
import Testing

/// IRIs (RFC 3987), which are converted to URLs.
@Suite struct InternationalURLTests {
  /// A host encoder that knows one name, and libidn2's results for characters that look like others.
  private static let hosts = HostEncoder { host throws(HostEncoder.Failure) in
    switch host {
    case "bücher.example", "BÜCHER.example", "bücher。example": "xn--bcher-kva.example"
    case "bücher.example.": "xn--bcher-kva.example."
    case "１２７.0.0.1": "127.0.0.1"
    case "１２７.1": "127.1"
    case "good.example／.evil.example": "good.example/.evil.example"
    case "good.example＠evil.example": "good.example@evil.example"
    case "a．．b": "a..b"
    case "\u{AD}": ""
    default: throw HostEncoder.Failure("is not known")
    }
  }

  @Test(arguments: [
    ("http://bücher.example", "http://xn--bcher-kva.example"),
    ("HTTP://BÜCHER.example:81/ä?ö=ü#ß", "HTTP://xn--bcher-kva.example:81/%C3%A4?%C3%B6=%C3%BC#%C3%9F"),
    ("https://jürgen:pässwort@bücher.example/", "https://j%C3%BCrgen:p%C3%A4sswort@xn--bcher-kva.example/"),
    ("http://bücher。example/", "http://xn--bcher-kva.example/"),
    ("http://h/日本?😀", "http://h/%E6%97%A5%E6%9C%AC?%F0%9F%98%80"),
    ("http://h?ü@bücher.example/", "http://h?%C3%BC@b%C3%BCcher.example/"),
    ("http://h/%C3%A4ä", "http://h/%C3%A4%C3%A4"),
    ("http://h/e\u{301}é", "http://h/e%CC%81%C3%A9"), ("http://[::1]/ä", "http://[::1]/%C3%A4"),
  ])
  func `an IRI becomes the URL that it stands for`(_ iri: String, _ url: String) throws {
    #expect(try HTTPURL(iri, hosts: Self.hosts).string == url)
  }

  @Test func `a host beyond ASCII is the same host as its A-labels`() throws {
    let url = HTTPURL("http://XN--Bcher-KVA.example/")
    for iri in ["http://bücher.example/", "http://BÜCHER.example/", "http://bücher.example./"] {
      #expect(try HTTPURL(iri, hosts: Self.hosts).origin == url.origin)
    }
    #expect(url.host == "xn--bcher-kva.example")
  }

  @Test func `an address in fullwidth digits is the same address as in ASCII digits`() throws {
    #expect(try HTTPURL("http://１２７.0.0.1/", hosts: Self.hosts).host == "127.0.0.1")
    #expect(throws: MessageError.self) { try HTTPURL("http://１２７.1/", hosts: Self.hosts) }
  }

  @Test(arguments: [
    ("http://good.example／.evil.example/", "which is not a host"),
    ("http://good.example＠evil.example/", "which is not a host"),
    ("http://a．．b/", "two dots"), ("http://\u{AD}/", "names no host"), ("http://ß.example/", "is not known"),
    ("http://ü%41.example/", "ASCII character"), ("http://[ü]/", "IPv6"), ("http://h:８０/", "port"),
    ("http://a@b@bücher.example/", "two @"), ("http://" + String(repeating: "ü", count: 600), "1200 bytes"),
  ])
  func `an IRI with an invalid host or port is refused, and the error says why`(
    _ iri: String, _ reason: String
  ) throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL(iri, hosts: Self.hosts) }
    #expect(error.code == .invalidURL)
    #expect(error.reason.contains(reason), "\(error)")
  }

  @Test func `without an encoder, a host beyond ASCII is refused, and the error says how to write it`() throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL.init("http://bücher.example/") }
    #expect(
      error.reason
        == "its host \"bücher.example\" is not ASCII and is not converted here; write it with A-labels (xn--…)"
    )
    #expect(HTTPURL("http://h/ä").string == "http://h/%C3%A4")
  }

  @Test(arguments: [0x80, 0xFFFD, 0xFDD0, 0xFFFE, 0x1FFFF, 0x202E, 0x200E, 0x2028] as [UInt32])
  func `the error for a control, a direction mark or U+FFFD names its code point as a number`(_ value: UInt32) throws {
    let character = try #require(Unicode.Scalar(value))
    let number = String(value, radix: 16, uppercase: true)
    for iri in ["http://h/\(character)", "http://h\(character)/", "http://h/?\(character)", "http://h/#\(character)"] {
      let error = try #require(throws: MessageError.self) { try HTTPURL(iri, hosts: Self.hosts) }
      #expect(error.reason.contains("U+\(number.count < 4 ? "00" : "")\(number)"), "\(error)")
      #expect(!error.description.contains("\u{202E}"))
    }
  }

  @Test(arguments: [
    "http://ü:S3CRET@ß.example/", "http://u:ö@S3CRET@ß.example/", "http://ß.example/?ä=S3CRET",
    "http://ß.example/#S3CRET",
    "http://u:S3CRET@h/ü\u{202E}", "http://u:S3CRETü@/",
  ])
  func `an error about an IRI shows neither password nor query`(_ iri: String) throws {
    let error = try #require(throws: MessageError.self) { try HTTPURL(iri, hosts: Self.hosts) }
    #expect(!error.description.contains("S3CRET"), "\(error)")
  }

  @Test func `an IRI that is too long as a URL is refused`() throws {
    let iri = "http://h/" + String(repeating: "ü", count: 20_000)
    let error = try #require(throws: MessageError.self) { try HTTPURL(iri) }
    #expect(error.reason.contains("120009 bytes"))
  }
}
