import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// Compressed bodies on the wire. The transfer fails unless the whole body is decoded.
@Suite struct ContentCodingTests {
  private static let text = EncodedBody.text(lines: 3000)

  /// Returns a script that responds with this body and its length.
  private static func answer(_ coding: String, _ body: [UInt8], status: String = "200 OK") -> [ScriptStep] {
    let head = "HTTP/1.1 \(status)\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
    return [.receiveHead, .send(Array(head.utf8) + body)]
  }

  private static func get(_ steps: [ScriptStep], _ request: HeaderFields = [:]) async throws -> Probe.Record {
    let server = try ScriptedServer(steps)
    return try await Wire().send(Request(url: HTTPURL(server.baseURL), headers: request))
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .deflate, .bareDeflate, .brotli, .zstd])
  func `a complete body is decoded, and the encoded bytes are counted`(_ coding: EncodedBody.Coding) async throws {
    let body = EncodedBody.bytes(coding, Array(Self.text.utf8))
    let record = try await Self.get(Self.answer(coding.name, body))
    #expect(record.error == nil)
    #expect(record.bodyText == Self.text)
    #expect(record.timings.bytesReceived == body.count)
    #expect(record.head?.headers["Content-Encoding"] == coding.name)
    #expect(record.head?.headers["Content-Length"] == "\(body.count)")
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .deflate, .bareDeflate, .brotli, .zstd], [false, true])
  func `a truncated body fails with a decoding error, collected or streamed`(
    _ coding: EncodedBody.Coding, _ isStreamed: Bool
  ) async throws {
    let body = EncodedBody.bytes(coding, Array(Self.text.utf8))
    for count in [1, 5, body.count / 2, body.count - 1] {
      let server = try ScriptedServer(Self.answer(coding.name, Array(body[..<count])))
      let probe = Probe()
      probe.disposition = isStreamed ? .stream : .collect
      let record = try await Wire().send(Request(url: HTTPURL(server.baseURL)), probe)
      #expect(record.code == .decoding, "\(count) of \(body.count)")
      #expect(record.error?.message.contains("\(coding.name): it ends in the middle") == true)
      #expect(record.ends.first?.body.isEmpty == true)
    }
  }

  @Test(arguments: ["gzip", "deflate", "br", "zstd"])
  func `an empty body with a coding is accepted if the message says where it ends`(_ coding: String) async throws {
    let record = try await Self.get(Self.answer(coding, []))
    #expect(record.error == nil)
    #expect(record.ends.first?.body.isEmpty == true)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
    #expect(try await Self.get([.receiveHead, .send(head + "Connection: close\r\n\r\n")]).code == .decoding)
    for end in ["0\r\n\r\n", "0\r\nX-Sum: 1\r\n\r\n"] {
      let chunked = try await Self.get([.receiveHead, .send(head + "Transfer-Encoding: chunked\r\n\r\n" + end)])
      #expect(chunked.error == nil && chunked.ends.first?.body.isEmpty == true, "\(chunked.ends)")
    }
    let transfer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
    #expect(try await Self.get([.receiveHead, .send(transfer)]).error == nil)
  }

  @Test(arguments: ["gzip", "br", "zstd"])
  func `a response without a body has nothing to decode`(_ coding: String) async throws {
    for status in ["204 No Content", "304 Not Modified"] {
      let record = try await Self.get([
        .receiveHead, .send("HTTP/1.1 \(status)\r\nContent-Encoding: \(coding)\r\n\r\n"),
      ])
      #expect(record.error == nil, "\(status)")
    }
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 100\r\n\r\n"))
    #expect(try await Wire().send(Request(method: "HEAD", url: HTTPURL(server.baseURL))).error == nil)
  }

  @Test func `a body of several gzip members or zstd frames is decoded`() async throws {
    for coding in [EncodedBody.Coding.gzip, .zstd] {
      let member = EncodedBody.bytes(coding, Array(Self.text.utf8))
      #expect(try await Self.get(Self.answer(coding.name, member + member)).bodyText == Self.text + Self.text)
      #expect(try await Self.get(Self.answer(coding.name, member + member.dropLast())).code == .decoding)
    }
  }

  @Test func `several codings in several header lines are decoded in reverse order`() async throws {
    let body = EncodedBody.bytes(.zstd, EncodedBody.bytes(.gzip, Array(Self.text.utf8)))
    let record = try await Self.get(Self.answer("gzip\r\nContent-Encoding: zstd", body))
    #expect(record.bodyText == Self.text)
  }

  @Test func `a transfer coding that the request did not ask for is decoded too`() async throws {
    let body = EncodedBody.bytes(.gzip, EncodedBody.bytes(.brotli, Array(Self.text.utf8)))
    let head =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Encoding: br\r\n\r\n"
      + String(body.count, radix: 16) + "\r\n"
    let record = try await Self.get([.receiveHead, .send(Array(head.utf8) + body + Array("\r\n0\r\n\r\n".utf8))])
    #expect(record.error == nil)
    #expect(record.bodyText == Self.text)
  }

  @Test(arguments: ["compress", "aws-chunked", "gzip, compress", "utf-8", "gzip\r\nContent-Encoding: x"])
  func `a body with an unknown coding, which was not asked for, stays as it is`(_ coding: String) async throws {
    let record = try await Self.get(Self.answer(coding, [1, 2, 3]))
    #expect(record.error == nil && record.ends.first?.body.bytes == [1, 2, 3])
    #expect(try await Self.get(Self.answer(coding, [])).error == nil)
  }

  @Test(arguments: [("x", #""x""#), ("x\u{200B}y\u{202E}", #""x\u{200B}y\u{202E}""#)])
  func `the error for an unknown transfer coding names the fields that can name it`(
    _ coding: String, _ shown: String
  ) async throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nConnection: close\r\n\r\n"
    let server = try ScriptedServer(.receiveHead, .send(head + "abc"))
    defer { server.stop() }
    let record = try await Wire().get(server.baseURL)
    let words = [
      "unknown coding \(shown);", "its Transfer-Encoding or Content-Encoding says",
      "known codings: gzip, deflate, br, zstd",
    ]
    #expect(record.code == .decoding, "\(record.ends)")
    for word in words { #expect(record.error?.message.contains(word) == true, "\(record.ends)") }
  }

  @Test func `Accept-Encoding lists every coding, unless the request has this header`() async throws {
    let body = EncodedBody.bytes(.brotli, Array(Self.text.utf8))
    let server = try ScriptedServer([Self.answer("br", body) + Self.answer("br", body)])
    let wire = try Wire()
    let first = try await wire.send(Request(url: HTTPURL(server.baseURL), headers: ["X-A": "1"]))
    let second = try await wire.send(
      Request(url: HTTPURL(server.baseURL), headers: ["accept-encoding": "gzip", "X-A": "1"]))
    #expect(first.bodyText == Self.text)
    // The second body is decoded too: its coding is in the response, and what the request accepts does not matter.
    #expect(second.bodyText == Self.text)
    let start = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAccept: */*\r\n"
    #expect(
      server.receivedText.first
        == start + "Accept-Encoding: deflate, gzip, br, zstd\r\nX-A: 1\r\n\r\n"
        + start + "accept-encoding: gzip\r\nX-A: 1\r\n\r\n")
  }

  @Test func `a body is left unchanged if decoding is off`() async throws {
    let body = EncodedBody.bytes(.gzip, Array(Self.text.utf8))
    let server = try ScriptedServer(Self.answer("gzip", body))
    var settings = TransportSettings.patient
    settings.decodesContent = false
    let record = try await Wire(settings).get(server.baseURL)
    #expect(record.ends.first?.body.bytes == body)
    #expect(server.receivedText.first?.contains("ncoding") == false)
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a gzip body over HTTP-2 is decoded`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let record = try await wire.get(nginx.secureBaseURL + "/gzip")
    #expect(record.error == nil)
    #expect(record.head?.version == .http2)
    #expect(record.bodyText.utf8.count == 65_536)
    #expect(record.timings.bytesReceived < 10_000)
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .brotli, .zstd])
  func `if a small body decodes to a large one, its pieces are limited, and the observer can pause at each`(
    _ coding: EncodedBody.Coding
  ) async throws {
    let bytes = 8 << 20
    let server = try ScriptedServer(
      Self.answer(coding.name, EncodedBody.bytes(coding, Array(repeating: 0x61, count: bytes))))
    let wire = try Wire()
    let probe = Probe()
    let slot = TransferSlot()
    let largest = Watched(0)
    probe.disposition = .stream
    probe.onPiece = { [loop = wire.loop] piece in
      largest.update { $0 = max($0, piece.count) }
      loop.post { slot.transfer?.resumeReceiving() }
      return .pause
    }
    wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
    let record = try await probe.waitForEnd()
    #expect(record.error == nil)
    #expect(record.streamedBytes == bytes)
    #expect(largest.value <= 65_536)
  }

  @Test func `if an observer pauses while a piece is being decoded, it gets no further decoded bytes`() async throws {
    let server = try ScriptedServer(Self.answer("gzip", EncodedBody.bytes(.gzip, Array(repeating: 7, count: 1 << 20))))
    let wire = try Wire()
    let probe = Probe()
    let slot = TransferSlot()
    probe.disposition = .stream
    probe.onPiece = { _ in .pause }
    wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
    try await probe.record.wait(for: "the first piece") { $0.pieces == 1 }
    try await server.waitForScripts()
    for _ in 0..<20 { await wire.onLoop {} }
    #expect(probe.record.value.pieces == 1)
    #expect(probe.record.value.ends.isEmpty)
    wire.loop.post { slot.transfer?.resumeReceiving() }
    try await probe.record.wait(for: "the second piece") { $0.pieces == 2 }
    wire.loop.post { slot.transfer?.cancel() }
    #expect(try await probe.waitForEnd().code == .cancelled)
  }

  @Test func `a transfer fails as soon as the decoded body exceeds the limit of a body`() async throws {
    for coding in [EncodedBody.Coding.gzip, .brotli, .zstd] {
      let body = EncodedBody.bytes(coding, Array(repeating: 0, count: 64 << 20))
      let server = try ScriptedServer(Self.answer(coding.name, body))
      let record = try await Wire().send(
        Request(url: HTTPURL(server.baseURL)), options: TransferOptions(maximumResponseBytes: 1 << 20))
      #expect(record.code == .responseTooLarge)
    }
  }

  @Test func `a discarded body is not decoded, and its end is not an error`() async throws {
    let body = EncodedBody.bytes(.gzip, Array(Self.text.utf8))
    let server = try ScriptedServer(Self.answer("gzip", body.dropLast(4)))
    let probe = Probe()
    probe.disposition = .discard
    #expect(try await Wire().send(Request(url: HTTPURL(server.baseURL)), probe).error == nil)
  }
}
