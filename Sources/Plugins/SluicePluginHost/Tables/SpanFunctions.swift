import CSluice
import SluiceMessages
import SluicePipeline

/// The table `sluice.spans/1`.
enum SpanFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_spans> = {
    let table = UnsafeMutablePointer<sluice_spans>.allocate(capacity: 1)
    table.initialize(
      to: sluice_spans(
        size: UInt32(MemoryLayout<sluice_spans>.size), reserved: 0,
        begin: { SpanFunctions.begin($0, $1, $2, $3) }, set_attribute: { SpanFunctions.setAttribute($0, $1, $2) },
        set_status: { SpanFunctions.setStatus($0, $1, $2, $3) }, end: { SpanFunctions.end($0, $1) }))
    return UnsafePointer(table)
  }()

  private static func begin(
    _ handle: OpaquePointer?, _ name: sluice_text, _ kind: sluice_span_kind,
    _ span: UnsafeMutablePointer<sluice_open_span>?
  ) -> sluice_status {
    CallContext.with(handle) { called in
      guard called.phase != .event else { return called.refuse(.refusedWrite, "begin of a span") }
      guard let span else { return called.refuse(.invalidArgument, "begin of a span: the pointer for it is NULL") }
      span.pointee = sluice_open_span()
      // This check comes before the name is read: if there is no tracer for spans, nothing else is needed.
      guard called.exchange.wantsSpans else { return Status.absent }
      guard let name = PluginText.spanName(name), let kind = SpanKind(rawValue: kind) else {
        return called.refuse(.invalidArgument, "begin of a span: its name or its kind is invalid")
      }
      let instance = called.call.pointee.instance
      guard let begun = called.exchange.beginSpan(name, kind, of: instance, named: instance.name) else {
        return Status.limit
      }
      span.pointee = sluice_open_span(slot: begun.slot, generation: begun.generation)
      return Status.ok
    }
  }

  private static func setAttribute(
    _ handle: OpaquePointer?, _ span: sluice_open_span, _ attribute: UnsafePointer<sluice_attribute>?
  ) -> sluice_status {
    change(handle, span, "set_attribute of a span") { called, span in
      guard let attribute else {
        return called.refuse(.invalidArgument, "set_attribute of a span: the attribute is NULL")
      }
      do throws(Attribute.Refusal) {
        let attribute = try Attribute(attribute.pointee, texts: .cut(bytes: PluginText.spanTextBytes))
        switch called.exchange.setSpanAttribute(attribute, of: span, by: called.call.pointee.instance) {
        case true?: return Status.ok
        case false?: return Status.limit
        case nil: return Status.stale
        }
      } catch { return called.refuse(.invalidArgument, "attribute of a span: \(error.reason)") }
    }
  }

  private static func setStatus(
    _ handle: OpaquePointer?, _ span: sluice_open_span, _ status: sluice_span_status, _ message: sluice_text
  ) -> sluice_status {
    change(handle, span, "set_status of a span") { called, span in
      guard let status = SpanStatus(rawValue: status), let message = PluginText.spanText(message) else {
        return called.refuse(.invalidArgument, "set_status of a span")
      }
      let isSet = called.exchange.setSpanStatus(status, message, of: span, by: called.call.pointee.instance)
      return isSet ? Status.ok : Status.stale
    }
  }

  private static func end(_ handle: OpaquePointer?, _ span: sluice_open_span) -> sluice_status {
    change(handle, span, "end of a span") { called, span in
      called.exchange.endSpan(span, by: called.call.pointee.instance) ? Status.ok : Status.stale
    }
  }

  private static func change(
    _ handle: OpaquePointer?, _ span: sluice_open_span, _ name: String,
    _ body: (CalledExchange, SpanHandle) -> sluice_status
  ) -> sluice_status {
    CallContext.with(handle) { called in
      let span = SpanHandle(slot: span.slot, generation: span.generation)
      guard span != .none else { return Status.absent }
      guard called.phase != .event else { return called.refuse(.refusedWrite, name) }
      return body(called, span)
    }
  }
}
