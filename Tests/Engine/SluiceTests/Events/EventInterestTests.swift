import Sluice
import SluicePipeline
import SluiceServer
import SluiceTestServers
import Testing

/// Tracers that want only some kinds of events.
@Suite struct EventInterestTests {
  private static let ends = "SLUICE_INTEREST(SLUICE_EVENT_DID_END_HOP)|SLUICE_INTEREST(SLUICE_EVENT_DID_COMPLETE)"
  private static let all = ["1", "2", "3", "4", "12", "5", "6", "7", "8"]

  @Test(
    arguments: [
      ("0u", all), (ends, ["12", "8"]), ("\(ends)|1u|(1u<<31)", ["12", "8"]),
      ("SLUICE_INTEREST(SLUICE_EVENT_DID_RECEIVE)", ["4"]), ("(1u<<30)", []),
    ], ["", #", "delivery": "queued""#])
  func `a tracer gets the kinds in its mask, a mask of 0 selects all kinds, and unknown bits are ignored`(
    _ mask: (interests: String, kinds: [String]), _ delivery: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try await HopTracer(
      defines: ["INTERESTS=(\(mask.interests))"], plugin: delivery.isEmpty ? #", "deadline": "60s""# : delivery)
    let (result, events) = try await tracer.run(server.baseURL + "/a")
    #expect(result.error == nil)
    #expect(events.map { $0["kind"] } == mask.kinds)
    #expect(tracer.engine.metrics().tracer("tells")?.events == UInt64(mask.kinds.count))
  }

  @Test func `a tracer in Swift gets the kinds that it names`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try HopTracer(inSwift: "", headers: nil)
    let (_, events) = try await tracer.run(server.baseURL + "/a")
    #expect(events.map { $0["kind"] } == ["didEndHop", "didComplete"])
    #expect(events.map { $0["received"] } == ["3", "3"])
  }

  @Test func `one tracer's mask does not affect another`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let ledger = LedgerLog()
    let tracer = try await HopTracer(defines: ["INTERESTS=(\(Self.ends))"], plugin: #", "deadline": "60s""#) {
      $0.addStage("ledger", ledger.code)
    }
    let (_, events) = try await tracer.run(server.baseURL + "/a")
    #expect(events.count == 2)
    #expect(ledger.entries.count == 9)
    #expect(ledger.violation == nil)
  }
}
