import SluiceMessages

/// Reads and writes traces in one family of headers.
public protocol Propagator: Sendable {
  /// The name of the propagator in the configuration and in `OTEL_PROPAGATORS`.
  static var name: String { get }
  /// The headers that the propagator may set, in lower case.
  static var headerNames: [String] { get }

  init()

  /// Sets the family's headers. Called once in each hop, before the request is sent.
  func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink)

  /// Reads the family's headers into `extraction`, and reports in it each header that is present but not valid.
  func extract(from carrier: some Carrier, into extraction: inout Extraction)
}

extension Carrier {
  /// The value of a header that may occur only once; nil if it is absent. Blanks at the ends are ignored.
  func value(of header: String, _ extraction: inout Extraction) -> String? {
    let values = values(of: header)
    guard values.count <= 1 else {
      extraction.refuse(InvalidContext(header, "it occurs \(values.count) times"))
      return nil
    }
    return values.first.map { text in
      let range = ListSyntax.trimmed(text.utf8.span, 0..<text.utf8.count)
      return range.count == text.utf8.count ? text : String(copying: text.utf8.span.extracting(range))
    }
  }
}
