/// `baggage` of W3C Baggage; passed on whether or not there is a trace.
public struct BaggagePropagator: Propagator {
  public static let name = "baggage"
  public static let headerNames = ["baggage"]

  @inlinable public init() {}

  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    Self.inject(trace.parent, into: &headers)
  }

  @inlinable
  static func inject(_ parent: borrowing ParentContext, into headers: inout some HeaderSink) {
    parent.content?.placeBaggage(&headers)
  }

  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    let text = carrier.values(of: "baggage").joined(separator: ",")
    let content = Baggage.content(text.utf8.span)
    if let valid = Baggage.valid(text, content) { extraction.found(baggage: valid) }
    if let refusal = Baggage.refusal(text.utf8.span, content) { extraction.refuse(refusal) }
  }
}
