import Sluice
import Testing

@testable import SluiceCommand

/// How `send -v` shows a head.
@Suite struct SentHeadTests {
  private static func lines(_ text: String, hiding hidden: Set<String> = []) -> [String] {
    var redaction = RedactionSettings()
    redaction.headers = ["x-key"]
    redaction.query = ["token"]
    return SentHead(Array(text.utf8), SecretMask(redaction), hiding: hidden).lines
  }

  @Test func `lines are shown in their order, without the empty line at the end`() {
    let head = "GET /a?b=c HTTP/1.1\r\nHost: h:1\r\nX-Empty:\r\nx-a: b: c\r\n\r\n"
    #expect(Self.lines(head) == ["GET /a?b=c HTTP/1.1", "Host: h:1", "X-Empty: ", "x-a: b: c"])
  }

  @Test func `secrets of the target and of fields are hidden`() {
    let head =
      "GET http://u:p@h/?sig=1&token=2&c=3 HTTP/1.1\r\nauthorization: a\r\nX-Key: b\r\nX-Marked: c\r\nCookie: d\r\n\r\n"
    #expect(
      Self.lines(head, hiding: ["x-marked"]) == [
        "GET http://REDACTED:REDACTED@h/?sig=REDACTED&token=REDACTED&c=3 HTTP/1.1", "authorization: REDACTED",
        "X-Key: REDACTED", "X-Marked: REDACTED", "Cookie: REDACTED",
      ])
  }

  @Test func `a head for a proxy is shown, but not the credentials in it`() {
    let head = "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic a\r\n\r\n"
    #expect(Self.lines(head) == ["CONNECT h:443 HTTP/1.1", "Host: h:443", "Proxy-Authorization: REDACTED"])
  }

  @Test(arguments: ["cret\r\nX-A: b\r\n\r\n", "", "\r\n", "a b c\r\n"])
  func `a text that is not the beginning of a head is not shown`(_ text: String) {
    #expect(Self.lines(text) == ["(\(text.utf8.count) more bytes of the head)"])
  }
}
