import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// Servers that refuse HTTP/2 streams without processing them.
@Suite struct HTTP2RefusalTests {
  private static let request: [ScriptStep] = [.receive(24), .receiveFrame(type: 1)]

  private func makeWire(maximumConnections: Int? = nil) throws -> Wire {
    var settings = TransportSettings.patient
    settings.assumesHTTP2 = true
    settings.maximumConnectionsPerHost = maximumConnections
    return try Wire(settings)
  }

  private func answer(_ stream: UInt32, _ text: String) -> [UInt8] {
    HTTP2Frame.headers([0x88], stream: stream) + HTTP2Frame.data(text, stream: stream, endsStream: true)
  }

  @Test func `of the waiting requests, those that were refused most often are sent first`() async throws {
    let oneStream = HTTP2Frame.settings(streams: 1)
    let (isLimited, goesOn) = (Signal(), Signal())
    let next: [ScriptStep] = (1...6).flatMap { number in
      [.receiveFrame(type: 1), .send(answer(UInt32(2 * number + 1), "\(number)"))]
    }
    let server = try ScriptedServer([
      Self.request + [
        .send(oneStream), .receiveFrame(type: 4), .signal(isLimited), .wait(goesOn), .send(answer(1, "0")),
      ]
        + next + [.receiveToEnd]
    ])
    let wire = try makeWire(maximumConnections: 1)
    let first = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), first)
    try await isLimited.wait(for: "the acknowledgement")
    var probes: [Probe] = []
    for refusals in [0, 1, 3, 0, 3, 2] {
      var options = TransferOptions()
      options.refusals = refusals
      probes.append(Probe())
      wire.start(Request(url: try HTTPURL(server.baseURL)), probes[probes.count - 1], options: options)
      await wire.onLoop {}
    }
    goesOn.set()
    _ = try await first.waitForEnd()
    var order: [String] = []
    for probe in probes { order.append(try await probe.waitForEnd().bodyText) }
    #expect(order == ["5", "4", "1", "6", "2", "3"])
  }

  @Test func `a new connection carries as many requests as the server accepted on the last one`() async throws {
    let isRead = Signal()
    let server = try ScriptedServer([
      Self.request + [
        .receiveFrame(type: 1), .receiveFrame(type: 1),
        .send(HTTP2Frame.settings + HTTP2Frame.goAway(lastStream: 3, 0) + answer(1, "a") + answer(3, "b")),
        .receiveToEnd,
      ],
      // The third request must not arrive before the first two have responses.
      Self.request + [
        .receiveFrame(type: 1), .send(HTTP2Frame.settings), .receiveFrame(type: 4), .signal(isRead),
        .send(answer(1, "c") + answer(3, "d")), .receiveFrame(type: 1), .send(answer(5, "e")), .receiveToEnd,
      ],
    ])
    let wire = try makeWire(maximumConnections: 1)
    let probes = (0..<3).map { _ in Probe() }
    for probe in probes { wire.start(Request(url: try HTTPURL(server.baseURL)), probe) }
    let ends = [try await probes[0].waitForEnd(), try await probes[1].waitForEnd(), try await probes[2].waitForEnd()]
    #expect(ends.prefix(2).map(\.bodyText) == ["a", "b"] && ends[2].code == .notProcessed)
    let later = (0..<3).map { _ in Probe() }
    for probe in later { wire.start(Request(url: try HTTPURL(server.baseURL)), probe) }
    try await isRead.wait(for: "the second connection")
    var bodies: [String] = []
    for probe in later { bodies.append(try await probe.waitForEnd().bodyText) }
    #expect(bodies == ["c", "d", "e"])
    #expect(server.connectionCount == 2)
  }

  @Test func `a connection gets a larger allowance when all its allowed requests have ended`() {
    var next = 10
    var refusals = HTTP2Refusals(allowance: 10)
    #expect(refusals.room(requests: 4, open: 4) == 6)
    let isWhole = refusals.settle(requests: 10, open: 1, isDraining: false, next: &next)
    #expect(!isWhole && refusals.room(requests: 10, open: 1) == 0)
    let hasGrown = refusals.settle(requests: 10, open: 0, isDraining: false, next: &next)
    #expect(hasGrown && refusals.room(requests: 10, open: 0) == 10 && next == 20)
  }

  @Test func `a server that accepts no request at all gets one request at a time`() {
    var next = Int.max
    var refusals = HTTP2Refusals(allowance: .max)
    for _ in 0..<100 { refusals.noteRefusal() }
    _ = refusals.settle(requests: 100, open: 0, isDraining: true, next: &next)
    #expect(next == 1)
  }

  @Test func `a server that refuses some streams gets at first as many at a time as it accepted, then more`() {
    var next = Int.max
    var refusals = HTTP2Refusals(allowance: .max)
    for _ in 0..<60 { refusals.noteRefusal() }
    _ = refusals.settle(requests: 100, open: 40, isDraining: false, next: &next)
    #expect(refusals.isRefusing && refusals.room(requests: 100, open: 40) == 0 && next == .max)
    refusals.noteResponse()
    #expect(!refusals.isRefusing && refusals.room(requests: 100, open: 39) == 2)
  }

  @Test func `after a server has refused all streams, it gets one request at a time`() async throws {
    let refusal = HTTP2Frame.reset(7)
    let isRead = Signal()
    let server = try ScriptedServer([
      Self.request + [
        .send(HTTP2Frame.settings + refusal), .receiveFrame(type: 1), .signal(isRead), .receiveToEnd,
      ]
    ])
    let wire = try makeWire(maximumConnections: 1)
    let first = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), first)
    #expect(try await first.waitForEnd().code == .notProcessed)
    let probes = (0..<50).map { _ in Probe() }
    for probe in probes { wire.start(Request(url: try HTTPURL(server.baseURL)), probe) }
    try await isRead.wait(for: "the next request")
    #expect(probes.count { !$0.record.value.issued.isEmpty } == 1)
    wire.loop.shutdown()
    for probe in probes { #expect(try await probe.waitForEnd().code == .cancelled) }
  }

  @Test func `a server that begins its connections with no streams does not get more of them for each response`()
    async throws
  {
    let goesOn = Signal()
    let answers: [ScriptStep] = (2..<6).flatMap {
      [.receiveFrame(type: 1), .send(answer(UInt32($0) * 2 + 1, "\($0)"))]
    }
    let none = HTTP2Frame.settings(streams: 0)
    let begun: [ScriptStep] = [.receive(24), .send(none), .receiveToEnd]
    let server = try ScriptedServer(
      [
        Self.request + [
          .send(HTTP2Frame.settings(streams: 1) + answer(1, "0")), .receiveFrame(type: 1), .wait(goesOn),
          .send(answer(3, "1")),
        ] + answers + [.receiveToEnd],
        Self.request + [.send(none + HTTP2Frame.reset(7)), .receiveToEnd],
      ] + Array(repeating: begun, count: 20))
    let wire = try makeWire()
    #expect(try await wire.get(server.baseURL).bodyText == "0")
    let first = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), first)
    #expect(try await wire.get(server.baseURL).code == .notProcessed)
    let (probes, request) = ((0..<4).map { _ in Probe() }, Request(url: try HTTPURL(server.baseURL)))
    await wire.onLoop { for probe in probes { _ = wire.transport.start(request, TransferOptions(), observer: probe) } }
    goesOn.set()
    #expect(try await first.waitForEnd().bodyText == "1")
    for (number, probe) in probes.enumerated() { #expect(try await probe.waitForEnd().bodyText == "\(number + 2)") }
    #expect(server.connectionCount <= 4)
  }

  @Test func `a server that closes each connection without allowing a stream gets no connections without end`()
    async throws
  {
    let none = HTTP2Frame.settings(streams: 0)
    let server = try ScriptedServer([
      Self.request + [.send(none + HTTP2Frame.reset(7)), .receiveFrame(type: 4), .close],
      [.receive(24), .send(none), .receiveFrame(type: 4), .close],
    ])
    let wire = try makeWire()
    for _ in 0..<3 {
      let record = try await wire.get(server.baseURL)
      #expect(record.code == .notProcessed && record.error?.isBeforeSending == true)
    }
    #expect(server.connectionCount <= 4)
  }
}
