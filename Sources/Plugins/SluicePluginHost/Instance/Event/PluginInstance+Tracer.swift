import CSluice
import SluiceMessages
package import SluicePipeline

extension PluginInstance {
  package var interests: TraceInterests {
    tracerCalls.interests == 0 ? .all : TraceInterests(rawValue: tracerCalls.interests)
  }

  package func record(_ event: TraceEvent) {
    guard let function = tracerCalls.on_event else { return }
    // `tell` is static, and the closure that it gets captures only `function` and `handle`: a closure that captures the
    // instance or the event would retain and copy it.
    let handle = handle
    withTurn {
      var context = CallContext(self, event.exchange, .event)
      CallContext.push(&context) { call in Self.tell(event, call) { function(handle, $0) } }
    }
  }

  private static func tell(_ event: borrowing TraceEvent, _ call: Call, _ body: (UnsafePointer<sluice_event>) -> Void) {
    var record = sluice_event(event)
    record.exchange = OpaquePointer(bitPattern: call.pointee.name)
    if let error = event.error { lend(error, to: &record, CalledExchange(call: call, exchange: event.exchange)) }
    guard event.hasParts else { return tell(&record, event.exchange.requestID, event.requestLine, body) }
    tellParts(event, CalledExchange(call: call, exchange: event.exchange), &record, body)
  }

  /// An event with timings, a connection or a span.
  private static func tellParts(
    _ event: borrowing TraceEvent, _ called: CalledExchange, _ record: inout sluice_event,
    _ body: (UnsafePointer<sluice_event>) -> Void
  ) {
    let (id, line, connection, span) = (event.exchange.requestID, event.requestLine, event.connection, event.span)
    withTimings(event.timings) {
      record.timings = $0
      withConnection(connection, called) {
        record.connection = $0
        guard let span else { return tell(&record, id, line, body) }
        withSpan(span, called) {
          record.span = $0
          tell(&record, id, line, body)
        }
      }
    }
  }

  private static func tell(
    _ record: inout sluice_event, _ requestID: String, _ line: (method: String, url: String),
    _ body: (UnsafePointer<sluice_event>) -> Void
  ) {
    requestID.withText { requestID in
      line.method.withText { method in
        line.url.withText { url in
          record.request_id = requestID
          record.method = method
          record.url = url
          body(&record)
        }
      }
    }
  }

  @inline(never)
  private static func lend(_ error: TransactionError, to record: inout sluice_event, _ called: CalledExchange) {
    record.error_code = called.lend(error.code.rawValue)
    record.error_message = called.lend(error.message)
    record.error_stage = called.lend(error.stage ?? "")
  }

  private static func withSpan(
    _ span: StageSpan, _ called: CalledExchange, _ body: (UnsafePointer<sluice_span>) -> Void
  ) {
    let attributes = span.attributes.map { sluice_attribute($0) { called.lend($0) } }
    attributes.withUnsafeBufferPointer { attributes in
      var record = sluice_span(span, attributes.baseAddress) { text, _ in called.lend(text) }
      body(&record)
    }
  }

  private static func withConnection(
    _ facts: ConnectionFacts?, _ called: CalledExchange, _ body: (UnsafePointer<sluice_connection_facts>?) -> Void
  ) {
    guard let facts else { return body(nil) }
    var record = sluice_connection_facts(facts, called)
    body(&record)
  }

  private static func withTimings(_ timings: TransferTimings?, _ body: (UnsafePointer<sluice_timings>?) -> Void) {
    guard let timings else { return body(nil) }
    var record = sluice_timings(timings)
    body(&record)
  }
}
