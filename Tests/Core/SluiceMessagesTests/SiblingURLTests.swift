import SluiceTestKit
import Testing

@testable import SluiceMessages

/// A sibling URL is parsed with the help of another URL of the same origin. The result must be the same as if the URL
/// is parsed alone.
@Suite struct SiblingURLTests {
  private static let first = [
    "http://h/", "http://127.0.0.1:18080/items/1", "https://user:word@h.example:8443/a?b=c", "http://[::1]:80/a",
    "http://h", "https://long-name.example.com/",
  ]

  private func expectSame(_ text: [UInt8], _ first: HTTPURL) -> Bool {
    guard let sibling = first.sibling(text.span) else { return false }
    let shown = PlainText.quote(text.span)
    guard let alone = try? HTTPURL(String(decoding: text, as: UTF8.self)) else {
      Issue.record("\(shown) is not a URL")
      return true
    }
    #expect(sibling == alone && sibling.origin == alone.origin && sibling.userInfo == alone.userInfo, "\(shown)")
    #expect(sibling.pathRange == alone.pathRange && sibling.queryRange == alone.queryRange, "\(shown)")
    #expect(sibling.isAt(alone.origin) && alone.isAt(first.origin))
    return true
  }

  @Test(arguments: first)
  func `a sibling of the same origin has the same parts as if it is parsed alone`(_ text: String)
    throws
  {
    let first = try HTTPURL(text)
    let start = text.utf8.prefix(first.pathRange.lowerBound)
    for rest in ["/", "/a", "/a/b/c/d/e/f/g/h", "/?", "/a?b=c", "/a?b=c?d=%20&e=/", "/12345678?12345678", "//x@y:z/"] {
      #expect(expectSame(Array(start) + Array(rest.utf8), first), "\(rest)")
    }
  }

  @Test(arguments: first)
  func `a text of another origin, or with special characters, is not read as a sibling`(_ text: String) throws {
    let first = try HTTPURL(text)
    let start = Array(text.utf8.prefix(first.pathRange.lowerBound))
    let long = "/" + String(repeating: "a", count: HTTPURL.maximumBytes)
    for rest in [
      "", "1/", ".example/", "?a", "#a", "/a#b", "/a?b#c", "/a b", "/a\\b", "/\u{7F}", "/ä", "/a?\n", "@h/", long,
    ] {
      #expect(first.sibling((start + Array(rest.utf8)).span) == nil, "\(rest.prefix(20))")
    }
    for place in start.indices {
      var other = start + Array("/a".utf8)
      other[place] ^= 1
      #expect(first.sibling(other.span) == nil)
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `if a random text is read as a sibling, the result is the same as if it is parsed alone`(_ seed: UInt64)
    throws
  {
    var random = SeededRandom(seed: seed)
    var readCount = 0
    for _ in 0..<2_000 {
      let first = try HTTPURL(try #require(Self.first.randomElement(using: &random)))
      var text = Array(first.string.utf8.prefix(first.pathRange.lowerBound)) + Array("/".utf8)
      for _ in 0..<Int.random(in: 0...30, using: &random) {
        text.append(Bool.random(using: &random) ? 0x61 : UInt8.random(in: 0x21...0x80, using: &random))
      }
      if expectSame(text, first) { readCount += 1 }
    }
    #expect(readCount > 100)
  }

  @Test func `two origins differ in scheme, host or port`() throws {
    let url = HTTPURL("http://h:443/")
    #expect(url.isAt(Origin(scheme: .http, host: "h", port: 443)))
    for other in [
      Origin(scheme: .https, host: "h", port: 443), Origin(scheme: .http, host: "h", port: 80),
      Origin(scheme: .http, host: "i", port: 443),
    ] {
      #expect(!url.isAt(other))
    }
  }
}
