import SluicePipeline

/// `baggage` of W3C Baggage; passed on whether or not there is a trace.
struct BaggagePropagator: Propagator {
  static let name = "baggage"
  static let headerNames = ["baggage"]

  func inject(_ trace: HopTrace, into headers: inout HopHeaders) {
    guard let text = trace.parent.baggage else { return }
    switch Baggage.content(text.utf8.span) {
    case .nothing: return
    case .part(let range): headers.place("baggage".utf8.span, text.utf8.span.extracting(range))
    case .members(let members): headers.place("baggage".utf8.span, members.span)
    }
  }
}
