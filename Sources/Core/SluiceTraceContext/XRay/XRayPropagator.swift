/// The header of AWS X-Ray.
public struct XRayPropagator: Propagator {
  /// The name in `OTEL_PROPAGATORS`: `xray`.
  public static let name = "xray"
  /// The only header of the family.
  public static let headerNames = ["x-amzn-trace-id"]

  /// Makes the propagator, which has no settings and no state.
  public init() {}

  /// Sets the header, without `Sampled` if the decision is left open. Does nothing without a trace.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    guard let parent = trace.traceParent else { return }
    let traceID = Hexadecimal.text(parent.traceID.high) + Hexadecimal.text(parent.traceID.low)
    // A header without `Sampled` means an open decision.
    let decision = trace.sampling == .deferred ? "" : ";Sampled=\(trace.isSampled ? 1 : 0)"
    let value =
      "Root=1-\(traceID.prefix(8))-\(traceID.dropFirst(8));Parent=\(Hexadecimal.text(parent.spanID))\(decision)"
    headers.place(XRay.header.utf8.span, value.utf8.span)
  }

  /// Reads the header, which must occur once, with a `Root`, a `Parent` and at most one `Sampled`, all of them valid.
  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    guard let text = carrier.value(of: XRay.header, &extraction) else { return }
    do throws(InvalidContext) { extraction.found(try XRay.trace(text.utf8.span), by: Self.name) } catch {
      extraction.refuse(error)
    }
  }
}
