import SluiceJSON
package import SluiceMessages
package import SluicePipeline
import SluiceTraceContext

/// One line of an event log; docs/schema/event.schema.json says what it holds.
package enum EventLine {
  /// - Parameter secrets: what is hidden in URLs. [loop]
  package static func make(_ event: TraceEvent, _ secrets: Redactor) -> [UInt8] {
    let exchange = event.exchange
    var text = JSONText(capacity: 512)
    text.object { line in
      line.text("event", event.kind.name)
      line.text("transaction", exchange.id)
      line.number("sequence", event.sequence)
      line.number("timeNs", event.time.nanoseconds)
      line.number("attempt", exchange.attempt)
      line.number("hop", exchange.hop)
      line.number("snapshot", exchange.snapshot)
      line.text("requestId", exchange.requestID)
      add(exchange.hopTraceContext, to: &line)
      line.text("method", exchange.requestForms.native.method)
      line.text("url", secrets.url(exchange.requestForms.native.url.string))
      if event.status != 0 { line.number("status", event.status) }
      if let status = event.receivedStatus { line.number("receivedStatus", status) }
      if let outcome = event.outcome { line.text("outcome", outcome.name) }
      if let error = event.error { add(error, to: &line) }
      if event.kind == .willRetry { line.number("delayNs", event.duration.nanoseconds) }
      if event.kind == .didComplete || event.kind == .didEndHop {
        line.number("durationNs", event.duration.nanoseconds)
      }
      if let timings = event.timings { add(timings, to: &line) }
      if event.kind == .didComplete { line.add(exchange.attributes) }
      if let span = event.span { SpanLine.add(span, to: &line) }
    }
    return text.line()
  }

  private static func add(_ trace: HopTraceContext, to line: inout JSONText) {
    if let id = trace.traceID { line.text("traceId", id.description) }
    if let id = trace.spanID { line.text("spanId", TraceID.digits(of: id)) }
    if let id = trace.parentSpanID { line.text("parentSpanId", TraceID.digits(of: id)) }
  }

  private static func add(_ error: TransactionError, to line: inout JSONText) {
    line.object("error") { line in
      line.text("code", error.code.rawValue)
      line.text("message", error.message)
      if let stage = error.stage { line.text("stage", stage) }
    }
  }

  private static func add(_ timings: TransferTimings, to line: inout JSONText) {
    line.object("timings") { line in
      line.number("queueNs", timings.queue.nanoseconds)
      line.number("dnsNs", timings.nameLookup.nanoseconds)
      line.number("connectNs", timings.connect.nanoseconds)
      if timings.tunnel > .zero { line.number("tunnelNs", timings.tunnel.nanoseconds) }
      line.number("tlsNs", timings.tlsHandshake.nanoseconds)
      line.number("sendNs", timings.send.nanoseconds)
      line.number("waitNs", timings.wait.nanoseconds)
      line.number("receiveNs", timings.receive.nanoseconds)
      line.number("bytesSent", timings.bytesSent)
      line.number("bytesReceived", timings.bytesReceived)
      line.flag("isConnectionReused", timings.isConnectionReused)
    }
  }
}

extension JSONText {
  /// Adds the member `attributes`, unless the list is empty.
  mutating func add(_ attributes: some Collection<Attribute>) {
    guard !attributes.isEmpty else { return }
    object("attributes") { line in
      for attribute in attributes {
        switch attribute.shownValue {
        case .text(let text): line.text(attribute.name, text)
        case .integer(let integer): line.number(attribute.name, integer)
        case .number(let number): line.real(attribute.name, number)
        case .bool(let bool): line.flag(attribute.name, bool)
        }
      }
    }
  }
}
