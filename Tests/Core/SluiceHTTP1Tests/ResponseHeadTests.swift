import SluiceMessages
import Testing

@testable import SluiceHTTP1

@Suite struct ResponseHeadTests {
  private func reading(_ text: String, method: String = "GET") throws -> Reading {
    #expect(readings(text, method: method).count == 1, "the size of the pieces changes the result")
    return try read(text, pieceSize: .max, method: method)
  }

  private func violation(_ text: String, _ limits: MessageLimits = MessageLimits()) -> MessageViolation? {
    let all = readings(text, limits)
    #expect(all.count == 1, "the size of the pieces changes the result: \(all)")
    guard case .failure(let violation) = all.first else { return nil }
    return violation
  }

  @Test func `status, version and fields come from the head`() throws {
    let reading = try reading(
      "HTTP/1.1 201 Created\r\nServer: x\r\nX-A: 1\r\nx-a:2\r\nX-Empty:\r\nX-Wide: \t two words \t\r\nContent-Length: 2\r\n\r\nhi"
    )
    #expect(reading.statuses == [201])
    #expect(reading.version == .http11)
    #expect(
      reading.fields == [
        "Server: x", "X-A: 1", "x-a: 2", "X-Empty: ", "X-Wide: two words", "Content-Length: 2",
      ])
    #expect(reading.framing == .length(2) && reading.body == "hi" && reading.isComplete && !reading.endsConnection)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.1 200 Not what you think", "HTTP/1.0 200 OK",
    "HTTP/1.7 200 OK",
  ])
  func `a status line without a reason phrase is accepted`(_ line: String) throws {
    #expect(try reading(line + "\r\nContent-Length: 0\r\n\r\n").statuses == [200])
  }

  @Test(arguments: [
    "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 2x0 OK",
    "HTTP/1.1", "HTTP/1.1 200OK", "HTTP/1.12 200 OK", "HTTP/1.1 -20 OK",
  ])
  func `a status line that is malformed or ambiguous is refused`(_ line: String) {
    #expect(violation(line + "\r\nContent-Length: 0\r\n\r\n")?.kind == .invalid)
  }

  @Test(arguments: [
    "HTTP/2 200 OK", "HTTP/0.9 200 OK", "http/1.1 200 OK", "ICY 200 OK", "SSH-2.0-OpenSSH", "\r\nHTTP/1.1 200 OK",
    " HTTP/1.1 200 OK", "HTTP/1.x 200 OK", "\u{16}\u{3}\u{1}", "220 smtp.example ready", "<html>",
  ])
  func `another protocol is recognized by its first bytes`(_ line: String) {
    #expect(violation(line + "\r\nContent-Length: 0\r\n\r\n")?.kind == .notHTTP)
  }

  @Test(arguments: [
    "X-A: 1\nContent-Length: 2\n\nhi", "X-A: 1\r\nContent-Length: 2\r\n\nhi", "X-A: 1\nContent-Length: 2\r\n\r\nhi",
  ])
  func `a LF alone ends a line`(_ fields: String) throws {
    let reading = try reading("HTTP/1.1 200 OK\n" + fields)
    #expect(reading.fields == ["X-A: 1", "Content-Length: 2"] && reading.body == "hi")
  }

  @Test(arguments: [
    ("X-A: 1\r\n 2", ["X-A: 1 2"]), ("X-A: 1\r\n\t2\r\n  3", ["X-A: 1 2 3"]), ("X-A:\r\n 1", ["X-A: 1"]),
    ("X-A: 1\r\n \r\n 2", ["X-A: 1 2"]), ("X-A:1\r\n 2\r\nX-B: 3", ["X-A: 1 2", "X-B: 3"]),
    ("X-B: 3\r\nX-A: 1\r\n 2\r\nX-C:4\r\n 5\r\n 6", ["X-B: 3", "X-A: 1 2", "X-C: 4 5 6"]),
  ])
  func `a folded field is read as one field`(_ fields: String, _ expected: [String]) throws {
    #expect(try reading("HTTP/1.1 204 No Content\r\n\(fields)\r\n\r\n").fields == expected)
  }

  @Test(arguments: [
    "X-A: a\rb", "X-A: a\r\rb", "X-A: a\0b", "X-A\0: a", "X-A : a", "X A: a", ": a", "X-A", "X-A\t: a", "X-Ä: a",
    " X-A: a", "\tX-A: a", "X-A: a\r\r", "Content-Length: 1\r\n 2", "Transfer-Encoding:\r\n chunked",
    "Connection: x\r\n close", "Content-Encoding:\r\n\tgzip", "Content-Length: 2\r\nContent-Length: 3",
    "Content-Length: 2\r\nTransfer-Encoding: chunked", "Content-Length: 2, 3", "Content-Length: +2",
    "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: chunked, chunked", "(X): a", "X-A: a\r\n=b: c",
    "X\u{7F}: a",
  ])
  func `a field that is malformed or ambiguous is refused`(_ field: String) {
    #expect(violation("HTTP/1.1 200 OK\r\n\(field)\r\n\r\nhi")?.kind == .invalid)
  }

  @Test func `the error for an invalid field names the field`() {
    #expect(
      violation("HTTP/1.1 200 OK\r\nX-Field: a\rb\r\n\r\n")?.reason
        == "the field X-Field with a CR that does not end it in its value")
    #expect(violation("HTTP/1.1 200 OK\r\nno colon\r\n\r\n")?.reason.contains("\"no colon\"") == true)
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nConnection: close", true), ("HTTP/1.1 200 OK\r\nConnection: x, Close", true),
    ("HTTP/1.1 200 OK\r\nConnection: keep-alive", false), ("HTTP/1.1 200 OK", false),
    ("HTTP/1.1 200 OK\r\nConnection: closed", false), ("HTTP/1.0 200 OK", true),
    ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive", false), ("HTTP/1.0 200 OK\r\nConnection: keep-alive, close", true),
  ])
  func `the head decides whether the response ends the connection`(_ head: String, _ ends: Bool) throws {
    #expect(try reading(head + "\r\nContent-Length: 0\r\n\r\n").endsConnection == ends)
  }

  @Test func `a chunked response in HTTP 1.0 closes the connection`() throws {
    let reading = try reading(
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
    #expect(reading.endsConnection && reading.body == "hi")
  }

  @Test func `informational responses are read before the final response`() throws {
    let reading = try reading(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\nContent-Length: 7\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    )
    #expect(reading.statuses == [100, 103, 200] && reading.body == "hi" && reading.fields == ["Content-Length: 2"])
  }

  @Test func `an upgrade is refused`() {
    #expect(violation("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")?.reason.contains("101") == true)
  }

  @Test(arguments: [
    ("HEAD", "200 OK\r\nContent-Length: 5"), ("GET", "204 No Content\r\nContent-Length: 5"),
    ("GET", "304 Not Modified\r\nTransfer-Encoding: chunked"),
    ("HEAD", "200 OK\r\nContent-Length: 5\r\nContent-Length: 6"),
  ])
  func `a response without a body ends with its head`(_ method: String, _ head: String) throws {
    let reading = try reading("HTTP/1.1 \(head)\r\n\r\nnext", method: method)
    #expect(reading.framing == ResponseFraming.Body.none && reading.isComplete && reading.rest == "next")
  }

  @Test(arguments: [
    ("GET", "204 No Content\r\nContent-Length: 5", true), ("GET", "204 No Content\r\nTransfer-Encoding: chunked", true),
    ("GET", "204 No Content\r\nContent-Length: 0", false), ("GET", "204 No Content", false),
    ("GET", "304 Not Modified\r\nContent-Length: 5", false),
    ("GET", "304 Not Modified\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", true),
    ("HEAD", "200 OK\r\nContent-Length: 5", false), ("HEAD", "200 OK\r\nTransfer-Encoding: chunked", false),
    ("HEAD", "200 OK\r\nContent-Length: 5\r\nContent-Length: 6", true),
  ])
  func `fields that frame a body contradict a response that has none`(
    _ method: String, _ head: String, _ contradicts: Bool
  ) throws {
    let reading = try reading("HTTP/1.1 \(head)\r\n\r\n", method: method)
    #expect(reading.framing == ResponseFraming.Body.none && reading.contradictsNoBody == contradicts)
  }

  @Test func `a body without a length ends when the connection ends`() throws {
    let reading = try reading("HTTP/1.1 200 OK\r\n\r\nall of it")
    #expect(reading.framing == .close && reading.endsConnection && reading.body == "all of it" && !reading.isComplete)
  }

  @Test func `bytes after a body are not read`() throws {
    let reading = try reading("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n\r\n")
    #expect(reading.body == "hi" && reading.rest == "HTTP/1.1 200 OK\r\n\r\n" && reading.isComplete)
  }

  // MARK: Limits

  @Test func `a head is accepted up to each limit, and fails with an error beyond it`() {
    var limits = MessageLimits()
    limits.fields = 3
    let three = "HTTP/1.1 204 No Content\r\na: 1\r\nb: 2\r\nc: 3\r\n"
    #expect(violation(three + "\r\n", limits) == nil)
    #expect(violation(three + "d: 4\r\n\r\n", limits)?.reason == "head with more than 3 fields")
    limits = MessageLimits()
    limits.headBytes = three.utf8.count + 2
    #expect(violation(three + "\r\n", limits) == nil)
    limits.headBytes -= 1
    #expect(violation(three + "\r\n", limits)?.kind == .tooLong(.headBytes))
    limits = MessageLimits()
    limits.informationalResponses = 2
    let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
    #expect(violation(hint + hint + three + "\r\n", limits) == nil)
    #expect(violation(hint + hint + hint + three + "\r\n", limits)?.reason == "more than 2 informational responses")
  }

  @Test(arguments: ["HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nX", "HTTP/1.1 200 OK\r\nX: a\r\n "])
  func `the size limit of a head applies even to a line that never ends`(_ start: String) throws {
    var limits = MessageLimits()
    limits.headBytes = 1000
    for size in [1, 7, Int.max] {
      #expect(throws: MessageViolation.self) {
        try read(start + String(repeating: "a", count: 1001), pieceSize: size, limits)
      }
    }
  }

  @Test func `a head that arrives byte by byte is searched only once`() throws {
    // The head has 256 KiB and arrives in single bytes. A new search for each byte would take about 30 billion steps.
    let head = "HTTP/1.1 204 No Content\r\nX: " + String(repeating: "v", count: 250 << 10) + "\r\n\r\n"
    let state = ResponseHead()
    state.begin(isAnswerToHead: false)
    let bytes = Array(head.utf8)
    for end in 1..<bytes.count { #expect(try !state.read(bytes.span.extracting(0..<end))) }
    #expect(try state.read(bytes.span))
    #expect(state.takeFields(from: bytes.span)["x"]?.utf8.count == 250 << 10)
  }
}
