import CSluice
public import SluiceMessages

/// A span that a stage began, after the span's end. It is a copy, which a tracer can keep after the call.
public struct EndedSpan: Sendable, Hashable {
  /// The name that the stage gave the span: 1 to 128 bytes without control characters.
  public let name: String
  /// What the span describes; ``SpanKind/internal`` for a kind that this SDK does not know.
  public let kind: SpanKind
  /// The name of the stage in the configuration.
  public let stage: String
  /// The id of the trace, 32 hexadecimal digits. It is the trace of the hop; if the hop has none, the caller's trace;
  /// if there is neither, a trace with the transaction's id.
  public let traceID: String
  /// The id of the span, 16 hexadecimal digits.
  public let spanID: String
  /// The span of the hop during which this span began, or the caller's span if the hop was not issued yet. Nil if the
  /// span has no parent.
  public let parentSpanID: String?
  /// The time at which the span began, on the host's monotonic clock.
  public let start: Duration
  /// The time at which the span ended, on the same clock as ``start``. For an unfinished span, the time at which the
  /// host ended it.
  public let end: Duration
  /// The status of the span; ``SpanStatus/unset`` if the stage set none.
  public let status: SpanStatus
  /// The message of the status; empty unless the status is ``SpanStatus/error``.
  public let statusMessage: String
  /// Whether the transaction ended before the stage ended the span.
  public let isUnfinished: Bool
  /// The attributes, in the order in which their names were first set.
  public let attributes: [Attribute]
  /// The number of attributes that the host has refused because there were too many.
  public let droppedAttributeCount: Int

  init(_ span: sluice_span) {
    name = String(span.name)
    kind = SpanKind(rawValue: span.kind) ?? .internal
    stage = String(span.stage)
    traceID = withUnsafeBytes(of: span.trace_id) { hexadecimal($0) } ?? ""
    spanID = withUnsafeBytes(of: span.span_id) { hexadecimal($0) } ?? ""
    parentSpanID = withUnsafeBytes(of: span.parent_span_id) { hexadecimal($0) }
    start = Duration(nanoseconds: span.start_ns)
    end = Duration(nanoseconds: span.end_ns)
    status = SpanStatus(rawValue: span.status) ?? .unset
    statusMessage = String(span.status_message)
    isUnfinished = span.is_unfinished != 0
    attributes = UnsafeBufferPointer(start: span.attributes, count: Int(span.attribute_count))
      .compactMap { Attribute($0) }
    droppedAttributeCount = Int(span.dropped_attribute_count)
  }
}
