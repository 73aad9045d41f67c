import Glibc
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// On a kept connection: where a response ends, and which bytes are the response to the next request.
@Suite struct FramingTests {
  /// Sends three requests to a server whose first connection sends `answer` as its second response. A second connection
  /// sends correct responses.
  private func records(
    _ answer: String, method: String = "GET"
  ) async throws -> (bad: Probe.Record, next: Probe.Record, connections: Int) {
    let server = try ScriptedServer([
      ScriptStep.respond(body: "1") + [.receiveHead, .send(answer)] + ScriptStep.respond(body: "same")
        + [.receiveToEnd],
      ScriptStep.respond(body: "other") + [.receiveToEnd],
    ])
    let wire = try Wire()
    #expect(try await wire.get(server.baseURL).bodyText == "1")
    let bad = try await wire.send(Request(method: method, url: HTTPURL(server.baseURL)))
    let next = try await wire.get(server.baseURL)
    return (bad, next, server.connectionCount)
  }

  @Test(arguments: [
    "Content-Length: 2\r\nContent-Length: 5\r\n\r\nhello", "Content-Length: 2, 5\r\n\r\nhello",
    "Content-Length: 2x\r\n\r\nhi", "Content-Length: +2\r\n\r\nhi", "Content-Length: -2\r\n\r\nhi",
    "Content-Length: \r\n\r\nhi", "Content-Length: 00000000000000000000009999999999999999999\r\n\r\nhi",
    "Content-Length: 18446744073709551618\r\n\r\nhi", "Content-Length: 10000000000000000000002\r\n\r\nhi",
    "Content-Length: 2\r\nContent-Length: 2x\r\n\r\nhi", "Content-Length: 2, 2\r\nContent-Length: 5\r\n\r\nhello",
    "Content-Length: 5,\r\n\r\nhello",
    "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "Content-Length: 0\r\nTransfer-Encoding: gzip\r\n\r\n",
    "Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "X-Field: a\0b\r\nContent-Length: 2\r\n\r\nhi", "X-Field : a\r\nContent-Length: 2\r\n\r\nhi",
    "X-Field: a\rSet-Cookie: b\r\nContent-Length: 2\r\n\r\nhi", "X-Field: a\r\r\nContent-Length: 2\r\n\r\nhi",
    " folded: first\r\nContent-Length: 2\r\n\r\nhi", "Content-Length: 2\r\n 0\r\n\r\nhi",
    "Content-Length: 5\r\n , 2\r\n\r\nhello", "Transfer-Encoding:\r\n chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n , chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "Content-Encoding:\r\n\tgzip\r\nContent-Length: 2\r\n\r\nhi",
    "Connection:\r\n close\r\nContent-Length: 2\r\n\r\nhi",
  ])
  func `an ambiguous head fails the transfer, and its connection is closed`(_ fields: String) async throws {
    let (bad, next, connections) = try await records("HTTP/1.1 200 OK\r\n" + fields)
    #expect(bad.code == .invalidResponse, "\(String(describing: bad.error))")
    #expect(bad.error?.isBeforeSending == false && bad.head == nil)
    #expect(next.bodyText == "other" && connections == 2, "\(String(describing: next.error))")
  }

  @Test(arguments: [
    ("Content-Length: 5, 5\r\n\r\nhello", "hello"), ("Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello", "hello"),
    ("Transfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi"),
  ])
  func `a Content-Length that is repeated with the same value is accepted`(
    _ fields: String, _ body: String
  ) async throws {
    let (first, next, connections) = try await records("HTTP/1.1 200 OK\r\n" + fields)
    #expect(first.error == nil && first.bodyText == body, "\(String(describing: first.error))")
    #expect(next.bodyText == "same" && connections == 1)
  }

  @Test func `a Transfer-Encoding of identity beside a length reads as the length`() async throws {
    for fields in [
      "Transfer-Encoding: identity\r\nContent-Length: 5", "Content-Length: 5\r\nTransfer-Encoding: Identity",
    ] {
      let (first, next, connections) = try await records("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nhello")
      #expect(first.error == nil && first.bodyText == "hello", "\(String(describing: first.error))")
      // Another reader may not know this coding, so the connection is not used again.
      #expect(next.bodyText == "other" && connections == 2)
    }
  }

  @Test(arguments: [
    ("timeout=60", true), ("timeout=1", false), ("timeout=0", false), ("max=5, Timeout=1", false), ("timeout=2", true),
    ("timeout=x", true), ("timeout=60, timeout=1", false), ("timeout=99999999999999999999", true), ("max=1", true),
  ])
  func `a kept connection is not used again in the last second of the server's keep-alive`(
    _ value: String, _ isReused: Bool
  ) async throws {
    let (_, next, connections) = try await records(
      "HTTP/1.1 200 OK\r\nKeep-Alive: \(value)\r\nContent-Length: 2\r\n\r\nhi")
    #expect(next.bodyText == (isReused ? "same" : "other") && connections == (isReused ? 1 : 2))
  }

  @Test(arguments: [
    ("HEAD", "200 OK", "Content-Length: 5"), ("HEAD", "200 OK", "Transfer-Encoding: chunked"),
    ("GET", "304 Not Modified", "Content-Length: 5"), ("GET", "304 Not Modified", "Transfer-Encoding: chunked"),
  ])
  func `a response that cannot have a body ends with its head, whatever its headers say`(
    _ method: String, _ status: String, _ fields: String
  ) async throws {
    let (first, next, connections) = try await records("HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n", method: method)
    #expect(first.error == nil && first.bodyText.isEmpty, "\(String(describing: first.error))")
    #expect(next.bodyText == "same" && connections == 1, "\(String(describing: next.error)) \(connections)")
  }

  @Test(arguments: [
    ("HEAD", "200 OK", "Content-Length: 2\r\nContent-Length: 5"), ("GET", "204 No Content", "Content-Length: 5"),
    ("GET", "204 No Content", "Transfer-Encoding: chunked"),
    ("GET", "304 Not Modified", "Content-Length: 5\r\nTransfer-Encoding: chunked"),
  ])
  func `after a response whose fields frame a body that it cannot have, the connection is not used again`(
    _ method: String, _ status: String, _ fields: String
  ) async throws {
    let (first, next, connections) = try await records("HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n", method: method)
    #expect(first.error == nil && first.bodyText.isEmpty, "\(String(describing: first.error))")
    #expect(next.bodyText == "other" && connections == 2, "\(String(describing: next.error)) \(connections)")
  }

  @Test(arguments: [
    "100 Continue\r\nContent-Length: 5", "103 Early Hints\r\nContent-Length: 5",
    "103 Early Hints\r\nTransfer-Encoding: chunked", "103 Early Hints\r\nContent-Length: 2\r\nContent-Length: 5",
    "103 Early Hints\r\nContent-Length: 2x\r\nTransfer-Encoding: chunked, chunked",
    "103 Early Hints\r\nContent-Encoding: gzip", "199 Odd\r\nContent-Length: 5",
  ])
  func `an informational response has no body, and does not affect how the final response is read`(
    _ head: String
  ) async throws {
    let (first, next, connections) = try await records(
      "HTTP/1.1 \(head)\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
    #expect(first.error == nil && first.bodyText == "hi", "\(String(describing: first.error))")
    #expect(first.informational.count == 1)
    #expect(next.bodyText == "same" && connections == 1, "\(String(describing: next.error)) \(connections)")
  }

  @Test(arguments: ["", "Connection: keep-alive\r\n"])
  func `a chunked response in HTTP 1.0 is read, and its connection is not reused`(_ keep: String) async throws {
    let (first, next, connections) = try await records(
      "HTTP/1.0 200 OK\r\n\(keep)Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
    #expect(first.error == nil && first.bodyText == "hi", "\(String(describing: first.error))")
    #expect(next.bodyText == "other" && connections == 2)
  }

  @Test func `bytes after a body are not taken as the next response`() async throws {
    let (first, next, _) = try await records("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n\r\n")
    #expect(first.error == nil && first.bodyText == "hi")
    #expect(next.bodyText == "other", "\(String(describing: next.error)) \(next.bodyText)")
  }

  @Test(arguments: [("X-Long: ", "v", 270_000, "262144"), ("X-Many: v", "\r\nX-Many: v", 10_000, "4096 fields")])
  func `if a head exceeds a limit, the error names the limit`(
    _ start: String, _ part: String, _ count: Int, _ words: String
  ) async throws {
    let fields = start + String(repeating: part, count: count) + "\r\n"
    let (bad, next, connections) = try await records("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nhi")
    #expect(bad.code == .invalidResponse, "\(String(describing: bad.error))")
    #expect(bad.error?.message.contains(words) == true, "\(String(describing: bad.error))")
    #expect(next.bodyText == "other" && connections == 2)
  }

  // MARK: Kept connections

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
    "x", "\r\n",
  ])
  func `bytes that arrive on an idle connection are not taken as a response`(_ bytes: String) async throws {
    let hasSent = Signal()
    let isFirstDone = Signal()
    let server = try ScriptedServer([
      ScriptStep.respond(body: "1") + [.wait(isFirstDone), .send(bytes), .signal(hasSent), .receiveToEnd],
      ScriptStep.respond(body: "2") + ScriptStep.respond(body: "3") + [.receiveToEnd],
    ])
    let wire = try Wire()
    #expect(try await wire.get(server.baseURL).bodyText == "1")
    isFirstDone.set()
    try await hasSent.wait(for: "the bytes")
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL), body: .text("pay"))
    let second = try await wire.send(request)
    #expect(second.error == nil && second.bodyText == "2", "\(String(describing: second.error))")
    #expect(second.issued.count == 1)
    #expect(try await wire.get(server.baseURL).bodyText == "3")
    #expect(server.receivedText.joined().components(of: "POST ") == 1)
  }

  @Test func `if an idle connection gets a response and closes, the next GET does not take that response`()
    async throws
  {
    let hasSent = Signal()
    let isFirstDone = Signal()
    let server = try ScriptedServer([
      ScriptStep.respond(body: "1") + [
        .wait(isFirstDone), .send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"), .signal(hasSent),
      ],
      ScriptStep.respond(body: "2") + ScriptStep.respond(body: "3") + [.receiveToEnd],
    ])
    let wire = try Wire()
    #expect(try await wire.get(server.baseURL).bodyText == "1")
    isFirstDone.set()
    try await hasSent.wait(for: "the bytes")
    #expect(try await wire.get(server.baseURL).bodyText == "2")
    #expect(try await wire.get(server.baseURL).bodyText == "3")
    #expect(server.connectionCount == 2)
  }

  @Test func `a kept connection that dies is replaced, even if many die one after the other`() async throws {
    let server = try ScriptedServer([ScriptStep.respond(body: "1")])
    let wire = try Wire()
    for _ in 0..<30 {
      let record = try await wire.get(server.baseURL)
      #expect(record.error == nil && record.bodyText == "1", "\(String(describing: record.error))")
      try await server.waitForScripts()
    }
  }

  @Test func `however often connections die, the error for the next request is the same`() async throws {
    // Each connection responds once, reads the next request, and closes.
    let server = try ScriptedServer([ScriptStep.respond(body: "1") + [.receiveRequest]])
    let wire = try Wire()
    var fresh = TransferOptions()
    fresh.wantsFreshConnection = true
    for _ in 0..<20 {
      #expect(try await wire.send(Request(url: HTTPURL(server.baseURL)), options: fresh).bodyText == "1")
      let record = try await wire.get(server.baseURL)
      #expect(record.code == .resent, "\(String(describing: record.error))")
    }
  }

  @Test func `a transfer that wants a fresh connection gets one`() async throws {
    let server = try ScriptedServer([ScriptStep.respond(body: "1") + ScriptStep.respond(body: "2")])
    let wire = try Wire()
    var fresh = TransferOptions()
    fresh.wantsFreshConnection = true
    for _ in 0..<2 {
      #expect(try await wire.send(Request(url: HTTPURL(server.baseURL)), options: fresh).bodyText == "1")
    }
    #expect(try await wire.get(server.baseURL).bodyText == "2")
    #expect(server.connectionCount == 2)
  }
}
