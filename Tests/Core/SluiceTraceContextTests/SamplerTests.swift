import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct SamplerTests {
  private static func samples(
    _ kind: Sampler.Kind, ratio: Double = 1, low: UInt64 = 0, parent: SamplingState? = nil
  ) -> Bool {
    Sampler(kind, ratio: ratio).samples(TraceID(high: 1, low: low), parent: parent)
  }

  @Test(
    arguments: [
      (.alwaysOn, nil, true), (.alwaysOn, .denied, true), (.alwaysOff, nil, false), (.alwaysOff, .accepted, false),
      (.alwaysOff, .debug, false), (.parentBasedAlwaysOn, nil, true), (.parentBasedAlwaysOn, .denied, false),
      (.parentBasedAlwaysOn, .deferred, true), (.parentBasedAlwaysOff, nil, false),
      (.parentBasedAlwaysOff, .accepted, true), (.parentBasedAlwaysOff, .debug, true),
      (.parentBasedAlwaysOff, .deferred, false),
    ] as [(Sampler.Kind, SamplingState?, Bool)])
  func `a sampler without a ratio samples always, never, or as the parent decided`(
    kind: Sampler.Kind, parent: SamplingState?, isSampled: Bool
  ) {
    #expect(Self.samples(kind, parent: parent) == isSampled)
  }

  /// The vectors follow the rule of TraceIdRatioBased in the OpenTelemetry SDKs.
  /// `Tests/Fixtures/Cases/trace-id-ratio/vectors.py` describes that rule, computed the vectors, and compares them with the SDK
  /// for Python.
  @Test(arguments: [Sampler.Kind.traceIDRatio, .parentBasedTraceIDRatio])
  func `a ratio samples the trace ids that the SDKs of OpenTelemetry sample`(kind: Sampler.Kind) throws {
    let text = try FileTree.readText(RepositoryRoot.path("Tests/Fixtures/Cases/trace-id-ratio/vectors.txt"))
    let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
    let samplers = try #require(lines.first).dropFirst().map { Sampler(kind, ratio: try #require(Double($0))) }
    #expect(samplers.count == 12 && lines.count == 281)
    for line in lines.dropFirst() {
      let digits = try #require(line.first)
      let id = TraceID(
        high: try #require(UInt64(digits.prefix(16), radix: 16)),
        low: try #require(UInt64(digits.suffix(16), radix: 16)))
      let decisions = samplers.map { $0.samples(id, parent: nil) ? "1" : "0" }
      #expect(decisions.joined() == line[1], "\(digits)")
    }
  }

  @Test(arguments: [
    (0.0, false), (1e-30, false), (1.0, true), (-1, false), (2, true), (.nan, false), (.infinity, true),
    (-.infinity, false),
  ])
  func `a ratio of 0 or below samples no trace, and a ratio of 1 or above samples every trace`(
    ratio: Double, isSampled: Bool
  ) {
    for low: UInt64 in [0, 1, 1 << 63, .max] {
      #expect(Self.samples(.traceIDRatio, ratio: ratio, low: low) == isSampled)
    }
  }

  @Test func `a parent's sampling decision wins over the ratio, unless the sampler ignores the parent`() {
    #expect(Self.samples(.parentBasedTraceIDRatio, ratio: 0, parent: .accepted))
    #expect(!Self.samples(.parentBasedTraceIDRatio, ratio: 1, parent: .denied))
    #expect(!Self.samples(.traceIDRatio, ratio: 0, parent: .accepted))
  }

  @Test func `a trace that one ratio samples is also sampled by every larger ratio`() {
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

  @Test
  func `a hop can change the sampled flag only if it has a new span id, and a trace that is passed on keeps both`()
    throws
  {
    let text = "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01"
    let parent = ParentContext(traceparent: text, tracestate: "a=1")
    let trace = HopTrace(parent, newTraceID: .new, spanID: newSpanID, sampler: Sampler(.alwaysOff))
    #expect(trace.traceParent?.description == "00-0123456789abcdef0011223344556677-efefefefefefefef-00")
    #expect(trace.state == "a=1")
    #expect(HopTrace(handingOn: parent).traceParent?.description == text)
    #expect(HopTrace(handingOn: ParentContext(baggage: "a=1")).traceParent == nil)
  }
}
