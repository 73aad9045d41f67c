import CSluice
import SluiceJSON
import SluiceMessages
package import SluicePipeline

extension PluginInstance {
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
    var record = sluice_event()
    record.size = UInt32(MemoryLayout<sluice_event>.size)
    record.kind = event.kind.rawValue
    record.time = event.time.nanoseconds
    record.transaction_id = event.exchange.id.bytes
    record.attempt = UInt32(clamping: event.exchange.attempt)
    record.hop = UInt32(clamping: event.exchange.hop)
    record.status = UInt32(clamping: event.status)
    record.outcome = event.outcome?.rawValue ?? UInt32(SLUICE_PENDING)
    record.duration = event.duration.nanoseconds
    record.exchange = OpaquePointer(bitPattern: called.call.pointee.name)
    if let error = event.error {
      record.error_code = called.lend(error.code)
      record.error_message = called.lend(error.message)
      record.error_stage = called.lend(error.stage ?? "")
    }
    let line = requestLine(called)
    event.exchange.requestID.withText { requestID in
      line.method.withText { method in
        line.url.withText { url in
          record.request_id = requestID
          record.method = method
          record.url = url
          withTimings(event.timings) {
            record.timings = $0
            body(&record)
          }
        }
      }
    }
  }

  /// The request as it is now, whichever of its forms is the truth.
  private func requestLine(_ called: CalledExchange) -> (method: String, url: String) {
    let request = called.exchange.nativeRequest
    guard let document = called.requestTruth else { return (request.method, request.url.string) }
    return (
      document.json["method"]?.string ?? request.method, document.json["url"]?.string ?? request.url.string
    )
  }

  private func withTimings(_ timings: TransferTimings?, _ body: (UnsafePointer<sluice_timings>?) -> Void) {
    guard let timings else { return body(nil) }
    var record = sluice_timings(timings)
    body(&record)
  }
}
