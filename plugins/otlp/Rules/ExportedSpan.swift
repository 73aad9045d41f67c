package import SluiceMessages

/// A span in OTLP (opentelemetry/proto/trace/v1/trace.proto).
package struct ExportedSpan: Sendable, Hashable {
  package struct Status: Sendable, Hashable {
    package var code: SpanStatus
    /// A description for people; empty for none.
    package var message: String

    package static let unset = Status(code: .unset)

    package init(code: SpanStatus, message: String = "") {
      self.code = code
      self.message = message
    }
  }

  /// 32 hexadecimal digits.
  package var traceID: String
  /// 16 hexadecimal digits.
  package var spanID: String
  package var parentSpanID: String?
  package var name: String
  package var kind: SpanKind
  /// Nanoseconds since 1970.
  package var start: UInt64
  package var end: UInt64
  package var attributes: [Attribute]
  package var droppedAttributes = 0
  package var status: Status
  /// The flags of W3C Trace Context.
  package var traceFlags: UInt32

  package init(
    traceID: String, spanID: String, parentSpanID: String? = nil, name: String, kind: SpanKind, start: UInt64,
    end: UInt64,
    attributes: [Attribute] = [], status: Status = .unset, traceFlags: UInt32 = 1
  ) {
    self.traceID = traceID
    self.spanID = spanID
    self.parentSpanID = parentSpanID
    self.name = name
    self.kind = kind
    self.start = start
    self.end = end
    self.attributes = attributes
    self.status = status
    self.traceFlags = traceFlags
  }
}
