import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// Connections of HTTP/2 that may be dead, and the connections that replace them.
@Suite struct HTTP2SilenceTests {
  private static let request: [ScriptStep] = [.receive(24), .receiveFrame(type: 1)]

  private func settings(_ change: (inout TransportSettings) -> Void = { _ in }) -> TransportSettings {
    var settings = TransportSettings.patient
    settings.assumesHTTP2 = true
    change(&settings)
    return settings
  }

  private func answer(_ stream: UInt32, _ text: String) -> [UInt8] { HTTP2Frame.answer(text, stream: stream) }

  /// Ends the connections, and checks that the first one got one PING.
  private func expectOnePing(_ server: ScriptedServer, _ wire: Wire) async throws {
    wire.loop.shutdown()
    try await server.waitForScripts()
    let frames = HTTP2Frame.parse(server.received.first.map { Array($0.dropFirst(24)) } ?? [])
    #expect(frames.count { $0.type == 6 } == 1)
  }

  @Test func `a silent connection is tested with a PING, and used again if the server answers`() async throws {
    let server = try ScriptedServer([
      Self.request + [
        .send(HTTP2Frame.settings + answer(1, "first")), .receiveFrame(type: 6),
        .send(HTTP2Frame.frame(type: 6, flags: 1, [0, 0, 0, 0, 0, 0, 0, 0])), .receiveFrame(type: 1),
        .send(answer(3, "second")), .receiveToEnd,
      ]
    ])
    let wire = try Wire(settings { $0.trustedSilence = .zero })
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    await wire.onLoop {}
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    #expect(server.connectionCount == 1)
  }

  @Test func `a connection that does not answer a PING is replaced`() async throws {
    let server = try ScriptedServer(
      ["first", "second"].map {
        Self.request + [.send(HTTP2Frame.settings + answer(1, $0)), .receiveToEnd]
      })
    let wire = try Wire(
      settings {
        $0.trustedSilence = .zero
        $0.pingLimit = .milliseconds(1)
      })
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    await wire.onLoop {}
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    #expect(server.connectionCount == 2)
  }

  @Test func `a silent connection on which the server allows no streams is tested and replaced`() async throws {
    let server = try ScriptedServer([
      Self.request + [.send(HTTP2Frame.settings(streams: 0) + answer(1, "first")), .receiveToEnd],
      [
        .receive(24), .send(HTTP2Frame.settings(streams: 100)), .receiveFrame(type: 1), .send(answer(1, "second")),
        .receiveToEnd,
      ],
    ])
    let wire = try Wire(
      settings {
        $0.trustedSilence = .zero
        $0.pingLimit = .milliseconds(1)
      })
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    await wire.onLoop {}
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    #expect(server.connectionCount == 2)
    try await expectOnePing(server, wire)
  }

  @Test func `after a request without an answer, others do not use its connection, but a new one`() async throws {
    let isReceived = Signal()
    let server = try ScriptedServer([
      Self.request + [.send(HTTP2Frame.settings), .receiveFrame(type: 4), .signal(isReceived), .receiveToEnd],
      Self.request + [
        .send(HTTP2Frame.settings + answer(1, "second")), .receiveFrame(type: 1), .send(answer(3, "third")),
        .receiveToEnd,
      ],
    ])
    // Without the evidence, the connection would be trusted for 10 minutes.
    let wire = try Wire(
      settings {
        $0.trustedSilence = .seconds(600)
        $0.pingLimit = .seconds(600)
      })
    let dead = Probe()
    let slot = TransferSlot()
    wire.start(Request(url: try HTTPURL(server.baseURL)), dead) { slot.transfer = $0 }
    try await isReceived.wait(for: "the acknowledgement")
    // A request is given up that was sent after the last byte has arrived.
    let silent = Probe()
    let canceller = DelayedCancel()
    wire.start(Request(url: try HTTPURL(server.baseURL)), silent) { transfer in
      canceller.cancel(transfer, after: .milliseconds(20), on: wire.loop)
    }
    #expect(try await silent.waitForEnd().code == .cancelled)
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    #expect(try await wire.get(server.baseURL).bodyText == "third")
    await wire.onLoop { slot.transfer?.cancel() }
    #expect(try await dead.waitForEnd().code == .cancelled && server.connectionCount == 2)
    try await expectOnePing(server, wire)
  }

  @Test func `a request that is given up although other responses arrive does not cast doubt on its connection`()
    async throws
  {
    let server = try ScriptedServer([
      Self.request + [
        .receiveFrame(type: 1), .send(HTTP2Frame.settings + answer(3, "second")), .receiveFrame(type: 3),
        .receiveFrame(type: 1), .send(answer(5, "third")), .receiveToEnd,
      ]
    ])
    let wire = try Wire(settings())
    let (slow, slot) = (Probe(), TransferSlot())
    wire.start(Request(url: try HTTPURL(server.baseURL)), slow) { slot.transfer = $0 }
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    await wire.onLoop { slot.transfer?.cancel() }
    #expect(try await wire.get(server.baseURL).bodyText == "third")
    #expect(server.connectionCount == 1)
  }

  /// The limit of one connection does not count a connection that may be dead.
  @Test(arguments: [nil, 1])
  func `a request that gives up while it waits for a PING makes the next one use a new connection`(
    _ limit: Int?
  ) async throws {
    let server = try ScriptedServer([
      Self.request + [.send(HTTP2Frame.settings + answer(1, "first")), .receiveToEnd],
      Self.request + [.send(HTTP2Frame.settings + answer(1, "second")), .receiveToEnd],
    ])
    let wire = try Wire(
      settings {
        $0.trustedSilence = .zero
        $0.pingLimit = .seconds(600)
        $0.maximumConnectionsPerHost = limit
      })
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    await wire.onLoop {}
    let (waiting, slot) = (Probe(), TransferSlot())
    wire.start(Request(url: try HTTPURL(server.baseURL)), waiting) { slot.transfer = $0 }
    await wire.onLoop {}
    await wire.onLoop { slot.transfer?.cancel() }
    #expect(try await waiting.waitForEnd().issued.isEmpty)
    #expect(try await wire.get(server.baseURL).bodyText == "second")
  }

  @Test func `requests that repeat unanswered ones share one new connection`() async throws {
    let server = try ScriptedServer([
      Self.request + [.send(HTTP2Frame.settings + answer(1, "first")), .receiveToEnd],
      Self.request + [
        .receiveFrame(type: 1), .receiveFrame(type: 1), .send(HTTP2Frame.settings + answer(1, "1") + answer(3, "2")),
        .send(answer(5, "3")), .receiveToEnd,
      ],
    ])
    let wire = try Wire(settings())
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    var options = TransferOptions()
    options.wantsFreshConnection = true
    let (probes, request) = ((0..<3).map { _ in Probe() }, Request(url: try HTTPURL(server.baseURL)))
    // All begin in one turn of the loop, so that no connection is made in between.
    await wire.onLoop { [options] in
      for probe in probes { _ = wire.transport.start(request, options, observer: probe) }
    }
    for (number, probe) in probes.enumerated() { #expect(try await probe.waitForEnd().bodyText == "\(number + 1)") }
    #expect(server.connectionCount == 2)
  }

  @Test func `a new connection carries as many streams as the server allowed on the last one`() async throws {
    let one = HTTP2Frame.settings(streams: 1)
    let goesOn = Signal()
    let server = try ScriptedServer([
      Self.request + [.send(one + answer(1, "first") + HTTP2Frame.goAway(lastStream: 1, 0)), .receiveToEnd],
      Self.request + [
        .wait(goesOn), .send(one + answer(1, "second")), .receiveFrame(type: 1), .send(answer(3, "third")),
        .receiveToEnd,
      ],
    ])
    let wire = try Wire(settings { $0.maximumConnectionsPerHost = 1 })
    #expect(try await wire.get(server.baseURL).bodyText == "first")
    let probes = [Probe(), Probe()]
    for probe in probes { wire.start(Request(url: try HTTPURL(server.baseURL)), probe) }
    try await server.waitForConnections(2)
    try await probes[0].record.wait(for: "the second request") { !$0.issued.isEmpty }
    await wire.onLoop {}
    #expect(probes[1].record.value.issued.isEmpty)
    goesOn.set()
    #expect(try await probes[0].waitForEnd().bodyText == "second")
    #expect(try await probes[1].waitForEnd().bodyText == "third")
  }

  @Test func `while a connection is silent, new requests use another connection`() async throws {
    let goesOn = Signal()
    let server = try ScriptedServer([
      Self.request + [
        .send(HTTP2Frame.settings + HTTP2Frame.head), .receiveFrame(type: 6), .wait(goesOn),
        .send(HTTP2Frame.data("first", endsStream: true)), .receiveToEnd,
      ],
      Self.request + [.send(HTTP2Frame.settings + answer(1, "second")), .receiveToEnd],
    ])
    let wire = try Wire(
      settings {
        $0.trustedSilence = .zero
        $0.pingLimit = .milliseconds(1)
      })
    let first = Probe()
    let hasHead = Signal()
    first.onHead = { hasHead.set() }
    wire.start(Request(url: try HTTPURL(server.baseURL)), first)
    try await hasHead.wait(for: "the head of the first response")
    await wire.onLoop {}
    #expect(try await wire.get(server.baseURL).bodyText == "second")
    goesOn.set()
    #expect(try await first.waitForEnd().bodyText == "first")
    #expect(server.connectionCount == 2)
  }
}

/// Cancels a transfer after a time, as a time limit does.
private final class DelayedCancel: LoopTimerTarget, @unchecked Sendable {
  // `@unchecked Sendable` is safe because only code on the loop uses the object.
  private let timer = LoopTimer()
  private var transfer: (any Transfer)?

  func cancel(_ transfer: any Transfer, after delay: Duration, on loop: Loop) {
    self.transfer = transfer
    loop.arm(timer, at: Loop.now + delay, for: self)
  }

  func timerDidFire(_ timer: LoopTimer) { transfer?.cancel() }
}
