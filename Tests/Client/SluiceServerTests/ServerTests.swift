import SluiceLoop
import SluiceMessages
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceServer

/// The server on event loops, over real sockets.
@Suite struct ServerTests {
  /// Answers with the request as text: method, target, the names of its fields, body, trailers.
  private static func server(_ limits: ServerLimits = ServerLimits(), loops: Int = 1, bodyBytes: Int = 1 << 20) throws
    -> Server
  {
    try Server(loops: loops, limits: limits, bodyBytes: bodyBytes) { request in
      let fields = request.head.fields.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
      let trailers = request.trailers.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
      let body = String(decoding: request.body, as: UTF8.self)
      let text = "\(request.head.method) \(request.head.target) [\(fields)] \(body) [\(trailers)]"
      return Response(status: 200, headers: ["x-length": "\(request.body.count)"], body: .bytes(Array(text.utf8)))
    }
  }

  @Test func `requests on one connection are answered one after the other`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    for number in 1...3 {
      let answer = try client.request("PUT", "/\(number)?a", headers: ["X-A: 1"], body: "hello")
      #expect(answer.status == 200 && answer.headers.first("x-length") == "5")
      #expect(answer.bodyText == "PUT /\(number)?a [Host=localhost,X-A=1,Content-Length=5] hello []")
    }
  }

  @Test func `a check whether a port is free takes no connection`() async throws {
    // The ports that the system gives to clients are higher, so no client can reach itself.
    let port = try #require((20_000..<30_000).first { (try? ServerEndpoint.tcp(port: $0).check()) != nil })
    let isOver = Watched(false)
    let reached = Task.detached {
      var count = 0
      while !isOver.value { if (try? RawClient(port: port)) != nil { count += 1 } }
      return count
    }
    for _ in 0..<3_000 { try ServerEndpoint.tcp(port: port).check() }
    isOver.update { $0 = true }
    #expect(await reached.value == 0)
  }

  @Test func `a check names a port that is taken`() throws {
    let server = try Self.server()
    defer { server.stop() }
    #expect(throws: ServerError.self) { try ServerEndpoint.tcp(port: server.port).check() }
  }

  @Test func `pipelined requests are answered in their order`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    let requests = (0..<500).map { "POST /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" }
    try client.send(requests.joined())
    for number in 0..<500 { #expect(try client.readResponse().bodyText.hasPrefix("POST /\(number) ")) }
  }

  @Test func `pipelined requests wait for a client that does not read`() async throws {
    let began = Watched(0)
    let server = try Server { _ in
      began.update { $0 += 1 }
      return Response(status: 200, body: .bytes([UInt8](repeating: 65, count: 4 << 20)))
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    for _ in 0..<20 { try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
    // The socket's buffers take less than two responses.
    try await began.wait(for: "a request") { $0 > 0 }
    #expect(try RawClient(port: server.port).request().status == 200)
    #expect(began.value < 10)
    for _ in 0..<20 { #expect(try client.readResponse().body.count == 4 << 20) }
    #expect(began.value == 21)
  }

  @Test(arguments: [1, 3, 1000])
  func `a request can arrive in pieces`(_ size: Int) throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    let text =
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n"
    var left = Array(text.utf8)[...]
    while !left.isEmpty {
      try client.socket.write(Array(left.prefix(size)))
      left = left.dropFirst(size)
    }
    #expect(try client.readResponse().bodyText == "POST /a [Host=a,Transfer-Encoding=chunked] abcde [X-T=1]")
  }

  @Test func `HEAD has no body, and HTTP 1.0 closes unless it asks not to`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    let head = try client.request("HEAD", "/")
    #expect(head.body.isEmpty && head.headers.first("content-length") == "\("HEAD / [Host=localhost]  []".utf8.count)")
    #expect(try client.request().status == 200)
    try client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(try client.readResponse().headers.first("connection") == "keep-alive")
    try client.send("GET / HTTP/1.0\r\n\r\n")
    #expect(try client.readResponse().headers.first("connection") == "close")
    #expect(try client.readToEnd().isEmpty)
  }

  @Test func `a client that asks first gets 100 before it sends the body`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    #expect(try client.readHead().status == 100)
    try client.send("hi")
    #expect(try client.readResponse().bodyText.hasSuffix(" hi []"))
    #expect(try client.request().status == 200)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 400), ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 70_000))\r\n\r\n", 431),
    ("GET / HTTP/2.0\r\n\r\n", 505),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400), ("\u{16}\u{3}\u{1}\u{2}", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n\(String(repeating: "a", count: 1_200_000))", 413),
  ])
  func `what is refused gets its status, and a closed connection`(_ text: String, _ status: Int) throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send(text + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
    let answer = try client.readResponse()
    #expect(answer.status == status)
    if status != 413 { #expect(answer.headers.first("connection") == "close") }
    #expect(try client.readToEnd().isEmpty)
  }

  @Test func `a client that has closed its side still gets the response`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    client.socket.shutdownWriting()
    #expect(try client.readResponse().status == 200)
    #expect(try client.readToEnd().isEmpty)
  }

  @Test func `the host of an absolute target wins`() throws {
    let server = try Server { request in Response(status: 200, body: .bytes(Array((request.head.host ?? "none").utf8)))
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    #expect(try client.request("GET", "http://Internal:81/", headers: ["Host: public"]).bodyText == "internal:81")
    #expect(try client.request("GET", "/", headers: ["Host: public"]).bodyText == "public")
  }

  @Test func `a status below 200 or above 999 is answered with 500`() throws {
    let server = try Server { request in Response(status: request.head.target == "/a" ? 101 : 1000) }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    for target in ["/a", "/b"] { #expect(try client.request("GET", target).status == 500) }
  }

  /// The end of what the client sends arrives together with its request.
  @Test func `a handler learns that its client has closed its side`() async throws {
    let events = Watched<[String]>([])
    let server = try Server(on: .tcp(), [try Loop()], limits: ServerLimits(), isOwner: true, Watching(events))
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    client.socket.shutdownWriting()
    try await events.wait(for: "the end of the client's side") { $0.contains("half closed") }
    client.socket.reset()
    try await events.wait(for: "the end") { $0 == ["begun", "half closed", "cancelled"] }
  }

  /// A handler that never answers.
  private final class Watching: ServerHandler {
    private final class Exchange: ServerStreamDelegate {
      let events: Watched<[String]>
      init(_ events: Watched<[String]>) { self.events = events }
      func receive(_ bytes: Span<UInt8>) {}
      func receiveEnd(_ trailers: HeaderFields) {}
      func clientHalfClosed() { events.update { $0.append("half closed") } }
      func cancel() { events.update { $0.append("cancelled") } }
      func canSend() {}
    }

    private let events: Watched<[String]>
    init(_ events: Watched<[String]>) { self.events = events }

    func handle(_ stream: ServerStream) {
      events.update { $0.append("begun") }
      stream.delegate = Exchange(events)
    }
  }

  @Test func `times that a client wastes have an end`() throws {
    var limits = ServerLimits()
    (limits.headTimeout, limits.bodyIdle, limits.idle, limits.linger) =
      (.milliseconds(50), .milliseconds(50), .milliseconds(50), .milliseconds(50))
    let server = try Self.server(limits)
    defer { server.stop() }
    #expect(try RawClient(port: server.port).readToEnd().isEmpty)
    for text in ["GET / HTTP/1.1\r\nHost", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"] {
      let client = try RawClient(port: server.port)
      try client.send(text)
      #expect(try client.readResponse().status == 408)
      #expect(try client.readToEnd().isEmpty)
    }
  }

  @Test func `a server answers what has begun before it ends`() async throws {
    let gate = Watched(false)
    let began = Watched(0)
    let server = try Server { _ in
      began.update { $0 += 1 }
      _ = try? await gate.wait(for: "the gate") { $0 }
      return Response(status: 200)
    }
    let (idle, busy) = (try RawClient(port: server.port), try RawClient(port: server.port))
    try busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    try await began.wait(for: "a request") { $0 == 1 }
    let drained = Watched<Bool?>(nil)
    Threads.start {
      let isInTime = server.drain(within: Patience.limit)
      drained.update { $0 = isInTime }
    }
    #expect(try idle.readToEnd().isEmpty)
    gate.update { $0 = true }
    let answer = try busy.readResponse()
    #expect(answer.status == 200 && answer.headers.first("connection") == "close")
    try await drained.wait(for: "the end of the server") { $0 == true }
    #expect(throws: (any Error).self) { _ = try RawClient(port: server.port).request() }
  }

  @Test func `an answer that nobody waits for is cancelled`() async throws {
    let events = Watched<[String]>([])
    let server = try Server { _ in
      events.update { $0.append("began") }
      // Ends only when the task is cancelled.
      for await _ in AsyncStream(Never.self, { _ in }) {}
      events.update { $0.append("cancelled") }
      return Response(status: 200)
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    try await events.wait(for: "a request") { $0 == ["began"] }
    client.socket.reset()
    try await events.wait(for: "the end") { $0 == ["began", "cancelled"] }
  }

  @Test func `several loops share a port, but not with another server`() throws {
    let server = try Self.server(loops: 2)
    defer { server.stop() }
    for _ in 0..<20 { #expect(try RawClient(port: server.port).request().status == 200) }
    #expect(throws: ServerError.self) { _ = try Server(on: server.endpoint) { _ in Response(status: 200) } }
  }

  @Test func `connections beyond the limit wait until one ends`() throws {
    var limits = ServerLimits()
    limits.connections = 2
    let server = try Self.server(limits)
    defer { server.stop() }
    var clients = [try RawClient(port: server.port), try RawClient(port: server.port)]
    for client in clients { #expect(try client.request().status == 200) }
    let third = try RawClient(port: server.port)
    try third.send("GET /third HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try clients[0].request().status == 200)
    clients.removeFirst().socket.close()
    #expect(try third.readResponse().bodyText.hasPrefix("GET /third"))
  }
}
