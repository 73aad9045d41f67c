import SluiceMessages
import SluicePipeline
import SluiceTestServers
import Testing

/// Servers that break the rules of HTTP/2 (RFC 9113), or end a stream with an error.
@Suite struct HTTP2FailureTests {
  /// Sends a request that the server answers with these bytes, and returns how the transfer ended.
  private func end(_ bytes: [UInt8], method: String = "GET", body: Body = .empty) async throws -> (
    Probe.Record, place: String
  ) {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server, ["-alpn", "h2"])
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let probe = Probe()
    wire.start(Request(method: method, url: try HTTPURL(server.baseURL), body: body), probe)
    try await server.waitForInput(containing: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    try server.send(bytes)
    return (try await probe.waitForEnd(), "\(server.baseURL): ")
  }

  struct Break: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
  }

  private static let beforeTheHead = [
    Break("HTTP/1.1", Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)),
    Break("text", Array(String(repeating: "garbage ", count: 20).utf8)),
    Break("no settings", HTTP2Frame.head),
    Break("a SETTINGS frame of three bytes", HTTP2Frame.frame(type: 4, [1, 2, 3])),
    Break("headers on a stream of the server's numbers", HTTP2Frame.settings + HTTP2Frame.headers([0x88], stream: 2)),
    Break("data on stream 0, which is the connection", HTTP2Frame.settings + HTTP2Frame.data("x", stream: 0)),
    Break("data before a head", HTTP2Frame.settings + HTTP2Frame.data("x")),
    Break("a frame beyond the limit", HTTP2Frame.settings + HTTP2Frame.frame(type: 0, stream: 1, count: 0x20000)),
    Break("headers that do not decompress", HTTP2Frame.settings + HTTP2Frame.headers([0xBF, 0x80])),
    Break(
      "data within a head", HTTP2Frame.settings + HTTP2Frame.frame(type: 1, stream: 1, [0x88]) + HTTP2Frame.data("x")),
    Break("a window update of 0 bytes", HTTP2Frame.settings + HTTP2Frame.frame(type: 8, [0, 0, 0, 0])),
    Break(
      "a pushed request, although the client forbids pushes",
      HTTP2Frame.settings + HTTP2Frame.frame(type: 4, flags: 1)
        + HTTP2Frame.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2, 0x82, 0x87, 0x84])),
    Break("a ping of three bytes", HTTP2Frame.settings + HTTP2Frame.frame(type: 6, [1, 2, 3])),
  ]

  @Test(arguments: beforeTheHead)
  func `bytes that are not HTTP 2 are an invalid response, not a lost connection`(_ broken: Break) async throws {
    let (record, place) = try await end(broken.bytes)
    #expect(record.code == .invalidResponse, "\(String(describing: record.error))")
    #expect(
      record.error?.message == place
        + "a rule of HTTP/2 was broken: the server sent invalid HTTP/2 before the response; only"
        + " the server can fix it, but HTTP/1.1 might work: transport.httpVersion \"1.1\"")
    #expect(record.error?.isBeforeSending == false && record.issued.count == 1 && record.ends.count == 1)
  }

  @Test(arguments: [
    Break("no status", HTTP2Frame.headers(HTTP2Frame.field("a", "b"), endsStream: true)),
    Break("a field of HTTP/1", HTTP2Frame.headers([0x88] + HTTP2Frame.field("connection", "close"), endsStream: true)),
    Break("a name in upper case", HTTP2Frame.headers([0x88] + HTTP2Frame.field("A", "b"), endsStream: true)),
    Break(
      "two lengths",
      HTTP2Frame.headers([0x88] + HTTP2Frame.field("content-length", "2") + HTTP2Frame.field("content-length", "5"))),
    Break(
      "a body beyond its length",
      HTTP2Frame.headers([0x88] + HTTP2Frame.field("content-length", "2")) + HTTP2Frame.data("hello", endsStream: true)),
    Break(
      "a body below its length",
      HTTP2Frame.headers([0x88] + HTTP2Frame.field("content-length", "9")) + HTTP2Frame.data("hello", endsStream: true)),
    Break("reset with PROTOCOL_ERROR", HTTP2Frame.reset(1)), Break("reset with COMPRESSION_ERROR", HTTP2Frame.reset(9)),
  ])
  func `a stream that violates a rule of HTTP 2 is an invalid response`(_ broken: Break) async throws {
    let (record, place) = try await end(HTTP2Frame.settings + broken.bytes)
    #expect(record.code == .invalidResponse, "\(String(describing: record.error))")
    #expect(record.error?.message.hasPrefix(place + "a rule of HTTP/2 was broken: HTTP/2 stream 1 ") == true)
    #expect(record.error?.message.hasSuffix("HTTP/1.1 might work: transport.httpVersion \"1.1\"") == true)
  }

  @Test(
    arguments: [
      (2, "INTERNAL_ERROR (err 2); the server's log might say why"),
      (8, "CANCEL (err 8); the server's log might say why"),
      (11, "ENHANCE_YOUR_CALM (err 11); the server wants fewer requests"),
    ] as [(UInt32, String)])
  func `the error for a stream that the server resets has the name of the HTTP/2 error`(
    _ code: UInt32, _ words: String
  ) async throws {
    let (record, place) = try await end(HTTP2Frame.settings + HTTP2Frame.reset(code))
    #expect(record.code == .connectionLost, "\(String(describing: record.error))")
    #expect(
      record.error?.message
        == place + "the server reset the stream before the response: HTTP/2 stream 1 was not closed cleanly: " + words)
  }

  @Test func `a request fails as not processed if it is beyond the last stream that the server accepts`() async throws {
    let (record, _) = try await end(HTTP2Frame.settings + HTTP2Frame.goAway(lastStream: 0, 1))
    #expect(record.code == .notProcessed, "\(String(describing: record.error))")
    #expect(record.error?.isBeforeSending == true)
  }

  @Test(
    arguments: [
      ("with the stream", HTTP2Frame.head + HTTP2Frame.data("hi", endsStream: true), "GET", "hi"),
      (
        "with an empty frame", HTTP2Frame.head + HTTP2Frame.data("hi") + HTTP2Frame.data("", endsStream: true), "GET",
        "hi"
      ),
      ("with the head", HTTP2Frame.headers([0x88], endsStream: true), "GET", ""),
      ("with the head, in response to HEAD", HTTP2Frame.headers([0x88], endsStream: true), "HEAD", ""),
      (
        "with trailers",
        HTTP2Frame.head + HTTP2Frame.data("hi") + HTTP2Frame.headers(HTTP2Frame.field("a", "b"), endsStream: true),
        "GET", "hi"
      ),
    ] as [(String, [UInt8], String, String)])
  func `a response is complete if its stream ends`(
    _ name: String, _ bytes: [UInt8], _ method: String, _ body: String
  ) async throws {
    let (record, _) = try await end(HTTP2Frame.settings + bytes, method: method)
    #expect(record.error == nil && record.bodyText == body, "\(name): \(String(describing: record.error))")
  }

  @Test func `a response whose stream is reset with NO_ERROR before its end is incomplete`() async throws {
    let (record, _) = try await end(
      HTTP2Frame.settings + HTTP2Frame.head + HTTP2Frame.data("x") + HTTP2Frame.reset(0))
    #expect(record.code == .connectionLost, "\(record.bodyText)")
  }

  /// The body is larger than the window, and the server sends no WINDOW_UPDATE, so the response comes first.
  @Test func `a response that comes before the whole request was sent is used, even if the stream is then reset`()
    async throws
  {
    let head = HTTP2Frame.headers([0x88] + HTTP2Frame.field("content-length", "2"))
    let response = head + HTTP2Frame.data("hi") + HTTP2Frame.data("", endsStream: true)
    let (record, _) = try await end(
      HTTP2Frame.settings + response + HTTP2Frame.reset(0), method: "POST",
      body: .bytes(Array(repeating: 0x78, count: 1 << 20)))
    #expect(record.error == nil && record.bodyText == "hi", "\(String(describing: record.error))")
  }

  @Test(arguments: [1, 2, 100])
  func `over HTTP 1_1 with TLS, bytes behind a body in the same record are not the next response`(
    _ inLastRecord: Int
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    settings.httpVersion = .http11
    let wire = try Wire(settings)
    let probes = (0..<2).map { _ in Probe() }
    wire.start(Request(url: try HTTPURL(server.baseURL + "/first")), probes[0])
    try await server.waitForInput(containing: "GET /first")
    // A record has at most 16,384 bytes, so the end of the body is in another record than its beginning.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: "
    let count = 16_384 + inLastRecord - head.utf8.count - "16384\r\n\r\n".utf8.count
    let response = "\(head)\(count)\r\n\r\n" + String(repeating: "x", count: count)
    try server.send(Array((response + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil").utf8))
    #expect(try await probes[0].waitForEnd().bodyText.utf8.count == count)
    wire.start(Request(url: try HTTPURL(server.baseURL + "/next")), probes[1])
    try await server.waitForInput(containing: "GET /next")
    try server.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8))
    let next = try await probes[1].waitForEnd()
    #expect(next.bodyText == "good", "\(String(describing: next.error))")
  }

  @Test func `over HTTP 1_1 with TLS, a connection that ends without a response byte fails as lost`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let probe = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), probe)
    try await server.waitForInput(containing: "GET / HTTP/1.1\r\n")
    try server.close()
    let record = try await probe.waitForEnd()
    #expect(record.code == .connectionLost, "\(String(describing: record.error))")
  }
}
