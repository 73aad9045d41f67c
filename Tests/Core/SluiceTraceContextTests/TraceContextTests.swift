import SluiceMessages
import SluiceTestKit
import SluiceTraceContext
import Testing

/// Traces that a program begins, continues and passes on.
@Suite struct TraceContextTests {
  private static let incoming: HeaderFields = [
    "Traceparent": "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01", "tracestate": "a=1", "TraceState": "b=2",
    "baggage": "user=alice",
  ]

  @Test func `a trace that begins has valid ids, and is sampled as the sampler says`() throws {
    var generator = SeededRandom(seed: 7)
    let context = TraceContext.start(baggage: "a=1", using: &generator)
    let parent = try TraceParent(try #require(context.parent.traceparent).utf8.span)
    #expect(parent.traceID == context.trace.traceID)
    #expect(parent.spanID == context.trace.spanID)
    #expect(parent.flags == [.sampled, .random])
    #expect(context.parent.baggage == "a=1")
    #expect(context.parent.tracestate == nil)
    let off = TraceContext.start(sampler: Sampler(.alwaysOff))
    #expect(off.trace.sampling == .denied)
    #expect(TraceContext.start().trace.traceID != TraceContext.start().trace.traceID)
  }

  @Test
  func `a trace in any format continues with the sender's span as its parent, and a new trace begins if there is none`()
    throws
  {
    let context = TraceContext.continuing(Self.incoming)
    #expect(
      context.parent
        == ParentContext(
          traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01", tracestate: "a=1,b=2",
          baggage: "user=alice"))
    let b3 = TraceContext.continuing(
      FunctionCarrier { $0 == "b3" ? ["0123456789abcdef-0011223344556677-d"] : [] },
      by: Propagators([B3Propagator()]))
    #expect(b3.trace.traceID == TraceID(high: 0, low: 0x0123_4567_89AB_CDEF))
    #expect(b3.trace.sampling == .debug)
    let invalid: HeaderFields = ["traceparent": "00-00-00-00", "tracestate": "a=1", "baggage": "user=alice"]
    let begun = TraceContext.continuing(invalid)
    #expect(begun.trace.state == nil)
    #expect(begun.baggage == "user=alice")
    #expect(begun.trace.isRandom)
    #expect(begun.refusals.map(\.header) == ["traceparent"])
    #expect(begun.parent.refusals == begun.refusals)
    let denied = TraceContext.continuing(FunctionCarrier { $0 == "b3" ? ["0"] : [] }, by: Propagators([B3Propagator()]))
    #expect(denied.trace.sampling == .denied)
  }

  @Test func `a child context has the same trace and a new span`() {
    let context = TraceContext.continuing(Self.incoming)
    let child = context.child()
    #expect(child.trace.spanID != context.trace.spanID)
    #expect(child.trace.spanID != 0)
    #expect(child.trace.traceID == context.trace.traceID)
    #expect(child.trace.state == context.trace.state)
    #expect(child.baggage == context.baggage)
  }

  @Test func `an injected context is read back, from headers and from any carrier`() {
    let context = TraceContext.continuing(Self.incoming).child()
    var fields: HeaderFields = ["TRACEPARENT": "old", "x-other": "1"]
    context.inject(into: &fields)
    #expect(fields[values: "traceparent"].count == 1)
    #expect(fields["x-other"] == "1")
    #expect(TraceContext.continuing(fields) == context)

    let all = Propagators(["tracecontext", "baggage", "b3", "b3multi"].compactMap { Propagators.named($0) })
    var variables: [String: String] = ["X_B3_FLAGS": "1"]
    var sink = FunctionSink { variables[EnvironmentCarrier.variable(for: $0)] = $1 }
    context.inject(into: &sink, by: all)
    #expect(variables["TRACESTATE"] == "a=1,b=2")
    #expect(variables["X_B3_FLAGS"] == nil)
    #expect(TraceContext.continuing(EnvironmentCarrier { variables[$0] }, by: all) == context)
  }

  @Test func `only valid header values are injected`() {
    var context = TraceContext.start()
    context.trace.state = "a=1\r\nX-Evil: 1"
    context.baggage = "a=\u{0}"
    var fields = HeaderFields()
    context.inject(into: &fields)
    #expect(fields.map(\.name) == ["traceparent"])
  }

  @Test func `the context of a task applies to its children only`() async {
    #expect(TraceContext.current == nil)
    let context = TraceContext.start()
    await TraceContext.$current.withValue(context) {
      async let child = TraceContext.current
      #expect(await child == context)
      #expect(await Task { TraceContext.current }.value == context)
      #expect(await Task.detached { TraceContext.current }.value == nil)
    }
    #expect(TraceContext.current == nil)
  }
}
