public import SluiceMessages

/// What the rules of the ledger look at in one event: a value that can be kept, and read back from a recorded log.
public struct LedgerEntry: Sendable, Hashable {
  public var kind: TraceEvent.Kind
  public var transaction: TransactionID
  public var time: Instant
  public var attempt: Int
  public var hop: Int
  /// 0 without a response.
  public var status: Int
  /// In `didComplete`.
  public var outcome: TransactionOutcome?
  /// Of a `didComplete` or a `willRetry`; nil without an error.
  public var errorCode: String?
  /// The delay of a `willRetry`, the whole duration of a `didComplete`.
  public var duration: Duration
  public var timings: TransferTimings?
  public var requestID: String

  public init(
    _ kind: TraceEvent.Kind, _ transaction: TransactionID, at time: Instant, attempt: Int = 0, hop: Int = 0,
    status: Int = 0, outcome: TransactionOutcome? = nil, errorCode: String? = nil, duration: Duration = .zero,
    timings: TransferTimings? = nil, requestID: String = ""
  ) {
    self.kind = kind
    self.transaction = transaction
    self.time = time
    self.attempt = attempt
    self.hop = hop
    self.status = status
    self.outcome = outcome
    self.errorCode = errorCode
    self.duration = duration
    self.timings = timings
    self.requestID = requestID
  }

  /// Copies an event out. [loop]
  public init(_ event: TraceEvent) {
    self.init(
      event.kind, event.exchange.id, at: event.time, attempt: event.exchange.attempt, hop: event.exchange.hop,
      status: event.status, outcome: event.outcome, errorCode: event.error?.code, duration: event.duration,
      timings: event.timings, requestID: event.exchange.requestID)
  }
}

extension TransferTimings {
  /// All phases together.
  public var total: Duration { queue + nameLookup + connect + tlsHandshake + send + wait + receive }
}
