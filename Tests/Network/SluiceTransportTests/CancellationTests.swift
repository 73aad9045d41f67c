import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// A transfer can be cancelled at any moment. It then ends once, as cancelled, after the call of `cancel` has returned.
@Suite struct CancellationTests {
  enum Moment: CaseIterable, Sendable { case atOnce, whileResolving, onIssue, waiting, onHead, held, onPiece, afterEnd }

  @Test(arguments: Moment.allCases)
  func `a cancelled transfer ends exactly once, no matter when it is cancelled`(_ moment: Moment) async throws {
    let isResolving = Signal()
    let mayResolve = Signal()
    let resolver = NameResolver { _ in
      isResolving.set()
      mayResolve.waitBlocking()
      return .success(["127.0.0.1"])
    }
    defer { mayResolve.set() }
    if moment != .whileResolving { mayResolve.set() }
    let wire = try Wire(resolver: resolver)
    let isHead = Signal()
    let server = try ScriptedServer(
      .receiveHead, .signal(isHead), .wait(moment == .waiting ? Signal() : isHead),
      .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .wait(moment == .afterEnd ? isHead : Signal()),
      .send("defghij"))
    let probe = Probe()
    let slot = TransferSlot()
    let insideEnd = Watched(0)
    let cancel: @Sendable () -> Void = {
      let ends = probe.record.value.ends.count
      slot.transfer?.cancel()
      slot.transfer?.cancel()
      if probe.record.value.ends.count != ends { insideEnd.update { $0 += 1 } }
    }
    let reached = Signal()
    probe.disposition = moment == .held ? .hold : moment == .onPiece ? .stream : .collect
    if moment == .onIssue {
      probe.onIssue = { _ in
        cancel()
        return true
      }
    }
    if moment == .onHead { probe.onHead = cancel }
    if moment == .held { probe.onHead = { reached.set() } }
    if moment == .onPiece {
      probe.onPiece = { _ in
        cancel()
        return .proceed
      }
    }
    let url = try HTTPURL("http://\(moment == .whileResolving ? "name.test" : "127.0.0.1"):\(server.port)/")
    wire.start(Request(url: url), probe) { transfer in
      slot.transfer = transfer
      if moment == .atOnce { cancel() }
    }
    switch moment {
    case .whileResolving:
      try await isResolving.wait(for: "the look-up")
      wire.loop.post(cancel)
    case .waiting:
      try await isHead.wait(for: "the request")
      wire.loop.post(cancel)
    case .held:
      try await reached.wait(for: "the head")
      wire.loop.post(cancel)
    case .afterEnd: try await probe.waitForEnd()
    default: break
    }
    let record = try await probe.waitForEnd()
    mayResolve.set()
    if moment == .afterEnd { wire.loop.post(cancel) }
    #expect(record.code == (moment == .afterEnd ? nil : .cancelled))
    // The transport still works, and the transfer has not ended twice.
    let other = try LoopbackServer()
    #expect(try await wire.get(other.baseURL).bodyText == "ok\n")
    #expect(probe.record.value.ends.count == 1)
    #expect(insideEnd.value == 0)
    let left = await wire.onLoop { [transport = wire.transport] in transport.transferCount }
    #expect(left == 0)
  }

  @Test func `the loop's shutdown cancels transfers in flight`() async throws {
    let server = try LoopbackServer()
    server.hold()
    let wire = try Wire()
    let probes = (0..<20).map { _ in Probe() }
    for probe in probes { wire.start(Request(url: try HTTPURL(server.baseURL)), probe) }
    try await server.waitForHeld(20)
    wire.loop.shutdown()
    for probe in probes {
      #expect(probe.record.value.ends.count == 1)
      #expect(probe.record.value.code == .cancelled)
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `200 quick cancellations leave no descriptor and no transfer behind`() async throws {
    await #expect(processExitsWith: .success) {
      let nginx = try await NginxServer.start(.holding)
      let wire = try Wire()
      let before = ProcessFacts.openFiles
      let probes = (0..<200).map { _ in Probe() }
      for probe in probes {
        let slot = TransferSlot()
        wire.start(Request(url: try HTTPURL(nginx.baseURL + "/held")), probe) { transfer in
          slot.transfer = transfer
          wire.loop.post { wire.loop.post { slot.transfer?.cancel() } }
        }
      }
      for probe in probes {
        let code = try await probe.waitForEnd().code
        #expect(code == .cancelled)
      }
      let (left, idle) = await wire.onLoop { [transport = wire.transport] in
        (transport.transferCount, transport.idleCount)
      }
      #expect(left == 0)
      // A connection over which nothing was sent is kept for the next request.
      func newSockets() -> Set<String> {
        Set(ProcessFacts.openFiles.filter { $0.hasPrefix("socket:") }).subtracting(before)
      }
      #expect(newSockets().count == idle)
      wire.loop.shutdown()
      #expect(newSockets() == [])
    }
  }
}
