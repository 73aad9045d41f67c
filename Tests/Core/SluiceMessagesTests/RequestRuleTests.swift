import SluiceMessages
import Testing

/// The rules for a request before it is sent.
struct RequestRuleTests {
  @Test(arguments: [
    "example.com", "EXAMPLE.com.", "a_b.example:8080", "example.com:", "127.0.0.1", "127.0.0.1:80", "[::1]",
    "[::1]:8080", "h",
    "xn--mnchen-3ya.example",
  ])
  func `a request can have one Host, which may differ from the host of its URL`(_ host: String) throws {
    try request(["accept": "*/*", "hOsT": host]).validate()
  }

  @Test(arguments: [
    "", "a b", "a,b", "a, b", "a/", "http://a", "a@b", "user:pw@a", "a:0", "a:65536", "a:x", "a:80:80", ":80", "[::1",
    "::1", "[::g]",
    "[fe80::1%25eth0]", "a..b", ".", "a?b", "a#b", "127.1", "0x7f.0.0.1", "1.2.3.256", "a\tb", "ä", "a\\b", "a%2eb",
  ])
  func `a Host that two readers could read as different hosts is refused`(_ host: String) throws {
    let error = try #require(throws: MessageError.self) { try request(["host": host]).validate() }
    #expect(error.code == .invalidHeader && error.subject == "header \"host\"", "\(error)")
    #expect(error.reason.contains("expected a host"), "\(error)")
  }

  @Test(arguments: [["a", "a"], ["a", "b"], ["a", ""], ["", "a"], ["a", "b", "c"]])
  func `a second Host is refused, even if it is equal to the first`(_ hosts: [String]) throws {
    var headers = HeaderFields()
    for (number, host) in hosts.enumerated() {
      headers.append(number % 2 == 0 ? "Host" : "host", host)
      headers.append("x-between", "y")
    }
    let error = try #require(throws: MessageError.self) { try request(headers).validate() }
    #expect(error.code == .invalidHeader && error.reason.contains("more than one"), "\(error)")
  }

  @Test func `an error about a Host shows no password`() throws {
    let error = try #require(throws: MessageError.self) { try request(["host": "user:S3CRET@a"]).validate() }
    #expect(!error.description.contains("S3CRET"))
  }

  @Test(arguments: ["CONNECT", "connect", "Connect"])
  func `CONNECT is refused, and the error names it`(_ method: String) throws {
    let error = try #require(throws: MessageError.self) {
      try Request(method: method, url: HTTPURL("http://h/")).validate()
    }
    #expect(error.code == .invalidMethod)
    #expect(error.description.contains("\"\(method)\"") && error.description.contains("transport.proxy"), "\(error)")
  }

  @Test(arguments: ["GET", "CONNECTED", "RECONNECT", "CONNEC", "OPTIONS", "TRACE"])
  func `methods that only resemble CONNECT are not refused`(_ method: String) throws {
    try Request(method: method, url: HTTPURL("http://h/")).validate()
  }

  private func request(_ headers: HeaderFields) throws -> Request {
    Request(url: HTTPURL("http://example.com/"), headers: headers)
  }
}
