import SluiceMessages
import Testing

@testable import SluiceTraceContext

/// The values that a caller gives, and the parts of them that are passed on.
@Suite struct ParentContextTests {
  private static let traceparent = "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01"

  @Test func `given values are kept unchanged, even if they are invalid`() {
    let refusal = InvalidContext("b3", "no")
    let parent = ParentContext(
      traceparent: "x", tracestate: "BAD", baggage: "=", sampling: .deferred, refusals: [refusal])
    #expect(parent.traceparent == "x")
    #expect(parent.tracestate == "BAD")
    #expect(parent.baggage == "=")
    #expect(parent.sampling == .deferred)
    #expect(parent.refusals == [refusal])
    let nothing = ParentContext()
    #expect(nothing.traceparent == nil && nothing.tracestate == nil && nothing.baggage == nil)
    #expect(nothing.sampling == nil && nothing.refusals.isEmpty)
  }

  @Test func `a context with values from a carrier equals a context with the same values given as text`() {
    let lines: Lines = ["traceparent": Self.traceparent, "tracestate": " a=1 ", "baggage": "b=2"]
    let read = Propagators.standard.extract(lines).parent
    let given = ParentContext(traceparent: Self.traceparent, tracestate: "a=1", baggage: "b=2")
    #expect(read == given)
    #expect(read.hashValue == given.hashValue)
    #expect(read != ParentContext(traceparent: Self.traceparent, tracestate: "a=1", baggage: "b=3"))
    #expect(ParentContext() == ParentContext() && ParentContext() != given)
  }

  @Test func `each value can be changed separately, and the part that is passed on changes with it`() {
    let before = ParentContext(traceparent: Self.traceparent, tracestate: "a=1", baggage: "b=2")
    var parent = before
    parent.tracestate = "BAD"
    parent.baggage = " c=3 "
    parent.sampling = .debug
    parent.refusals = [InvalidContext("b3", "no")]
    #expect(parent.traceparent == Self.traceparent)
    let sent = Propagators.of("tracecontext", "baggage", "b3").inject(HopTrace(handingOn: parent))
    #expect(sent["tracestate"] == nil)
    #expect(sent["baggage"] == "c=3")
    #expect(sent["b3"]?.hasSuffix("-d") == true)
    parent.traceparent = "x"
    #expect(HopTrace(handingOn: parent).traceParent == nil)
    #expect(before.tracestate == "a=1" && before.baggage == "b=2")
  }

  @Test(
    arguments: [
      (" a=1\t", " b=2 ", "a=1", "b=2"), ("a=1,B=1", "b=2,=,c=3", nil, "b=2,c=3"), ("", "", nil, nil),
      (",", ",", nil, nil), ("a=1\r\n", "b=2\r\n", nil, nil),
    ] as [(String, String, String?, String?)])
  func `only the valid parts of tracestate and baggage are passed on`(
    tracestate: String, baggage: String, sentState: String?, sentBaggage: String?
  ) {
    let parent = ParentContext(traceparent: Self.traceparent, tracestate: tracestate, baggage: baggage)
    let sent = Propagators.standard.inject(HopTrace(parent, newTraceID: .new, spanID: newSpanID))
    #expect(sent["tracestate"] == sentState)
    #expect(sent["baggage"] == sentBaggage)
    #expect(sent["traceparent"]?.hasPrefix("00-0123456789abcdef0011223344556677-efef") == true)
  }

  @Test func `a context with an id of zero has no trace`() {
    var context = TraceContext.start()
    context.trace.spanID = 0
    #expect(HopTrace(context.parent, newTraceID: .new, spanID: newSpanID).traceParent?.traceID == .new)
    #expect(HopTrace(handingOn: context.parent).traceParent == nil)
    #expect(context.parent.traceparent?.contains("-0000000000000000-") == true)
  }
}
