import SluiceMessages
import Testing

@testable import SluiceTraceContext

/// The sampling threshold `th` in the member `ot` of `tracestate`. A hop passes on the caller's threshold only if the
/// hop's own sampling decision follows from this threshold.
@Suite struct OpenTelemetryStateTests {
  /// Returns the `tracestate` that a hop sends if the caller sent `state`. The right 56 bits of the trace id are
  /// 0x80000000000000.
  private static func sent(
    _ state: String, _ kind: Sampler.Kind, ratio: Double = 1, flags: String, sampling: SamplingState? = nil
  ) -> String? {
    let parent = ParentContext(
      traceparent: "00-00000000000000010080000000000000-8899aabbccddeeff-\(flags)", tracestate: state,
      sampling: sampling)
    let trace = HopTrace(parent, newTraceID: .new, spanID: newSpanID, sampler: Sampler(kind, ratio: ratio))
    let sent = Propagators.of("tracecontext").inject(trace)
    #expect(sent["tracestate"] == trace.state)
    return sent["tracestate"]
  }

  @Test(
    arguments: [
      (.alwaysOn, 1, "00", "ot=th:0"), (.alwaysOn, 1, "01", "ot=th:0"), (.alwaysOff, 1, "01", nil),
      (.alwaysOff, 1, "00", nil), (.traceIDRatio, 1, "00", "ot=th:0"), (.traceIDRatio, 0, "01", nil),
      (.traceIDRatio, 0.5, "00", nil), (.traceIDRatio, 0.5, "01", nil),
    ] as [(Sampler.Kind, Double, String, String?)])
  func `a sampler that decides by itself replaces the caller's threshold, or removes it`(
    kind: Sampler.Kind, ratio: Double, flags: String, state: String?
  ) {
    #expect(Self.sent("ot=th:c", kind, ratio: ratio, flags: flags) == state)
  }

  @Test(
    arguments: [
      (.parentBasedAlwaysOn, "00", .deferred, "ot=th:0"), (.parentBasedAlwaysOff, "01", .deferred, nil),
      (.parentBasedTraceIDRatio, "01", .deferred, nil), (.parentBasedAlwaysOn, "00", .debug, nil),
      (.parentBasedAlwaysOn, "00", .accepted, nil), (.parentBasedAlwaysOn, "01", .denied, nil),
      (.parentBasedAlwaysOn, "01", .accepted, "ot=th:c"), (.parentBasedAlwaysOn, "00", .denied, "ot=th:c"),
    ] as [(Sampler.Kind, String, SamplingState, String?)])
  func `a decision that differs from the flag of the caller's traceparent replaces or removes the threshold`(
    kind: Sampler.Kind, flags: String, sampling: SamplingState, state: String?
  ) {
    #expect(Self.sent("ot=th:c", kind, ratio: 0.5, flags: flags, sampling: sampling) == state)
  }

  @Test(
    arguments: [
      // Without the random flag (02), the trace id might not be random, so nothing contradicts the sampled flag.
      ("ot=th:c", "01", "ot=th:c"), ("ot=th:4", "00", "ot=th:4"),
      // With the random flag, the threshold 8 samples this trace id: 0x80… is the smallest value that it samples.
      ("ot=th:8", "03", "ot=th:8"), ("ot=th:8", "02", nil), ("ot=th:80000000000001", "03", nil),
      ("ot=th:80000000000001", "02", "ot=th:80000000000001"), ("ot=th:0", "03", "ot=th:0"),
      ("ot=rv:c0000000000000;th:c", "01", "ot=rv:c0000000000000;th:c"),
      ("ot=rv:bfffffffffffff;th:c", "01", "ot=rv:bfffffffffffff"), ("ot=rv:ffff;th:c", "01", "ot=rv:ffff;th:c"),
      ("ot=th:X", "03", "ot=th:X"), ("ot=th:100000000000000", "02", "ot=th:100000000000000"),
    ] as [(String, String, String?)])
  func `if the caller's decision is adopted, the threshold stays, unless the random value contradicts the sampled flag`(
    state: String, flags: String, sent: String?
  ) {
    #expect(Self.sent(state, .parentBasedTraceIDRatio, ratio: 0.5, flags: flags) == sent)
  }

  @Test(
    arguments: [
      ("a=1, ot=th:8;rv:6e6d1a75832a2f ,b=2", "ot=rv:6e6d1a75832a2f,a=1,b=2", "ot=th:0;rv:6e6d1a75832a2f,a=1,b=2"),
      ("a=1,ot=th:8,b=2", "a=1,b=2", "ot=th:0,a=1,b=2"), ("ot=k:v;th:8;x", "ot=k:v;x", "ot=th:0;k:v;x"),
      ("ot=th:8;th:c,ot=th:4,a=1", "a=1", "ot=th:0,a=1"), ("ot=th:", nil, nil), ("ot=th:8,", nil, "ot=th:0,"),
      ("ot=rv:6e6d1a75832a2f,a=1", "ot=rv:6e6d1a75832a2f,a=1", "ot=rv:6e6d1a75832a2f,a=1"),
      ("not=th:8,ot2=th:8", "not=th:8,ot2=th:8", "not=th:8,ot2=th:8"), ("ot=xth:8", "ot=xth:8", "ot=xth:8"),
      ("ot=th:8,BAD=1", nil, nil),
    ] as [(String, String?, String?)])
  func `a changed member ot moves to the left, and the rest of tracestate does not change`(
    state: String, removed: String?, replaced: String?
  ) {
    #expect(Self.sent(state, .alwaysOff, flags: "01") == removed)
    #expect(Self.sent(state, .alwaysOn, flags: "00") == replaced)
  }

  @Test func `a tracestate at its limits stays valid when its threshold is replaced`() throws {
    let value = "k:" + String(repeating: "v", count: 249) + ";th:8"
    let state = "ot=\(value)," + (1..<32).map { "k\($0)=v" }.joined(separator: ",")
    let sent = try #require(Self.sent(state, .alwaysOn, flags: "00"))
    #expect(sent.hasPrefix("ot=th:0;k:v"))
    #expect(TraceState.content(sent.utf8.span) == 0..<state.utf8.count)
  }

  @Test func `a trace that is only passed on keeps its threshold, whatever the sampler`() {
    let parent = ParentContext(
      traceparent: "00-00000000000000010080000000000000-8899aabbccddeeff-03", tracestate: "ot=th:c")
    #expect(HopTrace(handingOn: parent).state == "ot=th:c")
  }
}
