package import SluiceMessages
package import SluicePipeline

/// The parts of one event that the rules of the ledger check: a value that can be kept, and read back from a recorded
/// log.
package struct LedgerEntry: Sendable, Hashable {
  package var kind: TraceEvent.Kind
  package var transaction: TransactionID
  /// Position among the events of the transaction, from 0; nil if the log has no positions.
  package var sequence: Int?
  package var time: Instant
  package var attempt: Int
  package var hop: Int
  /// The number of the snapshot that the transaction runs on; nil if the log does not have it.
  package var snapshot: Int?
  /// The status; 0 without a response.
  package var status: Int
  /// See ``TraceEvent/receivedStatus``.
  package var receivedStatus: Int?
  /// Set in `didComplete`.
  package var outcome: TransactionOutcome?
  /// The error of a `didEndHop`, a `willRetry` or a `didComplete`; nil without an error.
  package var errorCode: ErrorCode?
  package var errorStage: String?
  /// The delay of a `willRetry`, the duration of the hop in `didEndHop`, or of the transaction in `didComplete`.
  package var duration: Duration
  package var timings: TransferTimings?
  package var requestID: String
  /// The method and URL of the request at that moment.
  package var method: String
  package var url: String
  /// The hop's place in a trace. ``HopTraceContext/flags`` are left out, because no rule checks them.
  package var trace = HopTraceContext()
  /// Set in `didEndSpan`.
  package var span: LedgerSpan?

  package init(
    _ kind: TraceEvent.Kind, _ transaction: TransactionID, sequence: Int? = nil, at time: Instant, attempt: Int = 0,
    hop: Int = 0, status: Int = 0, receivedStatus: Int? = nil, outcome: TransactionOutcome? = nil,
    errorCode: ErrorCode? = nil, errorStage: String? = nil, duration: Duration = .zero, timings: TransferTimings? = nil,
    requestID: String = "", method: String = "", url: String = ""
  ) {
    self.kind = kind
    self.transaction = transaction
    self.sequence = sequence
    self.time = time
    self.attempt = attempt
    self.hop = hop
    self.status = status
    self.receivedStatus = receivedStatus
    self.outcome = outcome
    self.errorCode = errorCode
    self.errorStage = errorStage
    self.duration = duration
    self.timings = timings
    self.requestID = requestID
    self.method = method
    self.url = url
  }

  /// Copies an event out. [loop]
  package init(_ event: TraceEvent) {
    self.init(
      event.kind, event.exchange.id, sequence: event.sequence, at: event.time, attempt: event.exchange.attempt,
      hop: event.exchange.hop, status: event.status, receivedStatus: event.receivedStatus, outcome: event.outcome,
      errorCode: event.error?.code, errorStage: event.error?.stage, duration: event.duration, timings: event.timings,
      requestID: event.exchange.requestID, method: event.exchange.requestForms.native.method,
      url: event.exchange.requestForms.native.url.string)
    snapshot = event.exchange.snapshot
    trace = event.exchange.hopTraceContext
    trace.flags = []
    span = event.span.map(LedgerSpan.init)
  }
}
