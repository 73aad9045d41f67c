package import SluiceMessages
import SluiceTraceContext

/// The header fields of a hop as they were sent, including the fields that its issue stages have set.
package struct IssuedFields: Sendable {
  package let headers: HeaderFields

  init(_ headers: HeaderFields) { self.headers = headers }

  /// The trace and the span of the hop, from its `traceparent`; nil if the field is missing, invalid or present more
  /// than once.
  var trace: TraceParent? {
    let name = "traceparent"
    guard let index = headers.firstIndex(named: name.utf8.span),
      headers.firstIndex(named: name.utf8.span, from: index + 1) == nil
    else { return nil }
    let bytes = headers.buffer
    return try? TraceParent(bytes.span.extracting(headers.valueRange(at: index)))
  }
}
