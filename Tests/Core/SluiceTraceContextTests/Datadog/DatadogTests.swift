import SluiceMessages
import Testing

@testable import SluiceTraceContext

@Suite struct DatadogTests {
  private static let ids: Lines = [
    "x-datadog-trace-id": "4822678189205111", "x-datadog-parent-id": "9799832789158199296",
  ]
  private static let traceID = TraceID(high: 0, low: 0x0011_2233_4455_6677)

  private static func extract(_ more: Lines) -> Extraction {
    var fields = ids.fields
    for (name, value) in more { fields.append(name, value) }
    return Propagators.of("datadog").extract(from: fields)
  }

  @Test func `decimal ids are read, and the tags give the upper half of the trace id`() {
    #expect(
      Self.extract([:]).trace
        == RemoteTrace(traceID: Self.traceID, spanID: 0x8800_0000_0000_0000, sampling: .deferred))
    let trace = Self.extract(["x-datadog-tags": "_dd.p.dm=-4,_dd.p.tid=640cfd8d00000000"]).trace
    #expect(trace?.traceID == TraceID(high: 0x640C_FD8D_0000_0000, low: Self.traceID.low))
    #expect(trace?.state == "dd=t.dm:-4")
  }

  @Test(
    arguments: [("-1", .denied), ("0", .denied), ("1", .accepted), ("2", .accepted)] as [(String, SamplingState)])
  func `the priority is read as a decision, and passed on unchanged`(priority: String, sampling: SamplingState) {
    let lines: Lines = [
      "x-datadog-trace-id": "1", "x-datadog-parent-id": "2", "x-datadog-sampling-priority": priority,
    ]
    let trace = Propagators.of("datadog").extract(lines).trace
    #expect(trace?.sampling == sampling)
    #expect(trace?.state == "dd=s:\(priority)")
    #expect(Propagators.of("datadog").relay(lines)["x-datadog-sampling-priority"] == priority)
  }

  @Test(
    arguments: [
      (["x-datadog-trace-id": "0", "x-datadog-parent-id": "1"], "x-datadog-trace-id: it is zero"),
      (["x-datadog-trace-id": "1", "x-datadog-parent-id": "0"], "x-datadog-parent-id: it is zero"),
      (["x-datadog-trace-id": "1"], "x-datadog-parent-id: expected a decimal number"),
      (["x-datadog-trace-id": "", "x-datadog-parent-id": "1"], "x-datadog-trace-id: expected a decimal number"),
      (["x-datadog-trace-id": "-1", "x-datadog-parent-id": "1"], "x-datadog-trace-id: expected a decimal number"),
      (["x-datadog-trace-id": "+1", "x-datadog-parent-id": "1"], "x-datadog-trace-id: expected a decimal number"),
      (["x-datadog-trace-id": "1f", "x-datadog-parent-id": "1"], "x-datadog-trace-id: expected a decimal number"),
      (
        ["x-datadog-trace-id": "18446744073709551616", "x-datadog-parent-id": "1"],
        "x-datadog-trace-id: expected a decimal number"
      ),
      (
        ["x-datadog-trace-id": "1", "x-datadog-trace-id": "1", "x-datadog-parent-id": "1"],
        "x-datadog-trace-id: it occurs 2 times"
      ),
    ] as [(Lines, String)])
  func `an invalid id is refused with a reason`(lines: Lines, reason: String) {
    let extraction = Propagators.of("datadog").extract(lines)
    #expect(extraction.trace == nil)
    #expect(extraction.refusals.first?.description.hasPrefix(reason) == true, "\(extraction.refusals)")
  }

  @Test func `the largest id is read and written`() {
    let lines: Lines = ["x-datadog-trace-id": "18446744073709551615", "x-datadog-parent-id": "18446744073709551615"]
    #expect(Propagators.of("datadog").extract(lines).trace?.spanID == .max)
    #expect(Propagators.of("datadog").relay(lines)["x-datadog-trace-id"] == "18446744073709551615")
  }

  @Test(
    arguments: [
      (["x-datadog-sampling-priority": "3"], "x-datadog-sampling-priority: expected"),
      (["x-datadog-sampling-priority": "x"], "x-datadog-sampling-priority: expected"),
      (["x-datadog-tags": "_dd.p.tid=640CFD8D00000000"], "x-datadog-tags: _dd.p.tid is not"),
      (["x-datadog-tags": "_dd.p.tid=12"], "x-datadog-tags: _dd.p.tid is not"),
      (["x-datadog-tags": "_dd.p.a=" + String(repeating: "x", count: 512)], "x-datadog-tags: it has more than 512"),
    ] as [(Lines, String)])
  func `invalid parts other than the ids are left out, and the trace continues`(lines: Lines, reason: String) {
    let extraction = Self.extract(lines)
    #expect(
      extraction.trace == RemoteTrace(traceID: Self.traceID, spanID: 9_799_832_789_158_199_296, sampling: .deferred))
    #expect(extraction.refusals.first?.description.hasPrefix(reason) == true)
  }

  @Test func `priority, origin and tags with _dd.p are passed on, and other tags are not`() {
    let lines: Lines = [
      "x-datadog-trace-id": "1", "x-datadog-parent-id": "2", "x-datadog-sampling-priority": "2",
      "x-datadog-origin": "synthetics",
      "x-datadog-tags": "_dd.p.dm=-4,other=1,_dd.p.usr=a=b,_dd.p.tid=00000000000000ff",
    ]
    #expect(
      Propagators.of("datadog").relay(lines) == [
        "x-datadog-trace-id": "1", "x-datadog-parent-id": "17289301308300324847", "x-datadog-sampling-priority": "2",
        "x-datadog-origin": "synthetics", "x-datadog-tags": "_dd.p.tid=00000000000000ff,_dd.p.dm=-4,_dd.p.usr=a=b",
      ])
  }

  @Test func `priority, origin and tags survive a service that speaks only W3C Trace Context`() {
    let sent = Propagators.of("datadog", "tracecontext").relay([
      "x-datadog-trace-id": "1", "x-datadog-parent-id": "2", "x-datadog-sampling-priority": "-1",
      "x-datadog-origin": "a=b;c~", "x-datadog-tags": "_dd.p.dm=-4",
    ])
    #expect(sent["traceparent"] == "00-00000000000000000000000000000001-efefefefefefefef-00")
    #expect(sent["tracestate"] == "dd=s:-1;o:a~b_c_;t.dm:-4")
    let back = Propagators.of("tracecontext", "datadog").relay([
      "traceparent": sent["traceparent"] ?? "", "tracestate": "other=1,\(sent["tracestate"] ?? "")",
    ])
    #expect(back["x-datadog-sampling-priority"] == "-1")
    #expect(back["x-datadog-origin"] == "a=b_c_")
    #expect(back["x-datadog-tags"] == "_dd.p.dm=-4")
    #expect(back["tracestate"] == "other=1,dd=s:-1;o:a~b_c_;t.dm:-4")
  }

  @Test func `a priority that contradicts the sampling decision is replaced`() {
    #expect(DatadogState("dd=s:2")?.priority(isSampled: true) == 2)
    #expect(DatadogState("dd=s:2")?.priority(isSampled: false) == 0)
    #expect(DatadogState("dd=s:-1")?.priority(isSampled: true) == 1)
    #expect(DatadogState("dd=s:9")?.priority(isSampled: true) == 1)
    #expect(DatadogState("ddx=s:2") == nil)
  }

  @Test func `the member dd of tracestate is at most 259 bytes long`() {
    var state = DatadogState()
    state.tags = (0..<100).map { ("tag\($0)", "value") }
    let member = state.member ?? ""
    #expect(member.utf8.count <= 259 && member.utf8.count > 240)
    #expect(TraceState.content(member.utf8.span) != nil)
  }

  @Test func `no Datadog headers are written for a trace id that Datadog cannot express`() {
    let sent = Propagators.of("datadog").relay(["traceparent": ""])
    #expect(sent["x-datadog-trace-id"] == "14829735431805717965")
    let parent = ParentContext(traceparent: "00-00000000000000010000000000000000-0000000000000001-01")
    let trace = HopTrace(parent, newTraceID: .new, spanID: newSpanID)
    #expect(Propagators.of("datadog").inject(trace).isEmpty)
  }
}
