import CSluice
public import SluiceMessages

/// One entry in the ledger of a transaction. It cannot be kept: copy what you need.
///
/// Each property is read on access, so that a tracer pays only for what it uses.
public struct TransactionEvent: ~Copyable {
  /// The kind of event.
  public typealias Kind = TransactionEventKind

  /// The failure, in `didEndHop` and `didComplete`, or the reason for another attempt, in `willRetry`.
  public struct Reason: Sendable, Hashable {
    /// The kind of the failure, as in ``Failure/code``.
    public let code: ErrorCode
    /// The text for people; queued delivery cuts it off after 1024 bytes.
    public let message: String
    /// The stage at fault; nil if no stage was.
    public let stage: String?
  }

  let event: UnsafePointer<sluice_event>
  let call: ExchangeCall?

  /// The step that this event records. Events of a kind that this SDK does not know never reach the tracer.
  public let kind: Kind
}

extension TransactionEvent {
  /// The UUID of the transaction, the same in all of its events.
  public var transactionID: TransactionID { TransactionID(network: event.pointee.transaction_id) }
  /// The number of the attempt, counted from 0; each retry adds one.
  public var attemptNumber: Int { Int(event.pointee.attempt) }
  /// The number of the hop within the attempt, counted from 0; a redirect or an answered challenge adds one.
  public var hop: Int { Int(event.pointee.hop) }
  /// The id of the trace in which the current hop was sent (W3C Trace Context), as 32 hexadecimal digits. If the hop
  /// has sent none, it is the id of the caller's trace; nil if there is neither.
  public var traceID: String? { withUnsafeBytes(of: event.pointee.trace_id) { hexadecimal($0) } }
  /// The span that the current hop has sent, as 16 digits; nil before it was issued, and if it sent none.
  public var spanID: String? { withUnsafeBytes(of: event.pointee.span_id) { hexadecimal($0) } }
  /// The caller's span, if it is in the same trace.
  public var parentSpanID: String? { withUnsafeBytes(of: event.pointee.parent_span_id) { hexadecimal($0) } }
  /// The trace's flag `sampled`.
  public var isSampled: Bool { event.pointee.trace_flags & 1 == 1 }
  /// The time on the host's monotonic clock.
  public var time: Duration { Duration(nanoseconds: event.pointee.time_ns) }
  /// The response's status; nil without a response.
  public var status: Int? { event.pointee.status == 0 ? nil : Int(event.pointee.status) }
  /// The outcome in `didComplete`; otherwise nil.
  public var outcome: TransactionOutcome? { TransactionOutcome(rawValue: event.pointee.outcome) }

  /// Why a hop, an attempt or the transaction failed; nil in other kinds of events, and without a failure.
  public var reason: Reason? {
    guard event.pointee.error_code.size > 0 else { return nil }
    return Reason(
      code: ErrorCode(rawValue: String(event.pointee.error_code)), message: String(event.pointee.error_message),
      stage: event.pointee.error_stage.size == 0 ? nil : String(event.pointee.error_stage))
  }

  /// The delay in `willRetry`, the duration of the hop in `didEndHop`, the whole duration in `didComplete`.
  public var duration: Duration { Duration(nanoseconds: event.pointee.duration_ns) }
  /// The value of the request id header, the same in all attempts; queued delivery cuts it off after 256 bytes.
  public var requestID: String { String(event.pointee.request_id) }
  /// The current method of the request, after redirects; queued delivery cuts it off after 256 bytes.
  public var method: String { String(event.pointee.method) }
  /// The current URL of the request, after redirects; it can contain secrets.
  public var url: String { String(event.pointee.url) }
  /// The sizes of the shortest events that have these members. Later revisions can add members at the end.
  private static var bytesUpToSpan: Int { bytes(upTo: MemoryLayout<sluice_event>.offset(of: \.span)) }
  private static var bytesUpToConnection: Int { bytes(upTo: MemoryLayout<sluice_event>.offset(of: \.connection)) }

  private static func bytes(upTo offset: Int?) -> Int {
    offset.map { $0 + MemoryLayout<UnsafeRawPointer?>.size } ?? .max
  }

  /// The ended span in `didEndSpan`; nil in other events.
  public var span: EndedSpan? {
    guard kind == .didEndSpan, event.pointee.size >= Self.bytesUpToSpan, let span = event.pointee.span,
      span.pointee.size >= SLUICE_SPAN_SIZE_1
    else { return nil }
    return EndedSpan(span.pointee)
  }
  /// The connection of the hop, in `didReceive` and `didEndHop`; nil for a hop without a connection, and if no plugin
  /// has read ``PluginHost/connections``. Queued delivery leaves out the certificate. A draft.
  public var connection: ConnectionFacts? {
    guard event.pointee.size >= Self.bytesUpToConnection, let facts = event.pointee.connection,
      facts.pointee.size >= SLUICE_CONNECTION_FACTS_SIZE_1
    else { return nil }
    return ConnectionFacts(facts.pointee)
  }
  /// The timings of the hop, in `didReceive`, `didEndHop` and `didComplete`; nil in other events.
  public var timings: TransferTimings? {
    guard let timings = event.pointee.timings, timings.pointee.size >= SLUICE_TIMINGS_SIZE_1 else { return nil }
    return TransferTimings(timings.pointee)
  }
  /// The request, only for reading, during the call; nil with queued delivery.
  public var request: StageRequest? { call.map { StageRequest(call: $0) } }
  /// The response, under the same conditions as ``request``; also nil if there is no response.
  public var response: StageResponse? { call.flatMap { $0.status == 0 ? nil : StageResponse(call: $0) } }
  /// The attributes of the transaction, for reading during the call; nil with queued delivery.
  public var attributes: TransactionAttributes? { call.map { TransactionAttributes(call: $0) } }
}
