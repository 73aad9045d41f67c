import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct SamplerTests {
  private static func samples(
    _ kind: Sampler.Kind, ratio: Double = 1, low: UInt64 = 0, parent: SamplingState? = nil, state: String? = nil
  ) -> Bool {
    Sampler(kind, ratio: ratio).samples(TraceID(high: 1, low: low), parent: parent, state: state)
  }

  @Test(
    arguments: [
      (.alwaysOn, nil, true), (.alwaysOn, .denied, true), (.alwaysOff, nil, false), (.alwaysOff, .accepted, false),
      (.alwaysOff, .debug, false), (.parentBasedAlwaysOn, nil, true), (.parentBasedAlwaysOn, .denied, false),
      (.parentBasedAlwaysOn, .deferred, true), (.parentBasedAlwaysOff, nil, false),
      (.parentBasedAlwaysOff, .accepted, true), (.parentBasedAlwaysOff, .debug, true),
      (.parentBasedAlwaysOff, .deferred, false),
    ] as [(Sampler.Kind, SamplingState?, Bool)])
  func `always, never, and as the parent says`(kind: Sampler.Kind, parent: SamplingState?, isSampled: Bool) {
    #expect(Self.samples(kind, parent: parent) == isSampled)
  }

  @Test(arguments: [Sampler.Kind.traceIDRatio, .parentBasedTraceIDRatio])
  func `the ratio is a threshold for the right 56 bits, and the left of them don't count`(kind: Sampler.Kind) {
    #expect(!Self.samples(kind, ratio: 0.25, low: 0x00BF_FFFF_FFFF_FFFF))
    #expect(Self.samples(kind, ratio: 0.25, low: 0x00C0_0000_0000_0000))
    #expect(Self.samples(kind, ratio: 0.25, low: 0x12C0_0000_0000_0000))
    #expect(!Self.samples(kind, ratio: 0.25, low: 0xFF00_0000_0000_0000))
  }

  @Test func `the threshold of one in a hundred is the one of OpenTelemetry`() {
    #expect(!Self.samples(.traceIDRatio, ratio: 0.01, low: 0x00FD_70A3_D70A_3D70))
    #expect(Self.samples(.traceIDRatio, ratio: 0.01, low: 0x00FD_70A3_D70A_3D71))
  }

  @Test(arguments: [(0.0, false), (1e-30, false), (1.0, true)])
  func `nothing and everything are exact`(ratio: Double, isSampled: Bool) {
    for low: UInt64 in [0, 1, 0x00FF_FFFF_FFFF_FFFF, .max] {
      #expect(Self.samples(.traceIDRatio, ratio: ratio, low: low) == isSampled)
    }
  }

  @Test func `a parent's decision wins over the ratio, except where it is not asked`() {
    #expect(Self.samples(.parentBasedTraceIDRatio, ratio: 0, parent: .accepted))
    #expect(!Self.samples(.parentBasedTraceIDRatio, ratio: 1, parent: .denied))
    #expect(!Self.samples(.traceIDRatio, ratio: 0, parent: .accepted))
  }

  @Test func `a trace that one ratio samples is sampled by every larger one, on every hop`() {
    var random = SeededRandom(seed: 31)
    var sampled = 0
    for _ in 0..<4000 {
      let low: UInt64 = random.next()
      let decisions = [0.1, 0.25, 0.5, 0.9].map { Self.samples(.traceIDRatio, ratio: $0, low: low) }
      #expect(decisions == decisions.sorted { !$0 && $1 })
      if Self.samples(.traceIDRatio, ratio: 0.25, low: low) { sampled += 1 }
    }
    #expect((850...1150).contains(sampled))
  }

  @Test(
    arguments: [
      ("ot=rv:ffffffffffffff", true), ("a=1,ot=th:8;rv:c0000000000000", true), ("ot=rv:bfffffffffffff", false),
      ("ot=rv:ffff", false), ("ot=rv:FFFFFFFFFFFFFF", false), ("ot=xrv:fffffffffffff", false),
      ("not=rv:ffffffffffffff", false),
      ("ot=rv:ffffffffffffff,BAD=1", false), ("ot=", false),
    ] as [(String, Bool)])
  func `a random value in the state takes the place of the trace id's`(state: String, isSampled: Bool) {
    #expect(Self.samples(.traceIDRatio, ratio: 0.25, low: 0, state: state) == isSampled)
  }

  @Test func `the flag changes with a new span id only, and handing on changes neither`() throws {
    let text = "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01"
    let parent = ParentContext(traceparent: text, tracestate: "a=1")
    let trace = HopTrace(parent, newTraceID: .new, spanID: newSpanID, sampler: Sampler(.alwaysOff))
    #expect(trace.traceParent?.description == "00-0123456789abcdef0011223344556677-efefefefefefefef-00")
    #expect(trace.state == "a=1")
    #expect(HopTrace(handingOn: parent).traceParent?.description == text)
    #expect(HopTrace(handingOn: ParentContext(baggage: "a=1")).traceParent == nil)
  }
}
