import SluiceClient
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What every HTTP client must do with unusual servers.
@Suite struct ConformanceTests {
  /// Sends a request to a server that answers with these bytes and then closes the connection.
  private static func get(_ answer: String, method: String = "GET") async throws -> (bytes: [UInt8], response: Response)
  {
    try await get(Array(answer.utf8), method: method)
  }

  private static func get(
    _ answer: [UInt8], method: String = "GET"
  ) async throws -> (bytes: [UInt8], response: Response) {
    let server = try ScriptedServer(.receiveHead, .send(answer), .shutdownWriting, .receiveToEnd)
    defer { server.stop() }
    return try await withClient { client in
      try await client.data(for: Request(method: method, url: server.url()))
    }
  }

  private static func code(_ answer: String) async throws -> ErrorCode? {
    do {
      _ = try await get(answer)
      return nil
    } catch let error as TransactionError { return error.code }
  }

  // MARK: Heads

  @Test(arguments: [
    ("not HTTP", "SSH-2.0-OpenSSH_9.2p1\r\n\r\n"), ("a word", "FOOBAR"),
    ("wrong case", "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), ("mixed case", "Http/1.1 200 OK\r\n\r\n"),
    ("another version", "HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("a status of two digits", "HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n"),
    ("a status of four digits", "HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n"),
    ("a status below 100", "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n"),
    ("conflicting lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    ("conflicting lengths in one line", "HTTP/1.1 200 OK\r\nContent-Length: 10, 4\r\n\r\n1234"),
  ])
  func `an invalid response is refused`(_ name: String, _ answer: String) async throws {
    #expect(try await Self.code(answer) == .invalidResponse, "\(name)")
  }

  @Test(arguments: ["HTTP/1.1 200\r\n", "HTTP/1.1 200 \r\n"])
  func `a status line without a reason phrase is accepted`(_ line: String) async throws {
    let (bytes, response) = try await Self.get(line + "Content-Length: 2\r\n\r\nok")
    #expect(response.status == 200 && bytes == Array("ok".utf8))
  }

  @Test(arguments: [404, 600, 999]) func `every status from 100 to 999 is accepted`(
    _ status: Int
  ) async throws {
    let (bytes, response) = try await Self.get("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\nok")
    #expect(response.status == status && bytes == Array("ok".utf8))
  }

  @Test func `the query of a URL and a header of the request are sent unchanged`() async throws {
    let server = try LoopbackServer { request in
      .text("\(request.target) \(request.value(of: "x-own") ?? "")")
    }
    defer { server.stop() }
    try await withClient { client in
      var request = Request(url: try server.url("/request?foo=bar&bar=baz&qux=&foo=ph%20ew"))
      request.headers["X-Own"] = "a value"
      let (bytes, _) = try await client.data(for: request)
      #expect(String(decoding: bytes, as: UTF8.self) == "/request?foo=bar&bar=baz&qux=&foo=ph%20ew a value")
    }
  }

  @Test(arguments: [204, 304]) func `a response whose status allows no body has none, whatever its Content-Length says`(
    _ status: Int
  ) async throws {
    let server = try ScriptedServer([
      [
        .receiveHead, .send("HTTP/1.1 \(status) X\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\n"), .receiveHead,
        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .receiveToEnd,
      ], ScriptStep.respond(body: "ok") + [.receiveToEnd],
    ])
    defer { server.stop() }
    try await withClient { client in
      let (bytes, response) = try await client.data(from: server.url())
      #expect(response.status == status && bytes.isEmpty && response.headers["etag"] == "\"a\"")
      // The next request shows that the client has not waited for the announced bytes. A 204 must not announce any
      // (RFC 9110 §8.6), so its connection is not used again.
      #expect(try await client.data(from: server.url()).bytes == Array("ok".utf8))
      #expect(server.connectionCount == (status == 204 ? 2 : 1))
    }
  }

  @Test func `a HEAD response has a length and no body`() async throws {
    let (bytes, response) = try await Self.get("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", method: "HEAD")
    #expect(bytes.isEmpty && response.headers["content-length"] == "1000")
  }

  @Test func `empty and repeated fields arrive as they were sent`() async throws {
    let (_, response) = try await Self.get(
      "HTTP/1.1 200 OK\r\nX-Empty:\r\nX-Many: a\r\nX-Many: b, c\r\nContent-Length: 0\r\n\r\n")
    #expect(response.headers["x-empty"] == "")
    #expect(response.headers[values: "x-many"] == ["a", "b, c"])
  }

  @Test func `empty and repeated fields are sent as they are`() async throws {
    let server = try ScriptedServer([ScriptStep.respond()])
    defer { server.stop() }
    try await withClient { client in
      let headers: HeaderFields = ["X-Empty": "", "X-Many": "a", "X-Many": "b"]
      _ = try await client.data(for: Request(url: server.url("/p?a=1&b=%20&&c"), headers: headers))
    }
    let head = try #require(server.receivedText.first)
    #expect(head.hasPrefix("GET /p?a=1&b=%20&&c HTTP/1.1\r\n"))
    #expect(head.contains("\r\nX-Many: a\r\nX-Many: b\r\n") && head.contains("\r\nX-Empty:"))
  }

  // MARK: Bodies

  @Test(arguments: ["Content-Length: 9\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n9\r\nabc"])
  func `a body that ends early is an error`(_ rest: String) async throws {
    #expect(try await Self.code("HTTP/1.1 200 OK\r\n" + rest) == .connectionLost)
  }

  @Test func `a body without a length ends when the connection ends`() async throws {
    let (bytes, _) = try await Self.get("HTTP/1.1 200 OK\r\n\r\nall of it")
    #expect(bytes == Array("all of it".utf8))
  }

  @Test func `a chunked body can be empty`() async throws {
    let (bytes, response) = try await Self.get("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    #expect(bytes.isEmpty && response.status == 200)
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .deflate, .brotli, .zstd])
  func `a coded body is decoded`(_ coding: EncodedBody.Coding) async throws {
    let plain = pattern.bytes(from: 0, count: 10_000)
    let coded = EncodedBody.bytes(coding, plain)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding.name)\r\nContent-Length: \(coded.count)\r\n\r\n"
    let (bytes, response) = try await Self.get(Array(head.utf8) + coded)
    #expect(bytes == plain && response.headers["content-encoding"] == coding.name)
  }

  @Test func `a body with Content-Encoding identity is not decoded`() async throws {
    let (bytes, _) = try await Self.get(
      "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nok")
    #expect(bytes == Array("ok".utf8))
  }

  @Test func `a body of one megabyte is echoed`() async throws {
    let server = try LoopbackServer { request in ServerResponse(body: .bytes(request.body)) }
    defer { server.stop() }
    let sent = pattern.bytes(from: 0, count: 1_000_000)
    try await withClient { client in
      let (bytes, _) = try await client.upload(for: Request(method: "POST", url: server.url()), from: sent)
      #expect(bytes == sent)
    }
  }

  @Test func `a body that arrives in many small pieces is complete`() async throws {
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n"
    let steps = Array(text.utf8).map { ScriptStep.send([$0]) }
    let server = try ScriptedServer([[.receiveHead] + steps + [.receiveToEnd]])
    defer { server.stop() }
    try await withClient { client in
      let (bytes, _) = try await client.bytes(from: server.url())
      var read: [UInt8] = []
      for try await byte in bytes { read.append(byte) }
      #expect(read == Array("abcde".utf8) && bytes.trailers?["x-t"] == "1")
    }
  }

  @Test func `a caller that reads only a part of a body can send the next request`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/long"
        ? ServerResponse(body: .generated(pattern, byteCount: 10_000_000, chunked: true)) : .text("ok")
    }
    defer { server.stop() }
    try await withClient { client in
      do {
        let (bytes, _) = try await client.bytes(from: server.url("/long"))
        var iterator = bytes.makeAsyncIterator()
        #expect(try await iterator.next() != nil)
      }
      let (bytes, _) = try await client.data(from: server.url())
      #expect(bytes == Array("ok".utf8))
    }
  }

  @Test func `trailers are sent and received`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .receive("2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n".utf8.count),
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Back: 8\r\n\r\n"), .receiveToEnd)
    defer { server.stop() }
    try await withClient { client in
      var request = Request(method: "POST", url: try server.url(), body: .bytes(Array("hi".utf8)))
      request.trailers = ["X-Sum": "7"]
      let (_, response) = try await client.data(for: request)
      #expect(response.trailers["x-back"] == "8")
    }
    #expect(server.receivedText.first?.contains("2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n") == true)
  }

  // MARK: Exchanges

  @Test func `an endless chain of redirects is an error`() async throws {
    let server = try LoopbackServer { request in
      ServerResponse(status: 302, headers: [HeaderLine("Location", request.target + "x")])
    }
    defer { server.stop() }
    let url = try server.url("/")
    try await withClient { client in
      let error = await failure { () throws(TransactionError) in _ = try await client.data(from: url) }
      #expect(error?.code == .tooManyRedirects)
    }
  }

  @Test func `a request with the ETag of a response gets a 304 without a body`() async throws {
    let server = try LoopbackServer { request in
      request.value(of: "if-none-match") == "\"v1\""
        ? ServerResponse(status: 304, headers: [HeaderLine("ETag", "\"v1\"")])
        : ServerResponse(headers: [HeaderLine("ETag", "\"v1\"")], body: .bytes(Array("text".utf8)))
    }
    defer { server.stop() }
    try await withClient { client in
      let (_, first) = try await client.data(from: server.url())
      let tag = try #require(first.headers["etag"])
      let (bytes, second) = try await client.data(for: Request(url: server.url(), headers: ["If-None-Match": tag]))
      #expect(second.status == 304 && bytes.isEmpty)
    }
  }

  @Test func `each of many simultaneous calls gets its own response`() async throws {
    let server = try LoopbackServer { request in .text(request.target) }
    defer { server.stop() }
    try await withClient { client in
      let urls = try (0..<500).map { try server.url("/\($0)") }
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for (number, url) in urls.enumerated() {
          group.addTask { try await client.data(from: url).bytes == Array("/\(number)".utf8) }
        }
        for try await isRight in group { #expect(isRight) }
      }
    }
    #expect(server.requestCount == 500)
  }

  @Test func `a call ends if it is cancelled before the head arrives`() async throws {
    let isWaiting = Signal()
    let server = try ScriptedServer(.receiveHead, .signal(isWaiting), .receiveToEnd)
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      let call = Task { try await client.data(from: url).bytes.count }
      try await isWaiting.wait()
      call.cancel()
      await Self.expectCancelled(call)
    }
  }

  @Test func `a call ends if it is cancelled while the body arrives`() async throws {
    let isReading = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .receiveToEnd)
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      let call = Task {
        var count = 0
        for try await _ in try await client.bytes(from: url).bytes {
          count += 1
          isReading.set()
        }
        return count
      }
      try await isReading.wait()
      call.cancel()
      await Self.expectCancelled(call)
    }
  }

  private static func expectCancelled(_ call: Task<Int, any Error>) async {
    switch await call.result {
    case .success: Issue.record("the call has a result")
    case .failure(let error): #expect((error as? TransactionError)?.code == .cancelled)
    }
  }
}
