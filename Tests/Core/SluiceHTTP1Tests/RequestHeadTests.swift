import SluiceMessages
import Testing

@testable import SluiceHTTP1

@Suite struct RequestHeadTests {
  private func head(
    _ url: String = "http://example.com/a", method: String = "GET", fields: HeaderFields = HeaderFields(),
    defaults: RequestHead.Defaults = RequestHead.Defaults(accept: nil), omitting omitted: DefaultFields = [],
    framing: RequestHead.Framing = .none
  ) throws -> String {
    let url = try HTTPURL(url)
    var bytes: [UInt8] = []
    RequestHead.append(
      to: &bytes, method: method, url: url, RequestHead.Preamble(url.origin, defaults), omitting: omitted, fields,
      framing)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("http://example.com", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    ("http://example.com?a=b", "GET /?a=b HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    ("http://example.com/a/../b?c#d", "GET /a/../b?c HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    ("http://EXAMPLE.com:8080/a", "GET /a HTTP/1.1\r\nHost: example.com:8080\r\n\r\n"),
    ("https://example.com:443/a", "GET /a HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    ("http://u:p@[::1]:80/a#f", "GET /a HTTP/1.1\r\nHost: [::1]\r\n\r\n"),
    ("http://example.com/?", "GET /? HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    ("http://example.com#f", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
  ])
  func `the request target and the Host field come from the URL`(_ url: String, _ expected: String) throws {
    #expect(try head(url) == expected)
  }

  @Test func `fields keep their order and the spelling of their names`() throws {
    let fields: HeaderFields = ["X-A": "1", "x-b": "", "X-A": "two words", "accept": "text/html"]
    #expect(
      try head(fields: fields, defaults: RequestHead.Defaults(codings: "gzip", agent: "test"))
        == "GET /a HTTP/1.1\r\nHost: example.com\r\nAccept-Encoding: gzip\r\nUser-Agent: test\r\nX-A: 1\r\nx-b:\r\n"
        + "X-A: two words\r\naccept: text/html\r\n\r\n")
  }

  @Test func `a field of the request replaces a default field`() throws {
    let fields: HeaderFields = ["ACCEPT": "a", "User-agent": "b", "accept-encoding": "c", "HOST": "other:1"]
    #expect(
      try head(fields: fields, defaults: RequestHead.Defaults(codings: "gzip", agent: "test"))
        == "GET /a HTTP/1.1\r\nHost: other:1\r\nACCEPT: a\r\nUser-agent: b\r\naccept-encoding: c\r\n\r\n")
  }

  @Test func `a default field that the options omit is not sent`() throws {
    let defaults = RequestHead.Defaults(codings: "gzip", agent: "test")
    #expect(
      try head(defaults: defaults)
        == "GET /a HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nUser-Agent: test\r\n\r\n")
    #expect(
      try head(fields: ["accept": "a"], defaults: defaults, omitting: [.accept, .userAgent])
        == "GET /a HTTP/1.1\r\nHost: example.com\r\nAccept-Encoding: gzip\r\naccept: a\r\n\r\n")
  }

  @Test(arguments: [
    "Range", "if-match", "If-None-Match", "if-range", "If-Modified-Since", "if-unmodified-since",
  ])
  func `a request that is about one representation asks for no content coding by itself`(_ name: String) throws {
    let defaults = RequestHead.Defaults(codings: "gzip", agent: nil)
    let start = "GET /a HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n"
    #expect(try head(fields: [name: "x"], defaults: defaults) == start + "\(name): x\r\n\r\n")
    #expect(
      try head(fields: [name: "x", "accept-encoding": "br"], defaults: defaults)
        == start + "\(name): x\r\naccept-encoding: br\r\n\r\n")
    #expect(
      try head(method: "HEAD", defaults: defaults) == "HEAD /a HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n\r\n")
  }

  @Test func `fields that frame the message or belong to the connection are not sent`() throws {
    let fields: HeaderFields = [
      "Content-Length": "7", "Transfer-Encoding": "chunked", "Connection": "close", "TE": "trailers", "X-A": "1",
      "Keep-Alive": "5", "Upgrade": "h2c", "Expect": "100-continue",
    ]
    #expect(try head(fields: fields) == "GET /a HTTP/1.1\r\nHost: example.com\r\nX-A: 1\r\n\r\n")
  }

  @Test(arguments: [
    (RequestHead.Framing.none, ""), (.length(0), "Content-Length: 0\r\n"),
    (.length(.max), "Content-Length: 9223372036854775807\r\n"),
    (.chunked, "Transfer-Encoding: chunked\r\n"),
  ])
  func `the framing field is the last field`(_ framing: RequestHead.Framing, _ line: String) throws {
    #expect(
      try head(method: "POST", fields: ["X-A": "1"], framing: framing)
        == "POST /a HTTP/1.1\r\nHost: example.com\r\nX-A: 1\r\n\(line)\r\n")
  }

  @Test func `an Expect field is sent with a body, and is reported`() throws {
    let url = HTTPURL("http://example.com/")
    var bytes: [UInt8] = []
    let facts = RequestHead.append(
      to: &bytes, method: "PUT", url: url, RequestHead.Preamble(url.origin, RequestHead.Defaults(accept: nil)),
      ["Expect": "100-continue"], .length(3))
    #expect(facts.contains(.expectsContinue))
    #expect(String(decoding: bytes, as: UTF8.self).contains("\r\nExpect: 100-continue\r\n"))
  }
}
