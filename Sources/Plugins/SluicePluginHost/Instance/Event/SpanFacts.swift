import CSluice
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

extension sluice_span {
  /// - Parameters:
  ///   - attributes: the attributes of the span, which must stay valid as long as the facts are used.
  ///   - copy: returns a C text with the given content, which must also stay valid as long as the facts are used.
  init(
    _ span: StageSpan, _ attributes: UnsafePointer<sluice_attribute>?, _ copy: (String, SpanText) -> sluice_text
  ) {
    self.init()
    size = UInt32(MemoryLayout<sluice_span>.size)
    kind = span.kind.rawValue
    name = copy(span.name, .name)
    trace_id = sluice_event.bytes(span.traceID)
    span_id = sluice_event.bytes(span.id)
    if let id = span.parentID { parent_span_id = sluice_event.bytes(id) }
    start_ns = span.start.nanoseconds
    end_ns = span.end.nanoseconds
    status = span.status.rawValue
    is_unfinished = span.isUnfinished ? 1 : 0
    status_message = copy(span.statusMessage, .value)
    stage = copy(span.stage, .stage)
    self.attributes = span.attributes.isEmpty ? nil : attributes
    attribute_count = UInt32(clamping: span.attributes.count)
    dropped_attribute_count = UInt32(clamping: span.droppedAttributes)
  }
}

/// The kinds of texts in a span. Each kind has its own limit.
enum SpanText {
  case name, value, stage

  var limitBytes: Int {
    switch self {
    case .name: PluginText.spanNameBytes
    case .value: PluginText.spanTextBytes
    case .stage: PluginText.eventTextBytes
    }
  }
}
