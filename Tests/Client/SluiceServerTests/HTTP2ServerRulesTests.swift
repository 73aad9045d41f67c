import SluiceMessages
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceServer

/// Rules of RFC 9113 for a server, as a client that breaks them sees them.
@Suite struct HTTP2ServerRulesTests {
  /// Counts the requests that are complete.
  private static func server(_ handled: Watched<Int>) throws -> Server {
    try Server { request in
      if request.head.target != "/after" { handled.update { $0 += 1 } }
      return Response(status: 200)
    }
  }

  // RFC 9113 §5.1, §5.1.1, §5.4.1, §6.1, §6.5, §6.7, §6.8, §8.4
  @Test(arguments: [
    HTTP2Frame.data("a", stream: 1), HTTP2Frame.headers(RawHTTP2Client.head(), stream: 2, endsStream: true),
    HTTP2Frame.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2]), HTTP2Frame.frame(type: 4, stream: 1),
    HTTP2Frame.frame(type: 6, stream: 1, [UInt8](repeating: 0, count: 8)),
    HTTP2Frame.frame(type: 7, stream: 1, [UInt8](repeating: 0, count: 8)),
    HTTP2Frame.frame(type: 8, stream: 1, [0, 0, 0, 1]), HTTP2Frame.frame(type: 9, flags: 4, stream: 1, [0x82]),
  ])
  func `a frame that its state does not allow ends the connection with an error`(_ frames: [UInt8]) throws {
    let server = try Self.server(Watched(0))
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(frames)
    try client.readToEnd()
    // PROTOCOL_ERROR or STREAM_CLOSED.
    #expect(client.farewells.contains { $0 == 1 || $0 == 5 }, "\(client.farewells)")
  }

  // RFC 9113 §5.1.1. nghttp2 skips such a stream where the RFC asks for an error: it could have known it.
  @Test func `a stream with a lower number than another is not served`() throws {
    let handled = Watched(0)
    let server = try Self.server(handled)
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    for stream: UInt32 in [5, 3, 7] {
      try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), stream: stream, endsStream: true))
    }
    #expect(try client.status(of: 7) == 0x88)
    #expect(handled.value == 2)
  }

  // RFC 9113 §5.5
  @Test(arguments: [HTTP2Frame.frame(type: 0x42, stream: 1, [1]), HTTP2Frame.frame(type: 4, [0x42, 0x42, 0, 0, 0, 1])])
  func `unknown frames and settings are skipped`(_ frame: [UInt8]) throws {
    let server = try Self.server(Watched(0))
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(frame + HTTP2Frame.headers(RawHTTP2Client.head(), stream: 1, endsStream: true))
    #expect(try client.status(of: 1) == 0x88)
  }

  // RFC 9113 §8.1, §8.1.1, §8.3.1
  @Test(arguments: [
    HTTP2Frame.headers([(":scheme", "http"), (":path", "/")].flatMap { HTTP2Frame.field($0, $1) }, endsStream: true),
    HTTP2Frame.headers([(":method", "GET"), (":path", "/")].flatMap { HTTP2Frame.field($0, $1) }, endsStream: true),
    HTTP2Frame.headers(
      [(":method", "GET"), (":scheme", "http")].flatMap { HTTP2Frame.field($0, $1) }, endsStream: true),
    HTTP2Frame.headers(RawHTTP2Client.head("POST", "/", [("content-length", "5")]))
      + HTTP2Frame.data("ab", endsStream: true),
    HTTP2Frame.headers(RawHTTP2Client.head("POST", "/", [("content-length", "1")]))
      + HTTP2Frame.data("ab", endsStream: true),
    HTTP2Frame.headers(RawHTTP2Client.head("POST"))
      + HTTP2Frame.headers(HTTP2Frame.field(":path", "/b"), endsStream: true),
    HTTP2Frame.headers(RawHTTP2Client.head("POST")) + HTTP2Frame.headers(HTTP2Frame.field("x-t", "1")),
  ])
  func `a malformed request is reset and not handed over, and its neighbours are answered`(_ frames: [UInt8])
    async throws
  {
    let handled = Watched(0)
    let server = try Self.server(handled)
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(frames + HTTP2Frame.headers(RawHTTP2Client.head("GET", "/after"), stream: 3, endsStream: true))
    #expect(try client.status(of: 3) == 0x88)
    if !client.received.contains(where: { $0.stream == 1 && $0.type == 3 }) {
      try client.read { $0.stream == 1 && $0.type == 3 }
    }
    #expect(handled.value == 0)
  }

  // RFC 9110 §10.1.1
  @Test func `a client that asks first gets 100, and the final status after its body`() throws {
    let server = try Self.server(Watched(0))
    defer { server.stop() }
    let client = try RawHTTP2Client(port: server.port)
    try client.send(HTTP2Frame.headers(RawHTTP2Client.head("POST", "/", [("expect", "100-continue")])))
    // An informational response does not end the stream. `:status` with a value that HPACK has not in its table.
    let first = try client.read { $0.stream == 1 && $0.type == 1 }
    #expect(first.payload.first == 0x48 && first.flags & 1 == 0, "\(first)")
    try client.send(HTTP2Frame.data("a", endsStream: true))
    let last = try client.read { $0.stream == 1 && $0.type == 1 }
    #expect(last.payload.first == 0x88)
  }
}
