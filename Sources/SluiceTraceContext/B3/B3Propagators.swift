/// B3 in one header. Reads either form of B3, the single one first, as OpenTelemetry asks of both propagators.
public struct B3Propagator: Propagator {
  public static let name = "b3"
  public static let headerNames = ["b3"]

  public init() {}

  public func inject(_ trace: HopTrace, into headers: inout some HeaderSink) {
    guard let parent = trace.traceParent else { return }
    var value = InlineArray<51, UInt8>(repeating: UInt8(ascii: "-"))
    var output = value.mutableSpan
    parent.traceID.write(to: &output, at: 0)
    Hexadecimal.write(parent.spanID, digits: 16, to: &output, at: 33)
    output[50] = trace.isDebug ? UInt8(ascii: "d") : trace.isSampled ? UInt8(ascii: "1") : UInt8(ascii: "0")
    headers.place("b3".utf8.span, value.span)
  }

  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    B3.extract(carrier, Self.name, &extraction)
  }
}

/// B3 in a header for each of its parts.
public struct B3MultiPropagator: Propagator {
  public static let name = "b3multi"
  public static let headerNames = ["x-b3-traceid", "x-b3-spanid", "x-b3-sampled", "x-b3-flags"]

  public init() {}

  public func inject(_ trace: HopTrace, into headers: inout some HeaderSink) {
    guard let parent = trace.traceParent else { return }
    var traceID = InlineArray<32, UInt8>(repeating: 0)
    var output = traceID.mutableSpan
    parent.traceID.write(to: &output, at: 0)
    // Who has set the trace id speaks of another trace.
    guard headers.place(B3.traceIDHeader.utf8.span, traceID.span) else { return }
    var spanID = InlineArray<16, UInt8>(repeating: 0)
    var digits = spanID.mutableSpan
    Hexadecimal.write(parent.spanID, digits: 16, to: &digits, at: 0)
    headers.place(B3.spanIDHeader.utf8.span, spanID.span)
    // The parent of their span would not be ours, and the debug flag takes the place of the decision.
    headers.withdraw(B3.parentSpanIDHeader.utf8.span)
    headers.withdraw((trace.isDebug ? B3.sampledHeader : B3.flagsHeader).utf8.span)
    if trace.isDebug {
      headers.place(B3.flagsHeader.utf8.span, "1".utf8.span)
    } else {
      headers.place(B3.sampledHeader.utf8.span, (trace.isSampled ? "1" : "0").utf8.span)
    }
  }

  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    B3.extract(carrier, Self.name, &extraction)
  }
}

extension B3 {
  fileprivate static func extract(_ carrier: some Carrier, _ name: String, _ extraction: inout Extraction) {
    switch single(carrier, &extraction) ?? multi(carrier, &extraction) {
    case .trace(let trace): extraction.found(trace, by: name)
    case .sampling(let sampling): extraction.found(sampling)
    case nil: break
    }
  }

  private static func single(_ carrier: some Carrier, _ extraction: inout Extraction) -> B3? {
    guard let text = carrier.value(of: "b3", &extraction) else { return nil }
    do throws(InvalidContext) { return try B3(single: text.utf8.span) } catch {
      extraction.refuse(error)
      return nil
    }
  }
}
