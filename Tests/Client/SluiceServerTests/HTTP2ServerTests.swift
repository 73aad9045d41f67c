import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceServer

/// HTTP/2 with prior knowledge, over real sockets, from a client that sends exactly the given frames.
@Suite struct HTTP2ServerTests {
  /// Answers with the request as text: method, target, its fields, body, trailers.
  private static func server(_ limits: ServerLimits = ServerLimits(), bodyBytes: Int = 1 << 20) throws -> Server {
    try Server(limits: limits, bodyBytes: bodyBytes) { request in
      let fields = request.head.fields.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
      let trailers = request.trailers.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
      let body = String(decoding: request.body, as: UTF8.self)
      let text = "\(request.head.method) \(request.head.target) [\(fields)] \(body) [\(trailers)]"
      return Response(status: 200, headers: ["Connection": "close"], body: .bytes(Array(text.utf8)))
    }
  }

  @Test func `requests on one connection are answered`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    for stream: UInt32 in [1, 3, 5] {
      try client.send(
        HTTP2Frame.headers(
          RawHTTP2Client.head("PURGE", "/\(stream)?a", [("x-a", "1"), ("cookie", "a=b"), ("cookie", "c=d")]),
          stream: stream, endsStream: true))
      #expect(
        try client.body(of: stream) == "PURGE /\(stream)?a [Host=localhost,x-a=1,cookie=a=b; c=d]  []")
      #expect(try client.status(of: stream) == 0x88)
    }
  }

  @Test func `a body and its trailers arrive`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(
      HTTP2Frame.headers(RawHTTP2Client.head("POST")) + HTTP2Frame.data("ab") + HTTP2Frame.data("")
        + HTTP2Frame.data("cd") + HTTP2Frame.headers(HTTP2Frame.field("x-t", "1"), endsStream: true))
    #expect(try client.body(of: 1) == "POST / [Host=localhost] abcd [x-t=1]")
  }

  @Test func `everything can arrive byte by byte`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let socket = try StreamSocket.connect(port: server.port)
    let client = RawHTTP2Client(on: socket)
    let bytes =
      RawHTTP2Client.preface + HTTP2Frame.settings + HTTP2Frame.headers(RawHTTP2Client.head("POST"))
      + HTTP2Frame.data("hi", endsStream: true)
    for byte in bytes { try socket.write([byte]) }
    #expect(try client.body(of: 1) == "POST / [Host=localhost] hi []")
  }

  @Test func `a method that begins like HTTP 2 is HTTP 1`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.socket.write(Array("P".utf8))
    try client.socket.write(Array("R".utf8))
    #expect(try RawClient(port: server.port).request().status == 200)
    try client.send("I /a HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.readResponse(to: "PRI").bodyText.hasPrefix("PRI /a "))
  }

  @Test func `a slow answer does not stop the others, and a cancelled one leaves them whole`() async throws {
    let (begun, release) = (Watched(0), Watched(false))
    let ended = Watched(0)
    let body = [UInt8](repeating: 65, count: 300_000)
    let server = try Server { request in
      guard request.head.target == "/slow" else { return Response(status: 200, body: .bytes(body)) }
      begun.update { $0 += 1 }
      _ = await withTaskCancellationHandler {
        try? await release.wait(for: "the release") { $0 }
      } onCancel: {
        ended.update { $0 += 1 }
      }
      return Response(status: 200, body: .bytes(Array("slow".utf8)))
    }
    defer { server.stop() }
    let client = try RawHTTP2Client(
      port: server.port, settings: HTTP2Frame.frame(type: 4, [0, 4, 0x7F, 0xFF, 0xFF, 0xFF]))
    try client.send(HTTP2Frame.frame(type: 8, [0x7F, 0, 0, 0]))
    for stream: UInt32 in [1, 3] {
      try client.send(HTTP2Frame.headers(RawHTTP2Client.head("GET", "/slow"), stream: stream, endsStream: true))
    }
    try await begun.wait(for: "both requests") { $0 == 2 }
    try client.send(
      HTTP2Frame.headers(RawHTTP2Client.head(), stream: 5, endsStream: true)
        + HTTP2Frame.frame(type: 3, stream: 1, [0, 0, 0, 8])
        + HTTP2Frame.headers(RawHTTP2Client.head(), stream: 7, endsStream: true))
    #expect(try client.body(of: 5).utf8.count == body.count)
    #expect(try client.body(of: 7).utf8.count == body.count)
    try await ended.wait(for: "the cancellation") { $0 == 1 }
    release.update { $0 = true }
    #expect(try client.body(of: 3) == "slow")
  }

  @Test(arguments: [
    [("Host", "localhost")], [("x-a", "a\u{1}b")], [("host", "other.example")], [("connection", "close")],
    [("transfer-encoding", "chunked")], [("te", "gzip")], [("x y", "1")], [("x-a", " 1")],
    [("x-a", "1 ")], [("x-a", "b\r\nc")], [("x-a", "b\0")], [("x:a", "1")], [("keep-alive", "1")], [("upgrade", "x")],
    [("proxy-connection", "x")], [(":x", "1")], [(":path", "/b")], [("x-a", "1"), (":path", "/b")],
    [(":status", "200")],
  ])
  func `a malformed request gets 400 or a reset, and its neighbours are answered`(
    _ fields: [(String, String)]
  ) throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(
      HTTP2Frame.headers(RawHTTP2Client.head("GET", "/", fields), stream: 1, endsStream: true)
        + HTTP2Frame.headers(RawHTTP2Client.head(), stream: 3, endsStream: true))
    #expect(try client.body(of: 3).hasPrefix("GET / "))
    let answer = try #require(client.received.first { $0.stream == 1 && ($0.type == 1 || $0.type == 3) })
    #expect(answer.type == 3 || answer.payload.first == 0x8C, "\(answer)")
  }

  @Test(arguments: [
    ("GET", "", "localhost"), ("GET", "a", "localhost"), ("GET", "/a b", "localhost"), ("GET", "/a/..;/b", "localhost"),
    ("GET", "http://localhost/", "localhost"), ("GET", "*", "localhost"), ("G T", "/", "localhost"),
    ("GET", "/", "a b"), ("GET", "/", "user@localhost"), ("GET", "/", ""), ("CONNECT", "/", "localhost"),
  ])
  func `a request with pseudo fields that are not valid never reaches the handler`(
    _ method: String, _ path: String, _ authority: String
  ) async throws {
    let begun = Watched(0)
    let server = try Server { request in
      if request.head.target != "/after" { begun.update { $0 += 1 } }
      return Response(status: 200)
    }
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(
      HTTP2Frame.headers(RawHTTP2Client.head(method, path, authority: authority), stream: 1, endsStream: true)
        + HTTP2Frame.headers(RawHTTP2Client.head("GET", "/after"), stream: 3, endsStream: true))
    #expect(try client.status(of: 3) == 0x88)
    #expect(begun.value == 0)
  }

  @Test func `a request needs an authority or Host`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(
      HTTP2Frame.headers(RawHTTP2Client.head(authority: nil), stream: 1, endsStream: true)
        + HTTP2Frame.headers(RawHTTP2Client.head(authority: nil, [("host", "a")]), stream: 3, endsStream: true))
    #expect(try client.body(of: 3) == "GET / [Host=a]  []")
    #expect(client.received.contains { $0.stream == 1 && $0.type == 3 })
  }

  @Test func `a head that is too large gets 431, and a body that is too large 413`() throws {
    var limits = ServerLimits()
    limits.messages.headBytes = 1000
    let server = try Self.server(limits, bodyBytes: 3)
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    let many = (0..<10).map { ("x-\($0)", String(repeating: "a", count: 100)) }
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head("GET", "/", many), stream: 1, endsStream: true))
    #expect(try client.body(of: 1) == "431 Request Header Fields Too Large\n")
    try client.send(
      HTTP2Frame.headers(RawHTTP2Client.head("POST"), stream: 3) + HTTP2Frame.data("abcdef", stream: 3))
    #expect(try client.body(of: 3).isEmpty)
    // The rest of the request is not needed (RFC 9113 §8.1).
    let reset = try client.read { $0.type == 3 && $0.stream == 3 }
    #expect(reset.payload == [0, 0, 0, 0])
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 5, endsStream: true))
    #expect(try client.status(of: 5) == 0x88)
  }

  @Test func `more streams than are allowed are refused`() async throws {
    let release = Watched(false)
    var limits = ServerLimits()
    limits.streams = 2
    let server = try Server(limits: limits) { _ in
      _ = try? await release.wait(for: "the release") { $0 }
      return Response(status: 200)
    }
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    for stream: UInt32 in [1, 3, 5] {
      try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: stream, endsStream: true))
    }
    let refusal = try client.read { $0.type == 3 }
    #expect(refusal.stream == 5 && refusal.payload == [0, 0, 0, 7])
    release.update { $0 = true }
    #expect(try client.status(of: 1) == 0x88)
    #expect(try client.status(of: 3) == 0x88)
  }

  enum Flood: CaseIterable {
    case pings, settings, rapidResets, provokedResets, emptyData, priorities, unknown

    var bytes: [UInt8] {
      switch self {
      case .pings: (0..<30_000).flatMap { _ in HTTP2Frame.frame(type: 6, [0, 0, 0, 0, 0, 0, 0, 0]) }
      case .settings: (0..<30_000).flatMap { _ in HTTP2Frame.settings }
      case .rapidResets:
        (0..<3000).flatMap { number in
          let stream = UInt32(3 + 2 * number)
          return HTTP2Frame.headers(RawHTTP2Client.head("GET", "/slow"), stream: stream, endsStream: true)
            + HTTP2Frame.frame(type: 3, stream: stream, [0, 0, 0, 8])
        }
      case .provokedResets:
        // A window that is too large is an error of the stream (RFC 9113 §6.9.1).
        (0..<3000).flatMap { number in
          let stream = UInt32(3 + 2 * number)
          return HTTP2Frame.headers(RawHTTP2Client.head("GET", "/slow"), stream: stream, endsStream: true)
            + HTTP2Frame.frame(type: 8, stream: stream, [0x7F, 0xFF, 0xFF, 0xFF])
        }
      case .emptyData:
        HTTP2Frame.headers(RawHTTP2Client.head("POST"), stream: 3)
          + (0..<30_000).flatMap { _ in HTTP2Frame.data("", stream: 3) }
      case .priorities: (0..<30_000).flatMap { _ in HTTP2Frame.frame(type: 2, stream: 3, [0, 0, 0, 0, 1]) }
      case .unknown: (0..<30_000).flatMap { _ in HTTP2Frame.frame(type: 0x42, [0]) }
      }
    }
  }

  @Test(arguments: Flood.allCases)
  func `a flood of frames that carry nothing ends the connection`(_ flood: Flood) async throws {
    let release = Watched(false)
    let server = try Server { request in
      if request.head.target == "/slow" { _ = try? await release.wait(for: "the release") { $0 } }
      return Response(status: 200)
    }
    defer {
      release.update { $0 = true }
      server.stop()
    }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    #expect(try client.status(of: 1) == 0x88)
    // The server closes the connection while the flood is sent.
    try? client.send(flood.bytes)
    try client.readToEnd()
    #expect(try RawClient(port: server.port).request().status == 200)
  }

  @Test func `a large response is no flood for a client that reads it slowly`() throws {
    let body = [UInt8](repeating: 65, count: 8 << 20)
    let server = try Server { _ in Response(status: 200, body: .bytes(body)) }
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    var (count, isOver) = (0, false)
    while !isOver {
      let frame = try client.read { $0.type == 0 }
      count += frame.payload.count
      isOver = frame.flags & 1 == 1
      // The smallest updates that keep the response going: one for each frame and window.
      let update = [UInt8](HTTP2Frame.frame(type: 0, count: UInt32(frame.payload.count)).prefix(3))
      let payload = [0] + update
      if !frame.payload.isEmpty {
        try client.send(HTTP2Frame.frame(type: 8, payload) + HTTP2Frame.frame(type: 8, stream: 1, payload))
      }
    }
    #expect(count == body.count)
  }

  @Test func `a server that ends says so twice, and answers what has begun`() async throws {
    let (begun, release) = (Watched(0), Watched(false))
    let server = try Server { _ in
      begun.update { $0 += 1 }
      _ = try? await release.wait(for: "the release") { $0 }
      return Response(status: 200, body: .bytes(Array("late".utf8)))
    }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    try await begun.wait(for: "the request") { $0 == 1 }
    let drain = server.beginDraining()
    let notice = try client.read { $0.type == 7 }
    #expect(notice.payload.prefix(4) == [0x7F, 0xFF, 0xFF, 0xFF])
    // On its way when the notice was sent.
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 3, endsStream: true))
    let ping = try client.received.first { $0.type == 6 } ?? client.read { $0.type == 6 }
    try client.send(HTTP2Frame.frame(type: 6, flags: 1, ping.payload))
    let final = try client.read { $0.type == 7 }
    #expect(final.payload.prefix(4) == [0, 0, 0, 3])
    release.update { $0 = true }
    #expect(try client.body(of: 1) == "late")
    #expect(try client.body(of: 3) == "late")
    try client.readToEnd()
    #expect(client.farewells == [0, 0])
    #expect(drain(Patience.limit))
  }

  @Test func `a short head that decodes to a long one is refused`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    // The first field enters the dynamic table, and each byte after it refers to that field (RFC 7541 §6.1).
    let value = [UInt8](repeating: 97, count: 3900)
    let field = [0x40, 1, 120, 0x7F, 0xBD, 0x1D] + value
    let block = RawHTTP2Client.head() + field + [UInt8](repeating: 0xBE, count: 8000)
    try client.send(HTTP2Frame.headers(block, stream: 1, endsStream: true))
    #expect(try client.read { $0.stream == 1 && ($0.type == 3 || $0.type == 7) }.type == 3)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 3, endsStream: true))
    #expect(try client.status(of: 3) == 0x88)
  }

  @Test func `a response of unknown length without a body ends with its head`() throws {
    let loop = try Loop(index: 0)
    let server = try Server(on: .tcp(), [loop], limits: ServerLimits(), isOwner: true, HeadOnlyHandler())
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    let head = try client.read { $0.stream == 1 }
    #expect(head.type == 1 && head.flags & 1 == 1)
  }

  @Test func `a response without a body ends for a client that takes nothing`() throws {
    var limits = ServerLimits()
    limits.bodyIdle = .milliseconds(200)
    let server = try Server(limits: limits) { _ in
      Response(status: 200, body: .empty, trailers: ["x-t": "1"])
    }
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port, settings: HTTP2Frame.frame(type: 4, [0, 4, 0, 0, 0, 0]))
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    let end = try client.read { $0.stream == 1 && ($0.type == 3 || $0.flags & 1 == 1) }
    #expect(end.stream == 1)
  }

  @Test func `a client that sends a request and is gone is noticed`() async throws {
    let (begun, ended) = (Watched(0), Watched(0))
    let server = try Server { _ in
      begun.update { $0 += 1 }
      await withTaskCancellationHandler {
        _ = try? await ended.wait(for: "the end") { $0 > 0 }
      } onCancel: {
        ended.update { $0 += 1 }
      }
      return Response(status: 200)
    }
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    client.socket.shutdownWriting()
    try await ended.wait(for: "the cancellation") { $0 == 1 }
  }

  @Test func `an idle connection ends, and one with a head that does not end`() throws {
    var limits = ServerLimits()
    limits.idle = .milliseconds(100)
    limits.headTimeout = .milliseconds(100)
    let server = try Self.server(limits)
    defer { server.stop() }
    let idle = try RawHTTP2Client(port: server.port)
    let partial = RawHTTP2Client(on: try StreamSocket.connect(port: server.port))
    try partial.send(Array("PRI * HT".utf8))
    let stuck = try RawHTTP2Client(port: server.port)
    // HEADERS without END_HEADERS.
    try stuck.send(HTTP2Frame.frame(type: 1, flags: 1, stream: 1, RawHTTP2Client.head()))
    try idle.readToEnd()
    #expect(idle.farewells == [0])
    try stuck.readToEnd()
    try partial.readToEnd()
  }

  @Test func `a client that takes nothing of a response loses it`() throws {
    var limits = ServerLimits()
    limits.bodyIdle = .milliseconds(200)
    let server = try Server(limits: limits) { _ in
      Response(status: 200, body: .bytes([UInt8](repeating: 65, count: 200_000)))
    }
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    // The window of 64 KiB is never refilled.
    let reset = try client.read { $0.type == 3 }
    #expect(reset.stream == 1)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head("HEAD"), stream: 3, endsStream: true))
    #expect(try client.status(of: 3) == 0x88)
  }
}

/// Answers with a head of unknown length, and ends the response.
private final class HeadOnlyHandler: ServerHandler {
  func handle(_ stream: ServerStream) {
    stream.respond(200, HeaderFields(), .unknown)
    stream.finish()
  }
}
