import CSluice
public import SluiceMessages
public import SluiceTraceContext

/// The facts of a transaction at the beginning of a call. It is a copy, which a stage can keep after the call, except
/// for ``attributes``.
public struct RequestContext: Sendable, Hashable {
  private let facts: ContextFacts
  /// The attributes of the transaction; valid as long as the ``StageRequest`` of the same call. A delegate has none.
  public let attributes: TransactionAttributes

  package init(
    path: String, method: String, attemptNumber: Int, requestID: String, transactionID: TransactionID, hop: Int,
    elapsed: Duration, remaining: Duration?, parent: ParentContext
  ) {
    facts = ContextFacts(
      path: path, method: method, attemptNumber: attemptNumber, requestID: requestID, transactionID: transactionID,
      hop: hop, elapsed: elapsed, remaining: remaining, parent: parent)
    attributes = TransactionAttributes(call: nil)
  }

  init(_ facts: ContextFacts, _ call: ExchangeCall) {
    self.facts = facts
    attributes = TransactionAttributes(call: call)
  }

  init(_ context: sluice_context, _ call: ExchangeCall) { self.init(ContextFacts(context), call) }

  // Each text is made when it is read, because most stages read few of them.

  /// The path of the request's URL, percent-encoded, without the query.
  public var path: String { facts.path }
  /// The method of the request when the call began; later changes do not show here.
  public var method: String { facts.method }
  /// The number of the attempt, counted from 0; each retry adds one.
  public var attemptNumber: Int { facts.attemptNumber }
  /// The value of the request id header; the same in all attempts.
  public var requestID: String { facts.requestID }
  /// The UUID of the transaction, the same in all attempts.
  public var transactionID: TransactionID { facts.transactionID }
  /// The number of the hop within the attempt, counted from 0; a redirect or an answered challenge adds one.
  public var hop: Int { facts.hop }
  /// The time since the transaction began.
  public var elapsed: Duration { facts.elapsed }
  /// The time until the transaction's deadline; nil if it has no deadline.
  public var remaining: Duration? { facts.remaining }
  /// The caller's W3C trace context; empty if it has none.
  public var parent: ParentContext { facts.parent }
}

/// The facts of a transaction that has a response or a failure.
public struct ResponseContext: Sendable, Hashable {
  /// The same facts as a request interceptor gets.
  public let request: RequestContext
  /// The path of the request's URL, percent-encoded, without the query.
  public var path: String { request.path }
  /// The method of the request when the call began.
  public var method: String { request.method }
  /// The number of the attempt, counted from 0; each retry adds one.
  public var attemptNumber: Int { request.attemptNumber }
  /// The value of the request id header; the same in all attempts.
  public var requestID: String { request.requestID }
  /// The UUID of the transaction, the same in all attempts.
  public var transactionID: TransactionID { request.transactionID }
  /// The number of the hop within the attempt, counted from 0; a redirect or an answered challenge adds one.
  public var hop: Int { request.hop }
  /// The time from the beginning of this call to the transaction's deadline; nil if it has no deadline.
  public var remaining: Duration? { request.remaining }
  /// The caller's W3C trace context; empty if it has none.
  public var parent: ParentContext { request.parent }
  /// The attributes of the transaction; valid as long as the ``StageResponse`` of the same call. A delegate has none.
  public var attributes: TransactionAttributes { request.attributes }
  /// The time from the beginning of the transaction to this call, including earlier attempts.
  public var duration: Duration { request.elapsed }

  package init(request: RequestContext) { self.request = request }
}
