import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

extension sluice_event {
  /// Copies the numbers of an event, and leaves its texts, timings and exchange empty. The caller sets these, because
  /// they are pointers, and the caller decides how long they are valid.
  init(_ event: borrowing TraceEvent) {
    self.init()
    size = UInt32(MemoryLayout<sluice_event>.size)
    kind = event.kind.rawValue
    time_ns = event.time.nanoseconds
    transaction_id = event.exchange.id.bytes
    let trace = event.exchange.hopTraceContext
    if let id = trace.traceID { trace_id = Self.bytes(id) }
    if let id = trace.spanID { span_id = Self.bytes(id) }
    if let id = trace.parentSpanID { parent_span_id = Self.bytes(id) }
    trace_flags = UInt32(trace.flags.rawValue)
    attempt = UInt32(clamping: event.exchange.attempt)
    hop = UInt32(clamping: event.exchange.hop)
    status = UInt32(clamping: event.status)
    outcome = event.outcome?.rawValue ?? UInt32(SLUICE_OUTCOME_PENDING)
    duration_ns = event.durationNanoseconds
  }

  typealias SpanBytes = (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8)

  static func bytes(_ id: TraceID) -> TransactionID.Bytes {
    unsafeBitCast((id.high.bigEndian, id.low.bigEndian), to: TransactionID.Bytes.self)
  }

  static func bytes(_ id: UInt64) -> SpanBytes { unsafeBitCast(id.bigEndian, to: SpanBytes.self) }
}

extension sluice_timings {
  init(_ timings: TransferTimings) {
    let phases = timings.nanoseconds
    self.init(
      size: UInt32(MemoryLayout<sluice_timings>.size), is_connection_reused: timings.isConnectionReused ? 1 : 0,
      queue_ns: phases.queue, name_lookup_ns: phases.nameLookup, connect_ns: phases.connect + phases.tunnel,
      tls_handshake_ns: phases.tlsHandshake, send_ns: phases.send, wait_ns: phases.wait, receive_ns: phases.receive,
      bytes_sent: UInt64(clamping: timings.bytesSent), bytes_received: UInt64(clamping: timings.bytesReceived))
  }
}

extension TraceEvent {
  /// The connection of a hop that has a response or has ended; nil if no code wants facts about connections. [loop]
  var connection: ConnectionFacts? {
    switch kind {
    case .didReceive, .didEndHop: exchange.connection
    default: nil
    }
  }

  /// Whether an event of this kind can have timings, a connection or a span.
  var hasParts: Bool {
    switch kind {
    case .didReceive, .didEndHop, .didComplete, .didEndSpan: true
    default: finalTimings != nil
    }
  }

  /// The method and the URL of the current request. [loop]
  var requestLine: (method: String, url: String) {
    guard exchange.requestForms.document != nil,
      let document = exchange.requestForms.currentDocument?.document as? LiveDocument
    else {
      return (exchange.requestForms.native.method, exchange.requestForms.native.url.string)
    }
    return (
      document.json["method"]?.string ?? exchange.requestForms.native.method,
      document.json["url"]?.string ?? exchange.requestForms.native.url.string
    )
  }
}
