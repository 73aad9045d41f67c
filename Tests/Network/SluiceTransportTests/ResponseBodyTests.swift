import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What happens to a response body: collected, spilled, streamed, held, discarded, refused.
@Suite struct ResponseBodyTests {
  @Test(.enabled(if: NginxServer.isAvailable))
  func `a body that is larger than the spill size is in a file, which exists as long as the message`() async throws {
    let nginx = try await NginxServer.start(.serving(bigFileBytes: 3_000_000))
    var options = TransferOptions()
    options.spillBytes = 100_000
    let wire = try Wire()
    let path: String
    var written = stat()
    do {
      let record = try await wire.send(Request(url: HTTPURL(nginx.baseURL + "/big")), options: options)
      guard case .file(let file)? = record.ends.first?.body else {
        Issue.record("no file but \(String(describing: record.error))")
        return
      }
      path = file.path
      #expect(file.byteCount == 3_000_000)
      #expect(stat(path, &written) == 0)
      #expect(written.st_size == 3_000_000)
      #expect(written.st_mode & 0o777 == 0o600)
    }
    // The loop's thread might release its references only after it has woken the test.
    await wire.onLoop {}
    // The path contains the number of a descriptor. By now, another file of this process can have this number.
    var found = stat()
    let isThere = stat(path, &found) == 0
    #expect(!isThere || found.st_ino != written.st_ino || found.st_dev != written.st_dev)
  }

  @Test func `if the file of a body cannot be made, the error names the folder`() async throws {
    await #expect(processExitsWith: .success) {
      setenv("TMPDIR", "/nonexistent", 1)
      let server = try ScriptedServer(ScriptStep.respond(body: "more than four"))
      let request = Request(url: try HTTPURL(server.baseURL))
      let record = try await Wire().send(request, options: TransferOptions(spillBytes: 4))
      #expect(record.code == .bodyFile)
      let message = try #require(record.error?.message)
      #expect(message.contains("temporary file in /nonexistent for a body"))
      #expect(message.contains("; set TMPDIR to a folder that can be written, or raise transport.spillBytes"))
    }
  }

  @Test(arguments: [true, false])
  func `a body that exceeds its limit fails the transfer, even if its length is not announced`(
    _ isAnnounced: Bool
  ) async throws {
    let length = isAnnounced ? "Content-Length: 5000" : "Connection: close"
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\n\(length)\r\n\r\n" + String(repeating: "x", count: 5000)))
    let record = try await Wire().send(
      Request(url: HTTPURL(server.baseURL)), options: TransferOptions(maximumResponseBytes: 4999))
    #expect(record.code == .responseTooLarge)
    #expect(record.error?.message.contains("4999") == true)
    #expect(record.ends.first?.body.isEmpty == true)
  }

  @Test(arguments: [true, false])
  func `a streamed body has a separate limit, and by default no limit`(_ isAnnounced: Bool) async throws {
    let length = isAnnounced ? "Content-Length: 5000" : "Connection: close"
    let answer = "HTTP/1.1 200 OK\r\n\(length)\r\n\r\n" + String(repeating: "x", count: 5000)
    for (limit, isAllowed) in [(Int.max, true), (5000, true), (4999, false)] {
      let server = try ScriptedServer(.receiveHead, .send(answer))
      let probe = Probe()
      probe.disposition = .stream
      let options = TransferOptions(maximumResponseBytes: 10, maximumStreamedBytes: limit)
      let record = try await Wire().send(Request(url: HTTPURL(server.baseURL)), options: options, probe)
      #expect(record.code == (isAllowed ? nil : .responseTooLarge))
      #expect(!isAllowed || record.streamedBytes == 5000)
    }
  }

  @Test func `a response to HEAD may announce a length that exceeds the limit`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"))
    let record = try await Wire().send(Request(method: "HEAD", url: HTTPURL(server.baseURL)))
    #expect(record.error == nil)
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `gzip is requested and decoded, and the headers stay as received`()
    async throws
  {
    let nginx = try await NginxServer.start()
    let record = try await Wire().get(nginx.baseURL + "/gzip")
    #expect(record.head?.headers["Content-Encoding"] == "gzip")
    #expect(record.bodyText.utf8.count == 65_536)
    #expect(record.timings.bytesReceived < 10_000)
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `the limit of a body counts decoded bytes`() async throws {
    let nginx = try await NginxServer.start()
    let record = try await Wire().send(
      Request(url: HTTPURL(nginx.baseURL + "/gzip")), options: TransferOptions(maximumResponseBytes: 20_000))
    #expect(record.code == .responseTooLarge)
  }

  @Test func `a body that cannot be decoded fails with a decoding error`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"))
    let record = try await Wire().get(server.baseURL)
    #expect(record.code == .decoding)
  }

  @Test func `a held response waits for proceed, with or without a body`() async throws {
    for text in ["", "content"] {
      let server = try ScriptedServer(ScriptStep.respond(body: text))
      let wire = try Wire()
      let probe = Probe()
      let slot = TransferSlot()
      let isHead = Signal()
      probe.disposition = .hold
      probe.onHead = { isHead.set() }
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
      try await isHead.wait(for: "the head")
      try await server.waitForScripts()
      for _ in 0..<20 { await wire.onLoop {} }
      #expect(probe.record.value.ends.isEmpty)
      wire.loop.post { slot.transfer?.proceed(.collect) }
      let record = try await probe.waitForEnd()
      #expect(record.error == nil)
      #expect(record.bodyText == text)
    }
  }

  @Test func `if an observer pauses at the last piece, the transfer ends only after the pause`() async throws {
    let server = try ScriptedServer(ScriptStep.respond(body: "all of it"))
    let wire = try Wire()
    let probe = Probe()
    let slot = TransferSlot()
    probe.disposition = .stream
    probe.onPiece = { _ in .pause }
    wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
    try await probe.record.wait(for: "the piece") { $0.pieces == 1 }
    try await server.waitForScripts()
    for _ in 0..<20 { await wire.onLoop {} }
    #expect(probe.record.value.ends.isEmpty)
    wire.loop.post { slot.transfer?.resumeReceiving() }
    let record = try await probe.waitForEnd()
    #expect(record.error == nil)
    #expect(record.pieces == 1)
  }

  /// Streams 64 MiB, or 256 MiB with `SLUICE_SOAK=1`. Runs in a separate process, so that only the transfer's memory
  /// counts.
  @Test(.enabled(if: NginxServer.isAvailable)) func `a large body streams in constant memory during pauses`()
    async
  {
    await #expect(processExitsWith: .success) { try await ResponseBodyTests().streamLargeBodies() }
  }

  private func streamLargeBodies() async throws {
    let bytes = (getenv("SLUICE_SOAK") != nil ? 256 : 64) << 20
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(.serving(bigFileBytes: bytes), certificates: certificates)
    for base in [nginx.baseURL, nginx.secureBaseURL] {
      let before = ProcessFacts().residentBytes ?? 0
      let record = try await streamWithPauses(base + "/big", bytes, certificates)
      #expect(record.error == nil)
      #expect(record.streamedBytes == bytes)
      let after = ProcessFacts().residentBytes ?? 0
      #expect(Sanitizer.isOn || after - before < 40 << 20, "grew from \(before) to \(after)")
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a short discarded body is read to keep the connection, and a long one closes the connection`() async throws {
    let nginx = try await NginxServer.start()
    let wire = try Wire()
    for (path, keepsConnection) in [("/gzip", true), ("/", true), ("/big", false)] {
      let probe = Probe()
      probe.disposition = .discard
      let options = TransferOptions(maximumResponseBytes: 1 << 40)
      let record = try await wire.send(Request(url: HTTPURL(nginx.baseURL + path)), options: options, probe)
      #expect(record.error == nil)
      #expect(record.ends.first?.body.isEmpty == true)
      #expect(try await wire.get(nginx.baseURL + "/").timings.isConnectionReused == keepsConnection)
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `an observer that stops ends the transfer`() async throws {
    let nginx = try await NginxServer.start()
    let probe = Probe()
    probe.disposition = .stream
    probe.onPiece = { _ in .stop }
    let record = try await Wire().send(Request(url: HTTPURL(nginx.baseURL + "/gzip")), probe)
    #expect(record.code == .cancelled)
    #expect(record.pieces == 1)
  }

  private func streamWithPauses(
    _ url: String, _ bytes: Int, _ certificates: TestCertificates
  ) async throws -> Probe.Record {
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let probe = Probe()
    let slot = TransferSlot()
    probe.disposition = .stream
    probe.onPiece = { [loop = wire.loop] piece in
      // The observer pauses at each piece, and the next turn of the loop ends the pause.
      loop.post { slot.transfer?.resumeReceiving() }
      return .pause
    }
    wire.start(
      Request(url: try HTTPURL(url)), probe, options: TransferOptions(maximumResponseBytes: bytes)
    ) { slot.transfer = $0 }
    return try await probe.waitForEnd(upTo: .seconds(120))
  }
}
