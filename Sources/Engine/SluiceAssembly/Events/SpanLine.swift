import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// The member `span` of a line of an event log.
enum SpanLine {
  static func add(_ span: StageSpan, to line: inout JSONText) {
    line.object("span") { line in
      line.text("name", span.name)
      line.text("kind", name(of: span.kind))
      line.text("stage", span.stage)
      line.text("traceId", span.traceID.description)
      line.text("spanId", TraceID.digits(of: span.id))
      if let id = span.parentID { line.text("parentSpanId", TraceID.digits(of: id)) }
      line.number("startNs", span.start.nanoseconds)
      line.number("endNs", span.end.nanoseconds)
      line.text("status", name(of: span.status))
      if !span.statusMessage.isEmpty { line.text("message", span.statusMessage) }
      line.flag("isUnfinished", span.isUnfinished)
      line.add(span.attributes)
      if span.droppedAttributes > 0 { line.number("droppedAttributes", span.droppedAttributes) }
    }
  }

  private static func name(of kind: SpanKind) -> String {
    switch kind {
    case .internal: "internal"
    case .client: "client"
    }
  }

  private static func name(of status: SpanStatus) -> String {
    switch status {
    case .unset: "unset"
    case .ok: "ok"
    case .error: "error"
    }
  }
}
