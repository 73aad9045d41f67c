import SluiceServer
import SluiceTestServers
import Testing

/// Heads that two readers could read as different requests. Request smuggling depends on such heads.
@Suite struct RequestHeadTests {
  private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

  /// Sends a request with these fields and this body, followed by a smuggled request. Returns the server's responses up
  /// to the end of the connection.
  private func answers(
    _ fields: String, _ body: String = "", method: String = "POST", version: String = "HTTP/1.1",
    on server: LoopbackServer
  ) throws -> [String] {
    let client = try RawClient(port: server.port)
    let head = "\(method) /first \(version)\r\nHost: x\r\nConnection: keep-alive\r\n\(fields)\r\n\r\n"
    try client.send(head + body + Self.smuggled)
    let text = String(decoding: try client.readToEnd(), as: UTF8.self)
    return text.split(separator: "HTTP/1.1 ").map(String.init)
  }

  @Test(arguments: [
    ("Content-Length: 0\r\nContent-Length: 35", "", "differ: 0 and 35"),
    ("Content-Length: 2\r\nContent-Length: 5", "hi", "differ: 2 and 5"),
    ("Content-Length: 2\r\nContent-Length: 2x", "hi", "\"2x\""),
    ("Content-Length: 2\r\nContent-Length: +2", "hi", "\"+2\""),
    ("Content-Length: 2\r\nContent-Length: 2, 5", "hi", "differ: 2 and 5"),
    ("Content-Length: 50\r\nTransfer-Encoding: chunked", "0\r\n\r\n", "both a Content-Length"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 0", "0\r\n\r\n", "both a Content-Length"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 2x", "0\r\n\r\n", "\"2x\""),
    ("Host: other.example", "", "more than one Host"),
    ("Transfer-Encoding: gzip", "", "not chunked"), ("Transfer-Encoding: identity", "", "not chunked"),
    ("Transfer-Encoding: xchunked", "0\r\n\r\n", "not chunked"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n", "\"identity\" after chunked"),
    ("Transfer-Encoding: chunked, chunked", "0\r\n\r\n", "chunked twice"),
    ("Transfer-Encoding:\r\n chunked", "0\r\n\r\n", "folded"), ("Content-Length:\r\n 35", "", "folded"),
    ("Content-Length: 3\r\n 5", "", "folded"), ("Transfer-Encoding: chunked\r\n , gzip", "0\r\n\r\n", "not a token"),
    ("Content-Length : 35", "", "\"Content-Length \""), ("Transfer-Encoding : chunked", "0\r\n\r\n", "not a token"),
    ("Content-Length\t: 35", "", "not a token"), ("X(Y): a", "", "not a token"),
    ("X: a\rContent-Length: 35", "", "CR, LF or NUL"),
  ])
  func `an ambiguous head is refused, and no request after it is executed`(
    _ fields: String, _ body: String, _ words: String
  ) throws {
    let server = try LoopbackServer()
    for method in ["POST", "GET"] {
      let answers = try answers(fields, body, method: method, on: server)
      #expect(answers.count == 1 && answers[0].hasPrefix("400 "), "\(method): \(answers)")
      #expect(answers.first?.contains(words) == true, "\(answers)")
      #expect(answers.first?.contains("\r\nConnection: close\r\n") == true, "\(answers)")
    }
    #expect(server.requestCount == 0)
  }

  @Test(arguments: ["2, 5", "2x", "+2", "-2", "", "2 2", "0x2", "10000000000000000000002", "18446744073709551618"])
  func `a request with a length that is not a number is refused, and the connection is closed`(
    _ length: String
  ) throws {
    let server = try LoopbackServer()
    let answers = try answers("Content-Length: \(length)", "hi", on: server)
    // Libmicrohttpd itself refuses these lengths, and would write the head of its answer twice.
    #expect(answers.count == 1 && ["400 ", "413 "].contains { answers[0].hasPrefix($0) }, "\(answers)")
    #expect(answers.first?.contains("\r\nConnection: close\r\n") == true, "\(answers)")
    #expect(answers.first?.contains("<html>") == false, "\(answers)")
    #expect(server.requestCount == 0)
  }

  @Test func `a chunked body in HTTP 1.0 is refused`() throws {
    let server = try LoopbackServer()
    let answers = try answers("Transfer-Encoding: chunked", "0\r\n\r\n", version: "HTTP/1.0", on: server)
    #expect(answers.count == 1 && answers[0].hasPrefix("400 ") && answers[0].contains("HTTP/1.0"), "\(answers)")
    #expect(server.requestCount == 0)
  }

  @Test func `a transfer coding that the server does not know is answered with 501`() throws {
    let server = try LoopbackServer()
    for fields in ["Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"] {
      let answers = try answers(fields, "0\r\n\r\n", on: server)
      #expect(answers.count == 1 && answers[0].hasPrefix("501 "), "\(answers)")
    }
    #expect(server.requestCount == 0)
  }

  @Test(arguments: [
    ("Content-Length: 2\r\nContent-Length: 2", "hi"), ("Content-Length: 2\r\ncontent-length: 02", "hi"),
    ("Content-Length: 2\r\nContent-Length: 2, 2", "hi"), ("Transfer-Encoding: Chunked", "2\r\nhi\r\n0\r\n\r\n"),
  ])
  func `equal lengths count as one length, and the next request is answered`(
    _ fields: String, _ body: String
  ) throws {
    let server = try LoopbackServer()
    let client = try RawClient(port: server.port)
    try client.send(
      "POST /first HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n\(body)GET /second HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.readResponse().status == 200)
    #expect(try client.readResponse().status == 200)
    #expect(server.requests.map(\.path) == ["/first", "/second"])
    #expect(server.requests.map(\.body) == [Array("hi".utf8), []])
  }

  @Test func `the program that runs the server sets the text of the refusal`() throws {
    var options = ServerOptions()
    options.headRefusal = { .text("own words: \($0.reason)", status: $0.status) }
    let server = try LoopbackServer(options: options)
    let answers = try answers("Content-Length: 1\r\nContent-Length: 2", on: server)
    #expect(answers.count == 1 && answers[0].contains("own words: two values of Content-Length"), "\(answers)")
  }

  @Test func `if a body is refused before it was read, the connection is closed`() throws {
    var options = ServerOptions()
    options.maximumBodyBytes = 10
    let server = try LoopbackServer(options: options)
    let answers = try answers("Content-Length: 35", on: server)
    #expect(answers.count == 1 && answers[0].hasPrefix("413 "), "\(answers)")
    #expect(server.requestCount == 0)
  }
}
