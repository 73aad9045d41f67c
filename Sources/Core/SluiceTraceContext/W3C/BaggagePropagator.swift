/// The header `baggage` of W3C Baggage. It is passed on whether or not there is a trace.
public struct BaggagePropagator: Propagator {
  /// The name in `OTEL_PROPAGATORS`: `baggage`.
  public static let name = "baggage"
  /// The only header of the family.
  public static let headerNames = ["baggage"]

  /// Makes the propagator, which has no settings and no state.
  @inlinable public init() {}

  /// Sets `baggage` to the valid members of the caller's baggage. Sets nothing if the baggage has no valid member.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    Self.inject(trace.parent, into: &headers)
  }

  @inlinable
  static func inject(_ parent: borrowing ParentContext, into headers: inout some HeaderSink) {
    parent.content?.placeBaggage(&headers)
  }

  /// Reads all `baggage` lines as one list. Invalid members are left out and reported. If the limits are exceeded, all
  /// members are left out.
  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    let text = carrier.values(of: "baggage").joined(separator: ",")
    let content = Baggage.content(text.utf8.span)
    if let valid = Baggage.valid(text, content) { extraction.found(baggage: valid) }
    if let refusal = Baggage.refusal(text.utf8.span, content) { extraction.refuse(refusal) }
  }
}
