/// B3 in one header. It reads both forms of B3, the single header first, because OpenTelemetry demands this of both B3
/// propagators.
public struct B3Propagator: Propagator {
  /// The name in `OTEL_PROPAGATORS`: `b3`.
  public static let name = "b3"
  /// The header that the propagator writes. It also reads `X-B3-…`.
  public static let headerNames = ["b3"]

  /// Makes the propagator, which has no settings and no state.
  public init() {}

  /// Sets `b3` with a trace id of 32 digits, and without a sampling state if the decision is left open. Does nothing
  /// without a trace.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    guard let parent = trace.traceParent else { return }
    var value = InlineArray<51, UInt8>(repeating: UInt8(ascii: "-"))
    var output = value.mutableSpan
    parent.traceID.write(to: &output, at: 0)
    Hexadecimal.write(parent.spanID, to: &output, at: 33)
    // A header without a sampling state means an open decision (B3, "Sampling State").
    if let state = B3.character(trace.sampling) { output[50] = state }
    headers.place("b3".utf8.span, value.span.extracting(0..<(trace.sampling == .deferred ? 49 : 51)))
  }

  /// Reads `b3`, and the headers `X-B3-…` if `b3` is absent or invalid.
  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    B3.extract(carrier, Self.name, &extraction)
  }
}

/// B3 in a header for each of its parts.
public struct B3MultiPropagator: Propagator {
  /// The name in `OTEL_PROPAGATORS`: `b3multi`.
  public static let name = "b3multi"
  /// `X-B3-ParentSpanId` is never set, only removed.
  public static let headerNames = ["x-b3-traceid", "x-b3-spanid", "x-b3-sampled", "x-b3-flags"]

  /// Makes the propagator, which has no settings and no state.
  public init() {}

  /// Sets the two ids, and the decision or the debug flag. Removes the other B3 headers.
  ///
  /// Does nothing without a trace, or if the sink keeps another trace id.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    guard let parent = trace.traceParent else { return }
    var traceID = InlineArray<32, UInt8>(repeating: 0)
    var output = traceID.mutableSpan
    parent.traceID.write(to: &output, at: 0)
    // If the sink keeps another trace id, the headers belong to another trace.
    guard headers.place(B3.traceIDHeader.utf8.span, traceID.span) else { return }
    var spanID = InlineArray<16, UInt8>(repeating: 0)
    var digits = spanID.mutableSpan
    Hexadecimal.write(parent.spanID, to: &digits, at: 0)
    headers.place(B3.spanIDHeader.utf8.span, spanID.span)
    // A parent id that is already set is not the parent of this hop's span.
    headers.withdraw(B3.parentSpanIDHeader.utf8.span)
    // The debug flag replaces the decision; an open decision has no header.
    place(B3.sampledHeader, trace.sampling == .accepted ? "1" : trace.sampling == .denied ? "0" : nil, &headers)
    place(B3.flagsHeader, trace.sampling == .debug ? "1" : nil, &headers)
  }

  private func place(_ header: String, _ value: String?, _ headers: inout some HeaderSink) {
    guard let value else { return headers.withdraw(header.utf8.span) }
    headers.place(header.utf8.span, value.utf8.span)
  }

  /// Reads `b3`, and the headers `X-B3-…` if `b3` is absent or invalid.
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
