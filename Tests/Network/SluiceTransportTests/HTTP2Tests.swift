import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// HTTP/2 over Sluice's own transport, with nginx and with servers that send the frames of a test in clear text.
@Suite struct HTTP2Tests {
  // MARK: With nginx

  private func secureWire(_ certificates: TestCertificates) throws -> Wire {
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    return try Wire(settings)
  }

  /// Three bodies arrive while the stream is paused. With `SLUICE_SOAK=1`, bodies arrive for a minute.
  @Test(.enabled(if: NginxServer.isAvailable))
  func `a paused stream does not stop other streams on its connection`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration.serving(bigFileBytes: 6_000_000)
    configuration.extraDirectives = "send_timeout 300s; location = /connection { return 200 $connection; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let wire = try secureWire(certificates)
    let first = try await wire.get(nginx.secureBaseURL + "/connection")
    #expect(first.head?.version == .http2)

    let paused = Probe()
    let slot = TransferSlot()
    let hasPaused = Signal()
    paused.disposition = .stream
    paused.onPiece = { _ in
      hasPaused.set()
      return .pause
    }
    wire.start(Request(url: try HTTPURL(nginx.secureBaseURL + "/big")), paused) { slot.transfer = $0 }
    try await hasPaused.wait(for: "the first piece")
    let soakEnd = ContinuousClock.now + .seconds(getenv("SLUICE_SOAK") != nil ? 60 : 0)
    var neighbors = 0
    while neighbors < 3 || ContinuousClock.now < soakEnd {
      let neighbor = try await wire.get(nginx.secureBaseURL + "/big")
      try #require(neighbor.error == nil && neighbor.ends.first?.body.byteCount == 6_000_000)
      neighbors += 1
    }
    #expect(try await wire.get(nginx.secureBaseURL + "/connection").bodyText == first.bodyText)
    #expect(paused.record.value.ends.isEmpty)
    // While the stream was paused, its window limited how many bytes could arrive.
    #expect(paused.record.value.streamedBytes < 100_000)

    await wire.onLoop {
      paused.onPiece = { _ in .proceed }
      slot.transfer?.resumeReceiving()
    }
    let record = try await paused.waitForEnd()
    #expect(record.error == nil && record.streamedBytes == 6_000_000)
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a hundred streams that pause at random all arrive completely`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(.serving(bigFileBytes: 400_000), certificates: certificates)
    let wire = try secureWire(certificates)
    var probes: [Probe] = []
    for number in 0..<100 {
      let probe = Probe()
      let slot = TransferSlot()
      let random = Watched(SeededRandom(seed: UInt64(number)))
      probe.disposition = .stream
      probe.onPiece = { _ in
        guard random.update({ $0.next() % 3 }) == 0 else { return .proceed }
        wire.loop.post { slot.transfer?.resumeReceiving() }
        return .pause
      }
      wire.start(Request(url: try HTTPURL(nginx.secureBaseURL + "/big")), probe) { slot.transfer = $0 }
      probes.append(probe)
    }
    for probe in probes {
      let record = try await probe.waitForEnd()
      #expect(record.error == nil && record.streamedBytes == 400_000)
      #expect(record.head?.version == .http2)
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `as many requests as the server allows share one connection`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives = "location = /connection { return 200 $connection; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let wire = try secureWire(certificates)
    let probes = (0..<90).map { _ in Probe() }
    for probe in probes { wire.start(Request(url: try HTTPURL(nginx.secureBaseURL + "/connection")), probe) }
    var connections: Set<String> = []
    for probe in probes { connections.insert(try await probe.waitForEnd().bodyText) }
    #expect(connections.count == 1)
  }

  /// RFC 9113 §9.1.1 would allow two hosts with the same address and certificate to share a connection.
  @Test(.enabled(if: NginxServer.isAvailable))
  func `two origins never share a connection`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives = "location = /connection { return 200 $connection; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let wire = try secureWire(certificates)
    var connections: Set<String> = []
    for origin in [nginx.secureBaseURL, "https://127.0.0.1:\(nginx.securePort)", nginx.secureBaseURL] {
      let record = try await wire.get(origin + "/connection")
      try #require(record.head?.version == .http2)
      connections.insert(record.bodyText)
    }
    #expect(connections.count == 2)
  }

  // MARK: With the frames of a test

  /// Reads the preface of the client, then the head of its first request.
  private static let request: [ScriptStep] = [.receive(24), .receiveFrame(type: 1)]

  private func settings(_ change: (inout TransportSettings) -> Void = { _ in }) -> TransportSettings {
    var settings = TransportSettings.patient
    settings.assumesHTTP2 = true
    change(&settings)
    return settings
  }

  /// Sends a GET that the server answers with these bytes, and returns how the transfer ended. After its answer, the
  /// server waits until the client closes the connection.
  private func end(
    _ bytes: [UInt8], _ probe: Probe = Probe(),
    _ request: (String) throws -> Request = { Request(url: try HTTPURL($0)) }
  ) async throws -> Probe.Record {
    let server = try ScriptedServer([Self.request + [.send(HTTP2Frame.settings + bytes), .receiveToEnd]])
    return try await Wire(settings()).send(request(server.baseURL), probe)
  }

  @Test func `with prior knowledge, the client speaks HTTP/2 in clear text`() async throws {
    let record = try await end(HTTP2Frame.head + HTTP2Frame.data("hi", endsStream: true))
    #expect(record.error == nil && record.bodyText == "hi")
    #expect(record.head?.version == .http2)
    #expect(record.timings.bytesSent > 9 && record.timings.bytesReceived == 2)
  }

  @Test func `informational responses, head and trailers are reported in order`() async throws {
    let early = HTTP2Frame.headers(HTTP2Frame.field(":status", "103") + HTTP2Frame.field("link", "</a>"))
    let head = HTTP2Frame.headers([0x88] + HTTP2Frame.field("x-a", "1") + HTTP2Frame.field("x-a", "2"))
    let trailers = HTTP2Frame.headers(HTTP2Frame.field("x-sum", "3"), endsStream: true)
    let record = try await end(early + head + HTTP2Frame.data("a") + HTTP2Frame.data("b") + trailers)
    #expect(record.error == nil && record.informational == [103] && record.bodyText == "ab")
    #expect(record.head.map { Array($0.headers[values: "X-A"]) } == ["1", "2"])
    #expect(record.ends.first?.trailers?["x-sum"] == "3")
  }

  /// Returns the frames of a response. The requests have the streams 1, 3, 5 … in their order.
  private func answer(_ stream: UInt32, _ text: String) -> [UInt8] {
    HTTP2Frame.headers([0x88], stream: stream) + HTTP2Frame.data(text, stream: stream, endsStream: true)
  }

  @Test func `a request waits while the server allows no more streams`() async throws {
    let one = HTTP2Frame.settings(streams: 1)
    let (isLimited, goesOn) = (Signal(), Signal())
    let server = try ScriptedServer([
      Self.request + [
        // The client's second SETTINGS frame is its acknowledgement.
        .send(one), .receiveFrame(type: 4), .signal(isLimited), .wait(goesOn), .send(answer(1, "first")),
        .receiveFrame(type: 1), .send(answer(3, "second")), .receiveToEnd,
      ]
    ])
    let wire = try Wire(settings { $0.maximumConnectionsPerHost = 1 })
    let probes = [Probe(), Probe()]
    wire.start(Request(url: try HTTPURL(server.baseURL)), probes[0])
    try await isLimited.wait(for: "the acknowledgement")
    wire.start(Request(url: try HTTPURL(server.baseURL)), probes[1])
    await wire.onLoop {}
    await wire.onLoop {}
    #expect(probes[1].record.value.issued.isEmpty)
    goesOn.set()
    #expect(try await probes[0].waitForEnd().bodyText == "first")
    #expect(try await probes[1].waitForEnd().bodyText == "second")
    #expect(server.connectionCount == 1)
  }

  @Test func `GOAWAY refuses later streams, and earlier streams continue to their ends`() async throws {
    let goesOn = Signal()
    let server = try ScriptedServer([
      Self.request + [
        .receiveFrame(type: 1), .send(HTTP2Frame.settings + HTTP2Frame.goAway(lastStream: 1, 0)), .wait(goesOn),
        .send(answer(1, "first")), .receiveToEnd,
      ],
      Self.request + [.send(HTTP2Frame.settings + answer(1, "third")), .receiveToEnd],
    ])
    let wire = try Wire(settings())
    let probes = [Probe(), Probe()]
    for probe in probes { wire.start(Request(url: try HTTPURL(server.baseURL)), probe) }
    let refused = try await probes[1].waitForEnd()
    #expect(refused.code == .notProcessed && refused.error?.isBeforeSending == true)
    #expect(try await wire.get(server.baseURL).bodyText == "third")
    goesOn.set()
    #expect(try await probes[0].waitForEnd().bodyText == "first")
    #expect(server.connectionCount == 2)
  }

  @Test func `if a connection breaks, its requests fail, except those with a complete response`() async throws {
    let isHeld = Signal()
    let server = try ScriptedServer([
      Self.request + [
        .receiveFrame(type: 1), .receiveFrame(type: 1),
        .send(HTTP2Frame.settings + answer(1, "whole") + HTTP2Frame.headers([0x88], stream: 3)), .wait(isHeld), .close,
      ]
    ])
    let wire = try Wire(settings())
    let probes = [Probe(), Probe(), Probe()]
    let slot = TransferSlot()
    let hasHead = Signal()
    probes[0].disposition = .hold
    probes[1].onHead = { hasHead.set() }
    for (probe, place) in zip(probes, [slot, TransferSlot(), TransferSlot()]) {
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { place.transfer = $0 }
    }
    try await hasHead.wait(for: "the head of the second response")
    isHeld.set()
    let inTheMiddle = try await probes[1].waitForEnd()
    #expect(inTheMiddle.code == .connectionLost)
    #expect(inTheMiddle.error?.message.contains("broke in the middle of the response") == true)
    #expect(try await probes[2].waitForEnd().code == .resent)
    await wire.onLoop { slot.transfer?.proceed(.collect) }
    let whole = try await probes[0].waitForEnd()
    #expect(whole.error == nil && whole.bodyText == "whole")
  }

  /// The frames that a server has received on its first connection, without the preface.
  private func frames(_ server: ScriptedServer, _ wire: Wire) async throws -> [HTTP2Frame.Received] {
    wire.loop.shutdown()
    try await server.waitForScripts()
    return HTTP2Frame.parse(server.received.first.map { Array($0.dropFirst(24)) } ?? [])
  }

  @Test func `a cancelled stream is reset, and its connection is used again`() async throws {
    let server = try ScriptedServer([
      Self.request + [
        .send(HTTP2Frame.settings + HTTP2Frame.head + HTTP2Frame.data("a")), .receiveFrame(type: 3),
        .receiveFrame(type: 1), .send(answer(3, "second")), .receiveToEnd,
      ]
    ])
    let wire = try Wire(settings())
    let probe = Probe()
    let slot = TransferSlot()
    let hasBegun = Signal()
    probe.disposition = .stream
    probe.onPiece = { _ in
      hasBegun.set()
      return .proceed
    }
    wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { slot.transfer = $0 }
    try await hasBegun.wait(for: "the first piece")
    await wire.onLoop { slot.transfer?.cancel() }
    #expect(try await probe.waitForEnd().code == .cancelled)
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    #expect(server.connectionCount == 1)
    let frames = try await frames(server, wire)
    #expect(frames.contains { $0.type == 3 && $0.stream == 1 && $0.payload == [0, 0, 0, 8] })
  }

  @Test func `a request body is sent as DATA frames, and its trailers as a last HEADERS frame`() async throws {
    let server = try ScriptedServer([
      Self.request + [
        .send(HTTP2Frame.settings), .receiveFrame(type: 1), .send(answer(1, "got it")), .receiveToEnd,
      ]
    ])
    let wire = try Wire(settings())
    let pieces = Watched(["one", "two"].map { Array($0.utf8) }[...])
    let stream = BodyStream(trailers: { ["X-Last": "2"] }, read: { _ in pieces.update { $0.popFirst() } })
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL), body: .stream(stream))
    #expect(try await wire.send(request).bodyText == "got it")
    let frames = try await frames(server, wire).filter { $0.stream == 1 }
    let data = frames.filter { $0.type == 0 }
    #expect(data.flatMap(\.payload) == Array("onetwo".utf8))
    #expect(data.allSatisfy { $0.flags & 1 == 0 })
    #expect(frames.filter { $0.type == 1 }.count == 2)
    #expect(frames.last { $0.type == 1 }?.flags == 5)
  }

  @Test func `the client forbids pushes and sends no priorities`() async throws {
    let server = try ScriptedServer([
      Self.request + [.send(HTTP2Frame.settings), .send(answer(1, "first")), .receiveToEnd]
    ])
    let wire = try Wire(settings())
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    let frames = try await frames(server, wire)
    // SETTINGS_ENABLE_PUSH = 0 (RFC 9113 §6.5.2).
    let settings = try #require(frames.first { $0.type == 4 }).payload
    let values = stride(from: 0, to: settings.count, by: 6).map { Array(settings[$0..<$0 + 6]) }
    #expect(values.contains([0, 2, 0, 0, 0, 0]))
    // PRIORITY is type 2, and the flag of HEADERS is 0x20 (RFC 9113 §5.3.2, §6.2, §6.3).
    #expect(!frames.contains { $0.type == 2 || $0.type == 1 && $0.flags & 0x20 != 0 })
  }

  @Test func `request body and response body are sent at the same time`() async throws {
    let server = try ScriptedServer([
      Self.request + [
        .send(HTTP2Frame.settings + HTTP2Frame.head + HTTP2Frame.data("ping")), .receiveFrame(type: 0),
        .send(HTTP2Frame.data("pong", endsStream: true)), .receiveToEnd,
      ]
    ])
    let wire = try Wire(settings())
    let probe = Probe()
    let slot = TransferSlot()
    let answers = Watched<[[UInt8]]>([])
    probe.disposition = .stream
    // Each piece of the response is sent back as the next piece of the request body.
    probe.onPiece = { piece in
      answers.update { $0.append(piece) }
      slot.transfer?.resumeSending()
      return .proceed
    }
    let stream = BodyStream { _ in answers.update { $0.popLast() } ?? [] }
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL), body: .stream(stream))
    wire.start(request, probe) { slot.transfer = $0 }
    let record = try await probe.waitForEnd()
    #expect(record.error == nil && record.streamedBytes == 8)
    let frames = try await frames(server, wire)
    #expect(frames.filter { $0.type == 0 && $0.stream == 1 }.flatMap(\.payload) == Array("ping".utf8))
    // The client resets the stream instead of sending the rest of the request.
    #expect(frames.contains { $0.type == 3 && $0.stream == 1 })
  }

  /// RFC 9113 §8.2.1 forbids such values, but curl, Envoy and browsers accept them.
  @Test func `spaces at the ends of a field value are removed`() async throws {
    let head = HTTP2Frame.headers(
      [0x88] + HTTP2Frame.field("x-a", " b c\t ") + HTTP2Frame.field("x-empty", " \t") + HTTP2Frame.field("x-d", "e"))
    let trailers = HTTP2Frame.headers(HTTP2Frame.field("x-sum", "\t3 "), endsStream: true)
    let record = try await end(head + HTTP2Frame.data("hi") + trailers)
    #expect(record.error == nil && record.bodyText == "hi", "\(String(describing: record.error))")
    #expect(record.head?.headers["x-a"] == "b c" && record.head?.headers["x-empty"]?.isEmpty == true)
    #expect(record.head?.headers["x-d"] == "e" && record.ends.first?.trailers?["x-sum"] == "3")
  }

  @Test func `an empty body with a coding is complete if its stream ends`() async throws {
    let head = [0x88] + HTTP2Frame.field("content-encoding", "gzip")
    for rest in [
      HTTP2Frame.headers(head, endsStream: true), HTTP2Frame.headers(head) + HTTP2Frame.data("", endsStream: true),
      HTTP2Frame.headers(head) + HTTP2Frame.headers(HTTP2Frame.field("a", "b"), endsStream: true),
    ] {
      let record = try await end(rest)
      #expect(record.error == nil && record.ends.first?.body.isEmpty == true, "\(String(describing: record.error))")
    }
  }

  // MARK: Hostile servers

  private func repeated(_ frame: [UInt8], _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frame.count * count)
    for _ in 0..<count { bytes += frame }
    return bytes
  }

  enum Flood: String, CaseIterable, Sendable {
    case ping, settings, emptyData, priority, unknown, windowUpdate, reset

    var frame: [UInt8] {
      switch self {
      case .ping: HTTP2Frame.frame(type: 6, [0, 0, 0, 0, 0, 0, 0, 0])
      case .settings: HTTP2Frame.settings
      case .emptyData: HTTP2Frame.data("")
      case .priority: HTTP2Frame.frame(type: 2, stream: 1, [0, 0, 0, 3, 0])
      case .unknown: HTTP2Frame.frame(type: 0x77, [1, 2, 3])
      // The sum of these window updates exceeds 2^31-1.
      case .windowUpdate: HTTP2Frame.frame(type: 8, [0x7F, 0, 0, 0])
      case .reset: HTTP2Frame.frame(type: 3, stream: 3, [0, 0, 0, 8])
      }
    }
  }

  @Test(arguments: Flood.allCases)
  func `a flood of frames that carry no part of a response ends the connection`(_ flood: Flood) async throws {
    let record = try await end(HTTP2Frame.head + repeated(flood.frame, 50_000))
    #expect(record.code == .invalidResponse, "\(String(describing: record.error))")
    #expect(record.error?.message.contains("a rule of HTTP/2 was broken") == true)
  }

  @Test func `a response with many small pieces is not a flood`() async throws {
    let record = try await end(
      HTTP2Frame.head + repeated(HTTP2Frame.data("x") + HTTP2Frame.data(""), 30_000)
        + HTTP2Frame.data("", endsStream: true))
    #expect(record.error == nil && record.bodyText.utf8.count == 30_000)
  }

  @Test func `a head of many frames is accepted up to the limits for heads`() async throws {
    let block = [0x88] + repeated(HTTP2Frame.field("a", String(repeating: "b", count: 120)), 1900)
    var frames: [UInt8] = []
    for start in stride(from: 0, to: block.count, by: 1000) {
      let isLast = start + 1000 >= block.count
      let flags: UInt8 = (start == 0 ? 1 : 0) | (isLast ? 4 : 0)
      frames += HTTP2Frame.frame(
        type: start == 0 ? 1 : 9, flags: flags, stream: 1, Array(block[start..<min(start + 1000, block.count)]))
    }
    let record = try await end(HTTP2Frame.settings + frames)
    #expect(record.error == nil, "\(String(describing: record.error))")
  }

  @Test func `if a server ends the connection, the error has the server's reason`() async throws {
    let text = Array("too many\u{1B} requests".utf8)
    let calm = HTTP2Frame.frame(type: 7, [0, 0, 0, 1, 0, 0, 0, 11] + text)
    let server = try ScriptedServer([Self.request + [.send(HTTP2Frame.settings + calm)]])
    let closed = try await Wire(settings()).get(server.baseURL)
    #expect(closed.code == .connectionLost)
    #expect(
      closed.error?.message.contains("ENHANCE_YOUR_CALM (err 11), \"too many. requests\"") == true,
      "\(String(describing: closed.error))")

    let old = try await end(HTTP2Frame.settings + HTTP2Frame.frame(type: 7, [0, 0, 0, 0, 0, 0, 0, 13]))
    #expect(old.code == .invalidResponse)
    #expect(old.error?.message.contains("HTTP_1_1_REQUIRED") == true, "\(String(describing: old.error))")
  }

  @Test func `each limit for heads is enforced, and the error names it`() async throws {
    let many = HTTP2Frame.headers([0x88]) + repeated(HTTP2Frame.headers(HTTP2Frame.field(":status", "103")), 1)
    #expect(try await end(many).code == .invalidResponse)

    let informational = repeated(HTTP2Frame.headers(HTTP2Frame.field(":status", "103")), 101)
    let flooded = try await end(informational)
    #expect(flooded.code == .invalidResponse)
    #expect(flooded.error?.message.contains("more than 100 informational responses") == true)

    let fields = HTTP2Frame.headers([0x88] + repeated(HTTP2Frame.field("a", ""), 2000))
    let server = try ScriptedServer([Self.request + [.send(HTTP2Frame.settings + fields), .receiveToEnd]])
    let tooMany = try await Wire(settings { $0.responseLimits.maximumHeadFields = 1000 }).get(server.baseURL)
    #expect(tooMany.code == .invalidResponse)
    #expect(tooMany.error?.message.contains("head with more than 1000 fields") == true)

    // The compressed head puts one field into the compression table, and then refers to it 8,000 times with one byte.
    let entry: [UInt8] = [0x40, 1, 0x61] + [0x7F, 0x80 + 0x11, 7] + [UInt8](repeating: 0x62, count: 1040)
    let bomb = HTTP2Frame.headers([0x88] + entry + repeated([0xBE], 8000))
    let bombed = try await end(bomb)
    #expect(bombed.code == .invalidResponse)
    #expect(bombed.error?.message.contains("head of more than 262144 bytes") == true)
  }

  @Test func `a server that ignores the window of a paused stream fails the transfer`() async throws {
    let piece = HTTP2Frame.frame(type: 0, stream: 1, [UInt8](repeating: 0x78, count: 16_384))
    let probe = Probe()
    probe.disposition = .stream
    probe.onPiece = { _ in .pause }
    let record = try await end(HTTP2Frame.head + repeated(piece, 100), probe)
    #expect(record.code == .invalidResponse, "\(String(describing: record.error))")
    #expect(record.error?.message.contains("FLOW_CONTROL_ERROR") == true)
  }

  @Test func `headers that HTTP/2 forbids end the stream, but not the connection`() async throws {
    let bad = HTTP2Frame.headers([0x88] + HTTP2Frame.field("x-a", "b\u{0}c"), endsStream: true)
    let server = try ScriptedServer([
      Self.request + [
        .send(HTTP2Frame.settings + bad), .receiveFrame(type: 1), .send(answer(3, "second")), .receiveToEnd,
      ]
    ])
    let wire = try Wire(settings())
    let record = try await wire.get(server.baseURL)
    #expect(record.code == .invalidResponse, "\(String(describing: record.error))")
    #expect(record.error?.message.contains("has a field whose name or value is not valid") == true)
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    #expect(server.connectionCount == 1)
  }

  @Test func `many frames for a response that has ended count as a flood too`() async throws {
    let frames = HTTP2Frame.settings + answer(1, "first") + repeated(HTTP2Frame.headers([0x88]), 30_000)
    let server = try ScriptedServer([
      Self.request + [.send(frames), .receiveToEnd], Self.request + [.send(HTTP2Frame.settings + answer(1, "second"))],
    ])
    let wire = try Wire(settings())
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    // The client closes the connection.
    try await server.waitForScripts()
    #expect(try await wire.get(server.baseURL).bodyText == "second")
  }

  @Test(arguments: ["000", "099"])
  func `a response with a status below 100 is invalid`(_ status: String) async throws {
    let fields = HTTP2Frame.field(":status", status)
    for bytes in [HTTP2Frame.headers(fields, endsStream: true), HTTP2Frame.headers(fields) + HTTP2Frame.data("x")] {
      let record = try await end(bytes)
      #expect(record.code == .invalidResponse, "\(String(describing: record.error))")
      #expect(record.error?.message.contains("has a status below 100") == true)
    }
  }

  @Test func `window updates during an upload are not a flood`() {
    var flood = HTTP2FloodGuard(at: Instant(nanoseconds: 0))
    for _ in 0..<1_000_000 {
      flood.noteRead(at: Instant(nanoseconds: 0))
      flood.noteUseless(byteCount: 4)
      flood.noteUseless(byteCount: 4)
      // The client sends a frame of the request.
      flood.noteUseful()
    }
    #expect(!flood.isExceeded)
  }

  @Test func `one useless frame each second is not a flood`() {
    var flood = HTTP2FloodGuard(at: Instant(nanoseconds: 0))
    for second in 0..<1_000_000 {
      flood.noteRead(at: Instant(nanoseconds: UInt64(second) * 1_000_000_000))
      flood.noteUseless(byteCount: 8)
      // An unknown frame.
      flood.noteUseless(byteCount: 1000)
    }
    #expect(!flood.isExceeded)
  }

  @Test func `a request head that is too large for HTTP/2 fails as request_too_large`() async throws {
    let server = try ScriptedServer([[.receive(24), .send(HTTP2Frame.settings), .receiveToEnd]])
    var request = Request(url: try HTTPURL(server.baseURL))
    request.headers["X-Large"] = String(repeating: "x", count: 1_100_000)
    let record = try await Wire(settings()).send(request)
    #expect(record.code == .requestTooLarge, "\(String(describing: record.error))")
    #expect(record.error?.isBeforeSending == true)
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a head of many headers is sent whole`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives = """
      large_client_header_buffers 100 64k; client_header_buffer_size 64k; http2_max_field_size 64k;
      http2_max_header_size 1m; location = /seen { return 200 $http_x_39; }
      """
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    var request = Request(url: try HTTPURL(nginx.secureBaseURL + "/seen"))
    for number in 0..<40 { request.headers["x-\(number)"] = "\(number)" + String(repeating: "y", count: 2000) }
    let record = try await secureWire(certificates).send(request)
    #expect(record.error == nil && record.bodyText.hasPrefix("39yy"), "\(String(describing: record.error))")
  }
}
