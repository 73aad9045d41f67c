import CSluice
import SluiceTestKit
import Testing

@testable import SluicePlugin

/// Tracers in Swift, which get their events through the C table.
struct TracerTests {
  private struct Plain: Plugin, TransactionTracer {
    static let information = PluginInformation(id: "plain", version: "1.0.0", summary: "A fixture.")
    init(configuration: NoConfiguration, host: PluginHost) {}
    func record(_ event: borrowing TransactionEvent) {}
  }

  @Test func `a tracer requests all event kinds that it knows, or only the kinds that it names`() throws {
    #expect(makeTracerTable(.tracer, of: Plain.self)?.interests == (1...13).reduce(0) { $0 | 1 << $1 })
    let some = try StubInstance(try entryPoint(of: "traces-in-swift")).tracer
    #expect(some?.interests == 1 << 8 | 1 << 12)
  }

  @Test func `the kinds of events have the numbers of the C interface`() {
    let numbers: [TransactionEvent.Kind: Int] = [
      .willExecute: SLUICE_EVENT_WILL_EXECUTE, .didConfigure: SLUICE_EVENT_DID_CONFIGURE,
      .didIssue: SLUICE_EVENT_DID_ISSUE, .didReceive: SLUICE_EVENT_DID_RECEIVE,
      .didValidateResponse: SLUICE_EVENT_DID_VALIDATE_RESPONSE, .didExtract: SLUICE_EVENT_DID_EXTRACT,
      .didValidatePayload: SLUICE_EVENT_DID_VALIDATE_PAYLOAD, .didComplete: SLUICE_EVENT_DID_COMPLETE,
      .didReceiveInformational: SLUICE_EVENT_DID_RECEIVE_INFORMATIONAL, .willRetry: SLUICE_EVENT_WILL_RETRY,
      .willRedirect: SLUICE_EVENT_WILL_REDIRECT, .didEndHop: SLUICE_EVENT_DID_END_HOP,
      .didEndSpan: SLUICE_EVENT_DID_END_SPAN,
    ]
    for kind in TransactionEvent.Kind.allCases { #expect(Int(kind.rawValue) == numbers[kind], "\(kind)") }
  }

  /// The event's size is the end of the member `span` plus the first argument.
  @Test(arguments: [(-1, false), (0, true), (4096, true)])
  func `an event has a span if its size includes the member span`(
    _ more: Int, _ isThere: Bool
  ) throws {
    let end = try #require(MemoryLayout<sluice_event>.offset(of: \.span)) + MemoryLayout<UnsafeRawPointer?>.size
    var span = sluice_span()
    span.size = UInt32(MemoryLayout<sluice_span>.size)
    span.kind = UInt32(SLUICE_SPAN_CLIENT)
    let kind = withUnsafePointer(to: &span) { span in
      var event = sluice_event()
      event.size = UInt32(end + more)
      event.span = span
      return withUnsafePointer(to: &event) { TransactionEvent(event: $0, call: nil, kind: .didEndSpan).span?.kind }
    }
    #expect(kind == (isThere ? .client : nil))
  }

  @Test(arguments: [-1, 0, 64] as [Int64])
  func `a span and timings that are shorter than in revision 1 count as absent`(_ more: Int64) {
    var (span, timings, event) = (sluice_span(), sluice_timings(), sluice_event())
    span.size = UInt32(Int64(SLUICE_SPAN_SIZE_1) + more)
    timings.size = UInt32(Int64(SLUICE_TIMINGS_SIZE_1) + more)
    event.size = SLUICE_EVENT_SIZE_1
    let isThere = withUnsafePointer(to: &span) { span in
      withUnsafePointer(to: &timings) { timings in
        (event.span, event.timings) = (span, timings)
        return withUnsafePointer(to: &event) {
          let seen = TransactionEvent(event: $0, call: nil, kind: .didEndSpan)
          return [seen.span != nil, seen.timings != nil]
        }
      }
    }
    #expect(isThere == [more >= 0, more >= 0])
  }

  @Test func `ids are hexadecimal, and an id that is zero is nil`() throws {
    let instance = try StubInstance(try entryPoint(of: "traces-in-swift"))
    let exchange = StubExchange()
    exchange.issued["x-hop"] = "0.1"
    instance.record(exchange) { event in
      event.kind = UInt32(SLUICE_EVENT_DID_END_HOP)
      withUnsafeMutableBytes(of: &event.trace_id) { $0.copyBytes(from: (0..<16).map { 0x10 * $0 + 0x0F }) }
      withUnsafeMutableBytes(of: &event.span_id) { $0.copyBytes(from: [0, 1, 2, 3, 4, 5, 6, 7]) }
      (event.hop, event.trace_flags) = (1, 3)
    }
    instance.record(exchange, isQueued: true) { $0.trace_flags = 2 }
    let lines = instance.host.log.value.compactMap { $0.split(separator: "=", maxSplits: 1).last }
    #expect(
      lines == [
        "kind:didEndHop place:0.1 trace:0f1f2f3f4f5f6f7f8f9fafbfcfdfefff span:0001020304050607 parent:nil sampled:true "
          + "code:nil received:0 issued:0.1",
        "kind:didComplete place:0.0 trace:nil span:nil parent:nil sampled:false code:nil received:0 issued:absent",
      ])
  }
}
