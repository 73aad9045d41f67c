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
    switch Baggage.content(text.utf8.span) {
    case .nothing:
      if !ListSyntax.trimmed(text.utf8.span, 0..<text.utf8.count).isEmpty { extraction.refuse(Self.refusal) }
    case .part(let range): extraction.found(baggage: String(copying: text.utf8.span.extracting(range)))
    case .members(let members):
      extraction.found(baggage: String(decoding: members, as: UTF8.self))
      extraction.refuse(Self.refusal)
    }
  }

  private static let refusal = InvalidContext(
    "baggage",
    "members that are not valid, or beyond \(Baggage.maximumMembers) members or \(Baggage.maximumBytes) bytes, are left out"
  )
}
