import SluiceMessages
import Testing

@testable import SluiceTraceContext

@Suite struct B3MultiTests {
  private static let trace = "0123456789abcdef0011223344556677"
  private static let span = "8899aabbccddeeff"

  private static func remote(_ sampling: SamplingState) -> RemoteTrace {
    RemoteTrace(
      traceID: TraceID(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233_4455_6677), spanID: 0x8899_AABB_CCDD_EEFF,
      sampling: sampling)
  }

  @Test(
    arguments: [
      (["X-B3-TraceId": trace, "X-B3-SpanId": span], .deferred),
      (["x-b3-traceid": trace, "x-b3-spanid": span, "x-b3-sampled": "1"], .accepted),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-Sampled": "0"], .denied),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-Sampled": "true"], .accepted),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-Sampled": "false"], .denied),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-Flags": "1"], .debug),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-Sampled": "0", "X-B3-Flags": "1"], .debug),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-Sampled": "1", "X-B3-Flags": "0"], .accepted),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-ParentSpanId": "1234567890abcdef"], .deferred),
    ] as [(Lines, SamplingState)], ["b3", "b3multi"])
  func `both propagators read the headers of B3`(_ given: (Lines, SamplingState), name: String) {
    let extraction = Propagators.of(name).extract(given.0)
    #expect(extraction.trace == Self.remote(given.1))
    #expect(extraction.propagator == name)
    #expect(extraction.refusals == [])
  }

  @Test(
    arguments: [
      (["X-B3-TraceId": trace], "X-B3-SpanId: the span id is not"),
      (["X-B3-SpanId": span], "X-B3-TraceId: the trace id is not"),
      (["X-B3-TraceId": "12", "X-B3-SpanId": span], "X-B3-TraceId: the trace id is not"),
      (["X-B3-TraceId": trace, "X-B3-SpanId": trace], "X-B3-SpanId: the span id is not"),
      (["X-B3-TraceId": trace, "X-B3-SpanId": span, "X-B3-Sampled": "2"], "X-B3-Sampled: expected 0 or 1"),
      (["X-B3-TraceId": trace, "X-B3-TraceId": trace, "X-B3-SpanId": span], "X-B3-TraceId: it occurs 2 times"),
      (["b3": "x"], "b3: expected 0, 1 or d"), (["b3": "1", "b3": "1"], "b3: it occurs 2 times"),
    ] as [(Lines, String)])
  func `invalid headers are refused with a reason`(lines: Lines, reason: String) {
    let extraction = Propagators.of("b3multi").extract(lines)
    #expect(extraction.trace == nil)
    #expect(extraction.refusals.map(\.description).contains { $0.hasPrefix(reason) }, "\(extraction.refusals)")
  }

  @Test func `the header b3 wins over the X-B3 headers, which are read if b3 is invalid`() {
    let multi: Lines = ["X-B3-TraceId": Self.trace, "X-B3-SpanId": Self.span]
    let single = "\(Self.trace)-1111111111111111-1"
    let both = multi.fields.with("b3", single)
    #expect(Propagators.of("b3").extract(from: both).trace?.spanID == 0x1111_1111_1111_1111)
    let spoilt = Propagators.of("b3", "b3multi").extract(from: multi.fields.with("b3", "spoilt"))
    #expect(spoilt.trace == Self.remote(.deferred))
    #expect(spoilt.refusals.count == 1)
  }

  @Test(
    arguments: [
      (["b3": "0"], .denied), (["X-B3-Sampled": "0"], .denied), (["b3": "d"], .debug),
    ] as [(Lines, SamplingState)])
  func `a sampling decision without ids applies to the trace that begins`(_ given: (Lines, SamplingState)) {
    let parent = Propagators.of("b3").extract(given.0).parent
    #expect(parent == ParentContext(sampling: given.1))
    let trace = HopTrace(parent, newTraceID: .new, spanID: newSpanID)
    #expect(trace.traceParent?.traceID == .new)
    #expect(trace.isSampled == (given.1 == .debug))
  }

  @Test func `each form of B3 is written in its own headers`() {
    let parent = Propagators.of("b3").extract(["b3": "\(Self.trace)-\(Self.span)-1"]).parent
    let trace = HopTrace(parent, newTraceID: .new, spanID: newSpanID)
    #expect(Propagators.of("b3").inject(trace) == ["b3": "\(Self.trace)-efefefefefefefef-1"])
    #expect(
      Propagators.of("b3multi").inject(trace)
        == ["X-B3-TraceId": Self.trace, "X-B3-SpanId": "efefefefefefefef", "X-B3-Sampled": "1"])
  }

  @Test(arguments: [("0", "0"), ("1", "1"), ("d", "d")])
  func `a sampling decision is passed on in both forms of B3`(given: String, sent: String) {
    let lines: Lines = ["b3": "0011223344556677-\(Self.span)-\(given)"]
    let trace = "00000000000000000011223344556677"
    #expect(Propagators.of("b3").relay(lines) == ["b3": "\(trace)-efefefefefefefef-\(sent)"])
    let multi = Propagators.of("b3multi").relay(lines)
    #expect(multi["X-B3-TraceId"] == trace)
    #expect(multi["X-B3-Sampled"] == (sent == "d" ? nil : sent))
    #expect(multi["X-B3-Flags"] == (sent == "d" ? "1" : nil))
  }

  @Test func `a sampling decision that the sender left open stays open if the trace is only passed on`() {
    let parent = Propagators.of("b3").extract(["b3": "\(Self.trace)-\(Self.span)"]).parent
    #expect(Propagators.of("b3").inject(HopTrace(handingOn: parent)) == ["b3": "\(Self.trace)-\(Self.span)"])
    #expect(
      Propagators.of("b3multi").inject(HopTrace(handingOn: parent))
        == ["X-B3-TraceId": Self.trace, "X-B3-SpanId": Self.span])
    #expect(
      Propagators.of("datadog").inject(HopTrace(handingOn: parent)) == [
        "x-datadog-trace-id": "4822678189205111", "x-datadog-parent-id": "9843086184167632639",
        "x-datadog-tags": "_dd.p.tid=0123456789abcdef",
      ])
    #expect(
      Propagators.of("xray").inject(HopTrace(handingOn: parent))
        == ["X-Amzn-Trace-Id": "Root=1-01234567-89abcdef0011223344556677;Parent=\(Self.span)"])
    // Trace Context cannot express an open decision.
    #expect(
      Propagators.of("tracecontext").inject(HopTrace(handingOn: parent))
        == ["traceparent": "00-\(Self.trace)-\(Self.span)-00"])
  }

  @Test(arguments: ["0", "1", "d"])
  func `a trace that is only passed on keeps its sampling decision`(decision: String) {
    let text = "\(Self.trace)-\(Self.span)-\(decision)"
    let parent = Propagators.of("b3").extract(["b3": text]).parent
    #expect(Propagators.of("b3").inject(HopTrace(handingOn: parent)) == ["b3": text])
  }

  @Test func `if the sender left the sampling decision open, the sampler decides`() {
    let lines: Lines = ["b3": "\(Self.trace)-\(Self.span)"]
    #expect(Propagators.of("b3").relay(lines)["b3"]?.hasSuffix("-1") == true)
    let off = Propagators.of("b3").relay(lines, sampler: Sampler(.parentBasedAlwaysOff))
    #expect(off["b3"]?.hasSuffix("-0") == true)
  }
}

extension HeaderFields {
  fileprivate func with(_ name: String, _ value: String) -> HeaderFields {
    var fields = self
    fields.append(name, value)
    return fields
  }
}
