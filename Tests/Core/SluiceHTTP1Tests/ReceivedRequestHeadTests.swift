import SluiceMessages
import Testing

@testable import SluiceHTTP1

/// The strict reader of request heads (RFC 9112 §3, §5, §6).
@Suite struct ReceivedRequestHeadTests {
  /// What the reader has found in one request.
  private struct Facts: Hashable {
    var method = ""
    var target = ""
    var host: String?
    var form = RequestTarget.Form.origin
    var version = HTTPVersion.http11
    var fields: [String] = []
    var framing = RequestFraming.Body.none
    var expectation = ReceivedRequestHead.Expectation.none
    var hasUpgrade = false
    var endsConnection = false
    var body = ""
    var trailers: [String] = []
    /// The bytes after the request.
    var rest = ""
  }

  private static func text(_ range: Range<Int>, _ bytes: [UInt8]) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// Reads a request that arrives in pieces of one size. Returns nil if it is not complete.
  private static func read(_ text: String, _ pieceSize: Int, _ limits: MessageLimits) throws(RequestViolation) -> Facts?
  {
    let head = ReceivedRequestHead(limits)
    var facts = Facts()
    var body: ReceivedBody?
    var held: [UInt8] = []
    var left = Array(text.utf8)[...]
    while !left.isEmpty {
      held += left.prefix(pieceSize)
      left = left.dropFirst(pieceSize)
      if body == nil, try head.read(held.span) {
        (facts.method, facts.target) = (Self.text(head.method, held), Self.text(head.target, held))
        facts.host = head.host.map { Self.text($0, held) }
        (facts.form, facts.version, facts.framing) = (head.form, head.version, head.body)
        (facts.expectation, facts.hasUpgrade) = (head.expectation, head.hasUpgrade)
        facts.endsConnection = head.endsConnection
        facts.fields = lines(of: head.takeFields(from: held.span))
        held.removeFirst(head.byteCount)
        body = ReceivedBody(head.body, limits)
      }
      guard body != nil else { continue }
      var position = 0
      do throws(MessageViolation) {
        while let piece = try body?.next(in: held.span, at: &position) { facts.body += Self.text(piece, held) }
      } catch { throw RequestViolation(error) }
      held.removeFirst(position)
      if let body, body.isDone {
        facts.trailers = lines(of: body.trailers)
        facts.rest = String(decoding: held + left, as: UTF8.self)
        return facts
      }
    }
    return nil
  }

  /// Reads the request in pieces of each size; there must be one result.
  private func result(
    _ text: String, _ limits: MessageLimits = MessageLimits()
  ) throws -> Result<Facts?, RequestViolation> {
    let results = pieceSizes.map { size in
      do throws(RequestViolation) {
        return Result<Facts?, RequestViolation>.success(try Self.read(text, size, limits))
      } catch {
        // A reason can quote what has arrived.
        return .failure(RequestViolation(error.status, ""))
      }
    }
    #expect(Set(results).count == 1, "the size of the pieces changes the result: \(results)")
    return try #require(results.first)
  }

  private func facts(_ text: String) throws -> Facts { try #require(try result(text).get()) }

  private func status(_ text: String, _ limits: MessageLimits = MessageLimits()) throws -> Int? {
    switch try result(text, limits) {
    case .success: nil
    case .failure(let violation): violation.status
    }
  }

  @Test func `method, target, version and fields come from the head`() throws {
    let facts = try facts(
      "PUT /a%20b?c=d HTTP/1.1\r\nHost: example.com:8080\r\nX-A:1\r\nX-B: \t2 \r\nContent-Length: 2\r\n\r\nhiGET")
    #expect(facts.method == "PUT" && facts.target == "/a%20b?c=d" && facts.form == .origin && facts.version == .http11)
    #expect(facts.host == "example.com:8080")
    #expect(facts.fields == ["Host: example.com:8080", "X-A: 1", "X-B: 2", "Content-Length: 2"])
    #expect(facts.framing == .length(2) && facts.body == "hi" && facts.rest == "GET" && !facts.endsConnection)
  }

  @Test func `a chunked body has trailers, and ends where it says`() throws {
    let facts = try facts(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-T: 1\r\n\r\nPOST")
    #expect(facts.framing == .chunked && facts.body == "abc" && facts.trailers == ["X-T: 1"] && facts.rest == "POST")
  }

  @Test(arguments: [
    ("GET /", RequestTarget.Form.origin), ("GET /?", .origin), ("OPTIONS *", .asterisk),
    ("OPTIONS /", .origin),
    ("GET http://example.com", .absolute), ("GET https://example.com:8443/a?b", .absolute),
    ("CONNECT example.com:443", .authority), ("CONNECT [::1]:443", .authority), ("M-SEARCH /", .origin),
    ("GET //host/a", .origin), ("GET /a;b", .origin), ("GET /a//b", .origin), ("GET /%2e%2E/a", .origin),
    ("GET /a{|}^`\"<>", .origin),
  ])
  func `a target has one of four forms`(_ start: String, _ form: RequestTarget.Form) throws {
    let facts = try facts("\(start) HTTP/1.1\r\nHost: example.com\r\n\r\n")
    #expect(facts.form == form && "\(facts.method) \(facts.target)" == start)
  }

  @Test(arguments: [
    "GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n",
    "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "GET / HTTP/1.1\r\nX-A: a\r\n\tb\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX-A\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\rX-A: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX-A: \u{1}\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX-A: \u{7F}\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX-A: a\0b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX-\u{E4}: a\r\n\r\n",
  ])
  func `fields are read without leniency`(_ text: String) throws {
    #expect(try status(text) == 400)
  }

  @Test(arguments: [
    "GET /", "GET", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1", "GET\t/ HTTP/1.1",
    "GET /a b HTTP/1.1", "GET / http/1.1", "GET / HTTP/1.", "GET / HTTP/1.10", "GET / HTTP/11", "GET / HTTP/x.1",
    "G(T / HTTP/1.1", "GET /\u{7F} HTTP/1.1", "GET /\u{E4} HTTP/1.1", "GET /a#b HTTP/1.1", "GET /a\\b HTTP/1.1",
    "GET /\u{1} HTTP/1.1", "GET a HTTP/1.1", "GET * HTTP/1.1", "GET ?a HTTP/1.1", "GET ftp://a/ HTTP/1.1",
    "GET http:// HTTP/1.1", "GET http://u@a/ HTTP/1.1", "GET http://u:p@a/ HTTP/1.1", "GET http://a b/ HTTP/1.1",
    "GET a:80 HTTP/1.1", "CONNECT a HTTP/1.1", "CONNECT /a HTTP/1.1", "CONNECT u@a:1 HTTP/1.1", "CONNECT a:b HTTP/1.1",
    "CONNECT http://a/ HTTP/1.1", "\u{16}\u{3}\u{1}", "\r\n\r\nGET / HTTP/1.1", "\n GET / HTTP/1.1", "",
  ])
  func `a request line that is malformed or ambiguous is refused`(_ line: String) throws {
    #expect(try status("\(line)\r\nHost: a\r\n\r\n") == 400)
  }

  @Test(arguments: ["/a/..%2Fb", "/a/..;/b", "/a//../b", "/..%5Cb", "http://example.com/a/..%2Fb"])
  func `a path that leads to different places is refused`(_ target: String) throws {
    #expect(try status("GET \(target) HTTP/1.1\r\nHost: example.com\r\n\r\n") == 400)
  }

  @Test(arguments: ["GET / HTTP/2.0", "GET / HTTP/0.9", "PRI * HTTP/2.0"])
  func `another version is refused with 505`(_ line: String) throws {
    #expect(try status("\(line)\r\nHost: a\r\n\r\n") == 505)
  }

  @Test(arguments: [
    "", "Host:\r\n", "Host: a\r\nHost: a\r\n", "Host: a\r\nHost: b\r\n", "Host: u@a\r\n", "Host: a/b\r\n",
    "Host: a b\r\n",
    "Host: a:b\r\n", "Host: a, b\r\n", "Host: http://a\r\n", "Host: a:99999\r\n",
  ])
  func `a request has one Host`(_ fields: String) throws {
    #expect(try status("GET / HTTP/1.1\r\n\(fields)\r\n") == 400)
    #expect(try status("GET http://a/ HTTP/1.1\r\n\(fields)\r\n") == 400)
  }

  @Test func `HTTP 1.0 needs no Host, and ends the connection unless it asks to keep it`() throws {
    let old = try facts("GET / HTTP/1.0\r\n\r\n")
    #expect(old.version == .http10 && old.host == nil && old.endsConnection)
    #expect(try facts("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").endsConnection == false)
    #expect(try facts("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n").endsConnection)
    #expect(try facts("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n").endsConnection)
    #expect(try facts("GET / HTTP/1.7\r\nHost: a\r\n\r\n").version == .http11)
  }

  @Test(arguments: [
    ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400), ("Content-Length: 1\r\nContent-Length: 2\r\n", 400),
    ("Content-Length: 1, 2\r\n", 400), ("Content-Length: +1\r\n", 400), ("Content-Length: -1\r\n", 400),
    ("Content-Length: 1x\r\n", 400), ("Content-Length: 0x1\r\n", 400), ("Content-Length:\r\n", 400),
    ("Content-Length: 99999999999999999999\r\n", 400), ("Transfer-Encoding: gzip\r\n", 400),
    ("Transfer-Encoding: identity\r\n", 400), ("Transfer-Encoding: chunked, gzip\r\n", 400),
    ("Transfer-Encoding: chunked, chunked\r\n", 400), ("Transfer-Encoding: xchunked\r\n", 400),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400), ("Transfer-Encoding: \"chunked\"\r\n", 400),
    ("Transfer-Encoding: gzip, chunked\r\n", 501),
  ])
  func `a body whose end is ambiguous is refused`(_ fields: String, _ expected: Int) throws {
    #expect(try status("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n0\r\n\r\n") == expected)
  }

  // CVE-2026-2835: Pingora read such a body until the connection ended.
  @Test func `a transfer coding in HTTP 1.0 is refused`() throws {
    #expect(try status("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 400)
  }

  @Test func `equal lengths are one length`() throws {
    #expect(try facts("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2, 2\r\n\r\nhi").body == "hi")
  }

  @Test(arguments: [
    "1\nx\r\n0\r\n\r\n", "1\r\nx\n0\r\n\r\n", "0\r\nX-A: 1\n\r\n", "0\r\nX-A: 1\r\n 2\r\n\r\n",
    "0\r\nX-A: a\u{13}b\r\n\r\n", "1;a=\u{13}\r\nx\r\n0\r\n\r\n", "0\r\n\n", "x\r\n",
  ])
  func `chunks and trailers are read without leniency`(_ body: String) throws {
    #expect(try status("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)") == 400)
  }

  @Test func `an expectation is noted only if a body follows`() throws {
    func request(_ line: String, _ fields: String) -> String { "\(line)\r\nHost: a\r\n\(fields)\r\n" }
    let length = "Content-Length: 1\r\n"
    #expect(try facts(request("PUT / HTTP/1.1", "Expect: 100-Continue\r\n\(length)") + "x").expectation == .continue)
    #expect(try facts(request("PUT / HTTP/1.1", "Expect: 100-continue\r\n")).expectation == .none)
    #expect(try facts(request("PUT / HTTP/1.0", "Expect: 100-continue\r\n\(length)") + "x").expectation == .none)
    #expect(try status(request("PUT / HTTP/1.1", "Expect: 200-ok\r\n\(length)") + "x") == 417)
    #expect(try status(request("PUT / HTTP/1.1", "Expect: x\r\nExpect: 100-continue\r\n\(length)") + "x") == 417)
  }

  @Test func `a wish for another protocol is noted`() throws {
    let facts = try facts("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw")
    #expect(facts.hasUpgrade && facts.rest == "raw")
  }

  @Test func `one empty line before a request is skipped`() throws {
    let facts = try facts("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(facts.method == "GET" && facts.host == "a" && facts.fields == ["Host: a"])
  }

  @Test func `a head has limits`() throws {
    var limits = MessageLimits()
    (limits.targetBytes, limits.headBytes, limits.fields) = (100, 400, 3)
    func get(_ target: Int, _ fields: String = "") -> String {
      "GET /\(String(repeating: "a", count: target - 1)) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }
    #expect(try status(get(100), limits) == nil)
    #expect(try status(get(200), limits) == 414)
    #expect(try status(String(repeating: "a", count: 200), limits) == 414)
    #expect(try status(get(1, "A: b\r\nC: d\r\n"), limits) == nil)
    #expect(try status(get(1, "A: b\r\nC: d\r\nE: f\r\n"), limits) == 431)
    #expect(try status(get(1, "A: \(String(repeating: "b", count: 400))\r\n"), limits) == 431)
  }

  @Test func `one reader reads all requests of a connection`() throws {
    let head = ReceivedRequestHead()
    let first = Array("\r\nOPTIONS * HTTP/1.0\r\nExpect: 100-continue\r\nUpgrade: x\r\nConnection: close\r\n\r\n".utf8)
    let second = Array("GET / HTTP/1.1\r\nHost: b\r\n\r\n".utf8)
    #expect(try head.read(first.span))
    head.begin()
    #expect(try head.read(second.span))
    #expect(head.form == .origin && head.version == .http11 && !head.hasUpgrade && !head.endsConnection)
    #expect(
      head.host.map { Self.text($0, second) } == "b" && lines(of: head.takeFields(from: second.span)) == ["Host: b"])
  }
}
