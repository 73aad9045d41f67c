import CSluice
import SluiceMessages
package import SluicePipeline

extension PluginInstance {
  package var interests: TraceInterests {
    tracerCalls.interests == 0 ? .all : TraceInterests(rawValue: tracerCalls.interests)
  }

  package func record(_ event: TraceEvent) {
    guard let function = tracerCalls.on_event else { return }
    withTurn {
      var context = CallContext(self, event.exchange, .event)
      CallContext.push(&context) { call in
        withEvent(event, CalledExchange(call: call, exchange: event.exchange)) { function(handle, $0) }
      }
    }
  }

  private func withEvent(
    _ event: TraceEvent, _ called: CalledExchange, _ body: (UnsafePointer<sluice_event>) -> Void
  ) {
    var record = sluice_event(event)
    record.exchange = OpaquePointer(bitPattern: called.call.pointee.name)
    if let error = event.error {
      record.error_code = called.lend(error.code.rawValue)
      record.error_message = called.lend(error.message)
      record.error_stage = called.lend(error.stage ?? "")
    }
    let line = event.requestLine
    event.exchange.requestID.withText { requestID in
      line.method.withText { method in
        line.url.withText { url in
          record.request_id = requestID
          record.method = method
          record.url = url
          withTimings(event.timings) {
            record.timings = $0
            withConnection(event.connection, called) {
              record.connection = $0
              guard let span = event.span else { return body(&record) }
              withSpan(span, called) {
                record.span = $0
                body(&record)
              }
            }
          }
        }
      }
    }
  }

  private func withSpan(
    _ span: StageSpan, _ called: CalledExchange, _ body: (UnsafePointer<sluice_span>) -> Void
  ) {
    let attributes = span.attributes.map { sluice_attribute($0) { called.lend($0) } }
    attributes.withUnsafeBufferPointer { attributes in
      var record = sluice_span(span, attributes.baseAddress) { text, _ in called.lend(text) }
      body(&record)
    }
  }

  private func withConnection(
    _ facts: ConnectionFacts?, _ called: CalledExchange, _ body: (UnsafePointer<sluice_connection_facts>?) -> Void
  ) {
    guard let facts else { return body(nil) }
    var record = sluice_connection_facts(facts, called)
    body(&record)
  }

  private func withTimings(_ timings: TransferTimings?, _ body: (UnsafePointer<sluice_timings>?) -> Void) {
    guard let timings else { return body(nil) }
    var record = sluice_timings(timings)
    body(&record)
  }
}
