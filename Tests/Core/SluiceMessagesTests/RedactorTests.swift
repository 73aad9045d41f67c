import SluiceMessages
import Testing

@Suite struct RedactorTests {
  private static let secrets = Redactor(query: ["token"])

  @Test(arguments: [
    ("http://u:S3CRET@h/a?x=1&token=S3CRET#S3CRET", "http://REDACTED:REDACTED@h/a?x=1&token=REDACTED"),
    ("http://u:S3CRET@h", "http://REDACTED:REDACTED@h"), ("//u@h/a@b", "//REDACTED:REDACTED@h/a@b"),
    ("/a?TOKEN=S3CRET", "/a?TOKEN=REDACTED"), ("?to%6ben=S3CRET&a", "?to%6ben=REDACTED&a"), ("/a@b", "/a@b"),
    ("/a?tokens=1", "/a?tokens=1"),
    (
      "/a?Access_Token=S3CRET&client_secret=S3CRET&api_key=S3CRET&password=S3CRET&page=2",
      "/a?Access_Token=REDACTED&client_secret=REDACTED&api_key=REDACTED&password=REDACTED&page=2"
    ),
  ])
  func `a URL is shown without its secrets`(_ url: String, _ shown: String) {
    #expect(Self.secrets.url(url) == shown)
  }

  @Test func `a secret is hidden at any place in a URL`() {
    for count in 0...20 {
      let path = "/" + String(repeating: "a", count: count)
      #expect(Self.secrets.url(path) == path)
      #expect(Self.secrets.url("\(path)?token=S3CRET") == "\(path)?token=REDACTED")
      #expect(Self.secrets.url("\(path)#S3CRET") == path)
      #expect(Self.secrets.url("http://\(path.dropFirst())@h/") == "http://REDACTED:REDACTED@h/")
    }
  }

  @Test(arguments: [
    ("/a?\u{301}&token=S3CRET", "/a?\u{301}&token=REDACTED"),
    ("/a?x=1&\u{301}=2&token=S3CRET", "/a?x=1&\u{301}=2&token=REDACTED"),
    ("/a?token=\u{301}S3CRET", "/a?token=REDACTED"), ("/a#\u{301}S3CRET", "/a"),
    ("/a?x#\u{301}S3CRET", "/a?x"), ("http://u:S3CRET@\u{301}h/", "http://REDACTED:REDACTED@\u{301}h/"),
    ("http:/\u{338}/u:S3CRET@h/", "http:/\u{338}/u:S3CRET@h/"),
    ("http://\u{338}u:S3CRET@h/", "http://REDACTED:REDACTED@h/"),
    ("http://h\u{301}/\u{338}?%74oken=S3CRET", "http://h\u{301}/\u{338}?%74oken=REDACTED"),
    ("/a?%\u{301}74oken=1&token=S3CRET", "/a?%\u{301}74oken=1&token=REDACTED"),
  ])
  func `a delimiter is recognized even if a combining mark follows it`(_ url: String, _ shown: String) {
    #expect(Self.secrets.url(url) == shown)
  }
}
