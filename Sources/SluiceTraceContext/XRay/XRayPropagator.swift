/// The header of AWS X-Ray.
public struct XRayPropagator: Propagator {
  public static let name = "xray"
  public static let headerNames = ["x-amzn-trace-id"]

  public init() {}

  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    guard let parent = trace.traceParent else { return }
    let traceID = Hexadecimal.text(parent.traceID.high) + Hexadecimal.text(parent.traceID.low)
    // Who leaves the decision open says nothing about it.
    let decision = trace.sampling == .deferred ? "" : ";Sampled=\(trace.isSampled ? 1 : 0)"
    let value =
      "Root=1-\(traceID.prefix(8))-\(traceID.dropFirst(8));Parent=\(Hexadecimal.text(parent.spanID))\(decision)"
    headers.place(XRay.header.utf8.span, value.utf8.span)
  }

  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    guard let text = carrier.value(of: XRay.header, &extraction) else { return }
    do throws(InvalidContext) { extraction.found(try XRay.trace(text.utf8.span), by: Self.name) } catch {
      extraction.refuse(error)
    }
  }
}
