import SluicePlugin
import Testing

struct RedactionTests {
  @Test(arguments: [
    ("https://example.com/a?b=c", "https://example.com/a?b=c"),
    ("https://u:p@example.com:8443/a", "https://REDACTED:REDACTED@example.com:8443/a"),
    ("https://u@example.com", "https://REDACTED:REDACTED@example.com"),
    ("https://u:p@w@example.com/a@b", "https://REDACTED:REDACTED@example.com/a@b"),
    ("https://example.com/?mail=a@b", "https://example.com/?mail=a@b"),
    ("https://e.com/?X-Amz-Signature=s&b&Sig=&c=1", "https://e.com/?X-Amz-Signature=REDACTED&b&Sig=REDACTED&c=1"),
    ("https://e.com/?a=1#access_token=x", "https://e.com/?a=1"),
    ("https://e.com/?s%69g=x&s%4=y&%C3%A4=z", "https://e.com/?s%69g=REDACTED&s%4=y&%C3%A4=z"),
    ("/login?sig=1", "/login?sig=REDACTED"),
    ("", ""),
  ])
  func `a URL is shown without its secrets`(url: String, shown: String) {
    #expect(Redaction().url(url) == shown)
  }

  @Test func `additional secrets are hidden too, and their names are compared without regard to case`() {
    let redaction = Redaction(headers: ["X-Mine"], query: ["Token"])
    #expect(redaction.value("v", ofHeader: "x-mine") == "REDACTED")
    #expect(redaction.value("v", ofHeader: "COOKIE") == "REDACTED")
    #expect(redaction.value("v", ofHeader: "accept") == "v")
    #expect(redaction.value("https://a/?token=1", ofHeader: "Location") == "https://a/?token=REDACTED")
  }
}
