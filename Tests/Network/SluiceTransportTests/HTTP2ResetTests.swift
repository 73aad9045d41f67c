import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// Streams that this side ends before the server does. The server may have sent the rest of such a response already,
/// up to the window of the stream, so this must not disturb the other requests of the connection.
@Suite struct HTTP2ResetTests {
  private static let request: [ScriptStep] = [.receive(24), .receiveFrame(type: 1)]
  /// The acknowledgement makes the client's window for streams, 1 MiB, valid.
  private static let settings = HTTP2Frame.settings + HTTP2Frame.frame(type: 4, flags: 1)

  private func makeWire() throws -> Wire {
    var settings = TransportSettings.patient
    settings.assumesHTTP2 = true
    return try Wire(settings)
  }

  /// Frames of data whose payloads have this number of bytes in total.
  private static func data(stream: UInt32, total: Int, each: Int) -> [UInt8] {
    let frame = HTTP2Frame.frame(type: 0, stream: stream, [UInt8](repeating: 0x78, count: each))
    return (0..<total / each).reduce(into: []) { bytes, _ in bytes += frame }
  }

  enum Rest: String, CaseIterable, Sendable {
    case largeFrames, smallFrames, tinyFrames, trailers, manyContinuations, nothing

    func bytes(stream: UInt32) -> [UInt8] {
      switch self {
      case .largeFrames: data(stream: stream, total: 1 << 20, each: 16_384)
      case .smallFrames: data(stream: stream, total: 1_000_000, each: 100)
      case .tinyFrames: data(stream: stream, total: 50_000, each: 1)
      case .trailers:
        data(stream: stream, total: 900_000, each: 10_000)
          + HTTP2Frame.headers(HTTP2Frame.field("a", "b"), stream: stream, endsStream: true)
      case .manyContinuations:
        HTTP2Frame.frame(type: 1, flags: 1, stream: stream, HTTP2Frame.field("a", "b"))
          + (0..<1000).flatMap { _ in
            HTTP2Frame.frame(type: 9, stream: stream, HTTP2Frame.field("a", String(repeating: "b", count: 100)))
          } + HTTP2Frame.frame(type: 9, flags: 4, stream: stream)
      case .nothing: []
      }
    }
  }

  @Test(arguments: Rest.allCases)
  func `the rest of a response that was given up does not end the connection`(_ rest: Rest) async throws {
    let streams = (0..<20).map { UInt32(2 * $0 + 3) }
    let isCut = Signal()
    let server = try ScriptedServer([
      // Another request is under way all the time.
      Self.request
        + streams.map { _ in .receiveFrame(type: 1) } + [.send(Self.settings + HTTP2Frame.headers([0x88]))]
        + streams.map { .send(HTTP2Frame.headers([0x88], stream: $0)) }
        + streams.map { _ in .receiveFrame(type: 3) }
        + streams.map { .send(rest.bytes(stream: $0)) }
        + [.signal(isCut), .send(HTTP2Frame.data("first", endsStream: true)), .receiveToEnd]
    ])
    let wire = try makeWire()
    let neighbor = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), neighbor)
    let probes = streams.map { _ in Probe() }
    for probe in probes {
      let slot = TransferSlot()
      probe.disposition = .hold
      probe.onHead = { [loop = wire.loop] in loop.post { slot.transfer?.cancel() } }
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
    }
    for probe in probes { #expect(try await probe.waitForEnd().code == .cancelled) }
    let record = try await neighbor.waitForEnd()
    #expect(record.error == nil && record.bodyText == "first", "\(String(describing: record.error))")
    #expect(isCut.isSet && server.connectionCount == 1)
    // The bytes are credited to the connection's window: without that, the server could not send any more.
    wire.loop.shutdown()
    try await server.waitForScripts()
    let frames = HTTP2Frame.parse(server.received.first.map { Array($0.dropFirst(24)) } ?? [])
    let credit = frames.filter { $0.type == 8 && $0.stream == 0 }.map { $0.payload.reduce(0) { $0 << 8 | Int($1) } }
    if rest == .largeFrames { #expect(credit.dropFirst().reduce(0, +) >= 20 << 19) }
  }

  /// The server may use the window that the client's settings announce before its acknowledgement has arrived.
  @Test func `streams that were given up before the settings were acknowledged may use their whole windows`()
    async throws
  {
    let streams: [UInt32] = [3, 5, 7, 9]
    let server = try ScriptedServer([
      Self.request + streams.map { _ in .receiveFrame(type: 1) } + streams.map { _ in .receiveFrame(type: 3) }
        + [.send(Self.settings)]
        + streams.map { .send(HTTP2Frame.headers([0x88], stream: $0) + Rest.largeFrames.bytes(stream: $0)) }
        + [.send(HTTP2Frame.answer("first")), .receiveToEnd]
    ])
    let wire = try makeWire()
    let neighbor = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), neighbor)
    let (probes, slots) = (streams.map { _ in Probe() }, streams.map { _ in TransferSlot() })
    for (probe, slot) in zip(probes, slots) {
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
    }
    for probe in probes { try await probe.record.wait(for: "the request") { !$0.issued.isEmpty } }
    // At the end of the turn in which they were issued, the requests are written. A stream must be reset after that.
    await wire.onLoop {}
    await wire.onLoop { for slot in slots { slot.transfer?.cancel() } }
    let record = try await neighbor.waitForEnd()
    #expect(record.error == nil && record.bodyText == "first", "\(String(describing: record.error))")
    #expect(server.connectionCount == 1)
  }

  @Test func `responses over the size limit do not disturb other requests, behind nginx`() async throws {
    try #require(NginxServer.isAvailable)
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(.serving(bigFileBytes: 30_000_000), certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    var options = TransferOptions()
    options.maximumResponseBytes = 20_000
    #expect(try await wire.get(nginx.secureBaseURL).error == nil)
    for _ in 0..<5 {
      let large = (0..<10).map { _ in Probe() }
      let posts = (0..<10).map { _ in Probe() }
      for (get, post) in zip(large, posts) {
        wire.start(Request(url: try HTTPURL(nginx.secureBaseURL + "/big")), get, options: options)
        let url = try HTTPURL(nginx.secureBaseURL + "/post")
        wire.start(Request(method: "POST", url: url, body: .bytes(Array(repeating: 0x78, count: 100_000))), post)
      }
      for probe in large { #expect(try await probe.waitForEnd().code == .responseTooLarge) }
      for probe in posts {
        let record = try await probe.waitForEnd()
        #expect(record.error == nil && record.bodyText == "ok\n", "\(String(describing: record.error))")
      }
    }
  }

  /// Sends three requests, and cancels the first. The server then sends `flood`.
  private func ends(_ flood: @escaping ([UInt8]) -> [UInt8]) async throws -> [Probe.Record] {
    let piece = Self.data(stream: 1, total: 1 << 20, each: 16_384)
    let server = try ScriptedServer([
      Self.request + [
        .receiveFrame(type: 1), .receiveFrame(type: 1),
        .send(Self.settings + HTTP2Frame.headers([0x88]) + HTTP2Frame.headers([0x88], stream: 3)),
        .receiveFrame(type: 3), .send(flood(piece)), .receiveToEnd,
      ]
    ])
    let wire = try makeWire()
    let probes = (0..<3).map { _ in Probe() }
    for (number, probe) in probes.enumerated() {
      let slot = TransferSlot()
      if number == 0 {
        probe.disposition = .hold
        probe.onHead = { [loop = wire.loop] in loop.post { slot.transfer?.cancel() } }
      }
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
    }
    var records: [Probe.Record] = []
    for probe in probes { records.append(try await probe.waitForEnd()) }
    return records
  }

  @Test func `if a server goes on beyond the window, the other requests are lost, and not to blame`() async throws {
    let records = try await ends { piece in (0..<3).flatMap { _ in piece } }
    #expect(records.map(\.code) == [.cancelled, .connectionLost, .resent])
    let message = records[1].error?.message ?? ""
    #expect(message.contains("broke in the middle of the response: " + HTTP2Failure.flood), "\(message)")
  }

  @Test func `a rule that one response breaks is not held against the others`() async throws {
    // Data on stream 0 is an error of the connection, and a head that cannot be decompressed one of its stream.
    let records = try await ends { _ in HTTP2Frame.headers([0xBF, 0x80], stream: 5) }
    #expect(records.map(\.code) == [.cancelled, .connectionLost, .invalidResponse])
    let others = try await ends { _ in HTTP2Frame.data("x", stream: 0) }
    #expect(others.map(\.code) == [.cancelled, .connectionLost, .resent])
  }

  @Test func `the allowance for late frames ends after a while`() {
    func flood(after seconds: UInt64) -> HTTP2FloodGuard {
      var flood = HTTP2FloodGuard(at: Instant(nanoseconds: 0))
      flood.noteReset(windowBytes: 1 << 20, headBytes: 1 << 18, at: Instant(nanoseconds: 0))
      flood.noteRead(at: Instant(nanoseconds: seconds * 1_000_000_000))
      for _ in 0..<80 { flood.noteLate(byteCount: 16_384) }
      return flood
    }
    #expect(!flood(after: 1).isExceeded && !flood(after: 45).isExceeded)
    #expect(flood(after: 60).isExceeded && flood(after: 100).isExceeded)
  }

  @Test func `a reset after a long silence has its allowance too`() {
    var flood = HTTP2FloodGuard(at: Instant(nanoseconds: 0))
    flood.noteReset(windowBytes: 1 << 20, headBytes: 1 << 18, at: Instant(nanoseconds: 100_000_000_000))
    flood.noteRead(at: Instant(nanoseconds: 101_000_000_000))
    for _ in 0..<64 { flood.noteLate(byteCount: 16_384) }
    #expect(!flood.isExceeded)
  }

  @Test func `the frame that breaks a rule decides about the blame, not the last one of a read`() async throws {
    let update = HTTP2Frame.frame(type: 8, stream: 5, [0, 0, 0, 0])
    let records = try await ends { _ in update + HTTP2Frame.data("x", stream: 3) }
    #expect(records.map(\.code) == [.cancelled, .connectionLost, .invalidResponse])
    let ping = HTTP2Frame.frame(type: 6, [1, 2, 3])
    let others = try await ends { _ in ping + HTTP2Frame.data("x", stream: 3) }
    #expect(others.map(\.code) == [.cancelled, .connectionLost, .resent])
  }

  @Test func `each reset stream has its own allowance`() {
    var flood = HTTP2FloodGuard(at: Instant(nanoseconds: 0))
    for _ in 0..<100_000 {
      flood.noteReset(windowBytes: 1 << 20, headBytes: 1 << 18, at: Instant(nanoseconds: 0))
      flood.noteRead(at: Instant(nanoseconds: 0))
      for _ in 0..<10 { flood.noteLate(byteCount: 100_000) }
      // A head, a window update and a reset of the server.
      flood.noteLate(byteCount: 300)
      flood.noteUseless(byteCount: 4)
      flood.noteUseless(byteCount: 4)
    }
    #expect(!flood.isExceeded)
  }

  @Test func `frames are found however the bytes are cut`() {
    let bytes =
      HTTP2Frame.settings + HTTP2Frame.data("", stream: 7) + HTTP2Frame.data("hello", stream: 0x7FFF_FFFF)
      + HTTP2Frame.frame(type: 0x77, flags: 3, stream: 0x8000_0005, [1, 2, 3])
    for size in 1...bytes.count {
      var scanner = HTTP2FrameScanner()
      var found: [[Int]] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
          var rest = piece
          while !rest.isEmpty {
            let (count, isBegun) = scanner.next(in: rest)
            #expect(count > 0)
            let head = scanner.head
            if isBegun { found.append([head.byteCount, Int(head.type), Int(head.flags), Int(head.stream)]) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
          }
        }
      }
      #expect(found == [[0, 4, 0, 0], [0, 0, 0, 7], [5, 0, 0, 0x7FFF_FFFF], [3, 0x77, 3, 5]], "\(size)")
    }
  }
}
