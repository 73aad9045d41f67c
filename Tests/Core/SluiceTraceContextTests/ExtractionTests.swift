import SluiceMessages
import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct ExtractionTests {
  private static let w3c = "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01"
  private static let b3 = "11111111111111111111111111111111-2222222222222222-0"

  @Test func `the first propagator that finds a valid trace gives the trace, and baggage is read separately`() {
    let lines: Lines = ["traceparent": Self.w3c, "tracestate": "a=1", "b3": Self.b3, "baggage": "user=alice"]
    let first = Propagators.of("tracecontext", "b3", "baggage").extract(lines)
    #expect(first.propagator == "tracecontext")
    #expect(first.parent == ParentContext(traceparent: Self.w3c, tracestate: "a=1", baggage: "user=alice"))
    let second = Propagators.of("baggage", "b3", "tracecontext").extract(lines)
    #expect(second.propagator == "b3")
    #expect(
      second.parent
        == ParentContext(traceparent: "00-11111111111111111111111111111111-2222222222222222-00", baggage: "user=alice"))
  }

  @Test
  func
    `if the first propagator finds an invalid trace, this is reported, and the second propagator gives the trace`()
  {
    let extraction = Propagators.of("tracecontext", "b3").extract(["traceparent": "00-00", "b3": Self.b3])
    #expect(extraction.propagator == "b3")
    #expect(extraction.refusals.map(\.header) == ["traceparent"])
  }

  @Test func `headers of a propagator that is not configured are ignored`() {
    #expect(Propagators.of("baggage").extract(["traceparent": Self.w3c, "b3": Self.b3]) == Extraction())
    #expect(Propagators([]).extract(["traceparent": Self.w3c]) == Extraction())
    #expect(Propagators.standard.extract([:]).parent == ParentContext())
  }

  @Test func `a trace from B3 continues in both traceparent and b3`() {
    let propagators = Propagators.of("b3", "tracecontext")
    let sent = propagators.relay(["b3": "0011223344556677-8899aabbccddeeff-d"])
    #expect(sent["traceparent"] == "00-00000000000000000011223344556677-efefefefefefefef-01")
    #expect(sent["b3"] == "00000000000000000011223344556677-efefefefefefefef-d")
  }

  @Test func `a trace is read from environment variables with the names of OpenTelemetry`() {
    let environment = ["TRACEPARENT": Self.w3c, "TRACESTATE": "", "BAGGAGE": "a=1", "X_B3_TRACEID": "x"]
    let carrier = EnvironmentCarrier { environment[$0] }
    #expect(
      Propagators.standard.extract(from: carrier).parent == ParentContext(traceparent: Self.w3c, baggage: "a=1"))
    #expect(Propagators.of("b3").extract(from: carrier).refusals.map(\.header) == ["X-B3-TraceId"])
  }

  @Test(arguments: [
    ("traceparent", "TRACEPARENT"), ("X-B3-TraceId", "X_B3_TRACEID"), ("b3", "B3"), ("", "_"), ("3d", "_3D"),
    ("a.é", "A___"),
  ])
  func `the variable for a header has the header's name, in capitals and with underscores`(
    header: String, variable: String
  ) {
    #expect(EnvironmentCarrier.variable(for: header) == variable)
  }

  @Test func `a trace is read from a carrier that is a function`() {
    let carrier = FunctionCarrier { $0 == "traceparent" ? [Self.w3c] : [] }
    #expect(Propagators.standard.extract(from: carrier).trace?.spanID == 0x8899_AABB_CCDD_EEFF)
  }

  @Test func `a value that is not UTF-8 is refused`() {
    var fields = HeaderFields()
    fields.append("traceparent".utf8.span, ([0xFF] as [UInt8]).span)
    fields.append("baggage".utf8.span, (Array("a=1,b=".utf8) + [0xC3]).span)
    let extraction = Propagators.standard.extract(from: fields)
    #expect(extraction.trace == nil)
    #expect(extraction.baggage == "a=1")
    #expect(extraction.refusals.map(\.header) == ["traceparent", "baggage"])
  }

  @Test func `whatever headers a carrier has, the extracted parent is absent or valid`() {
    var random = SeededRandom(seed: 23)
    let alphabet = Array("0123456789abcdef-=,;: _%é\u{1}d".utf8)
    let names = ["traceparent", "tracestate", "baggage", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-Sampled"]
    let all = Propagators(Propagators.known.map { $0.init() })
    for _ in 0..<3000 {
      var fields = HeaderFields()
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let value = (0..<Int.random(in: 0...60, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0
        }
        fields.append((names.randomElement(using: &random) ?? "b3").utf8.span, value.span)
      }
      let parent = all.extract(from: fields).parent
      let trace = HopTrace(parent, newTraceID: .new, spanID: newSpanID)
      #expect(trace.isContinued == (parent.traceparent != nil))
      #expect(throws: Never.self) { try all.inject(trace).validate() }
    }
  }
}
