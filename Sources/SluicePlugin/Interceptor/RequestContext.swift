import CSluice
public import SluiceMessages
public import SluiceTraceContext

/// The facts of a transaction when a call began. A value that can be kept, except for
/// ``attributes``.
public struct RequestContext: Sendable, Hashable {
  /// The path of the request's URL, percent-encoded, without the query.
  public let path: String
  /// The method of the request when the call began; later changes do not show here.
  public let method: String
  /// Counted from 0; each retry adds one.
  public let attemptNumber: Int
  /// The value of the request id header; the same in all attempts.
  public let requestID: String
  /// The UUID of the transaction, the same in all attempts.
  public let transactionID: TransactionID
  /// The request on the wire within the attempt, counted from 0; a redirect or challenge adds one.
  public let hop: Int
  /// The time since the transaction began.
  public let elapsed: Duration
  /// The time until the transaction's deadline; nil without one.
  public let remaining: Duration?
  /// The caller's W3C trace context; empty if it has none.
  public let parent: ParentContext
  /// The attributes of the transaction; valid like the ``StageRequest`` of the same call. None for a delegate.
  public let attributes: TransactionAttributes

  package init(
    path: String, method: String, attemptNumber: Int, requestID: String, transactionID: TransactionID, hop: Int,
    elapsed: Duration, remaining: Duration?, parent: ParentContext
  ) {
    self.path = path
    self.method = method
    self.attemptNumber = attemptNumber
    self.requestID = requestID
    self.transactionID = transactionID
    self.hop = hop
    self.elapsed = elapsed
    self.remaining = remaining
    self.parent = parent
    attributes = TransactionAttributes(call: nil)
  }

  init(_ context: sluice_context, _ call: ExchangeCall) {
    attributes = TransactionAttributes(call: call)
    path = String(context.path)
    method = String(context.method)
    attemptNumber = Int(context.attempt)
    requestID = String(context.request_id)
    transactionID = TransactionID(network: context.transaction_id)
    hop = Int(context.hop)
    elapsed = Duration(nanoseconds: context.elapsed_ns)
    remaining = context.remaining_ns == .max ? nil : Duration(nanoseconds: context.remaining_ns)
    parent = ParentContext(context)
  }
}

/// The facts of a transaction that has a response or a failure.
public struct ResponseContext: Sendable, Hashable {
  /// The same facts as a request interceptor has.
  public let request: RequestContext
  /// The path of the request's URL, percent-encoded, without the query.
  public var path: String { request.path }
  /// The method of the request when the call began.
  public var method: String { request.method }
  /// Counted from 0; each retry adds one.
  public var attemptNumber: Int { request.attemptNumber }
  /// The value of the request id header; the same in all attempts.
  public var requestID: String { request.requestID }
  /// The UUID of the transaction, the same in all attempts.
  public var transactionID: TransactionID { request.transactionID }
  /// The request on the wire within the attempt, counted from 0; a redirect or challenge adds one.
  public var hop: Int { request.hop }
  /// The time from the beginning of this call to the transaction's deadline; nil without one.
  public var remaining: Duration? { request.remaining }
  /// The caller's W3C trace context; empty if it has none.
  public var parent: ParentContext { request.parent }
  /// The attributes of the transaction; valid like the ``StageResponse`` of the same call. None for a delegate.
  public var attributes: TransactionAttributes { request.attributes }
  /// The time from the beginning of the transaction to this call, including earlier attempts.
  public var duration: Duration { request.elapsed }

  package init(request: RequestContext) { self.request = request }
}

extension ParentContext {
  fileprivate init(_ context: sluice_context) {
    self.init(
      traceparent: Self.value(context.parent_traceparent), tracestate: Self.value(context.parent_tracestate),
      baggage: Self.value(context.parent_baggage))
  }

  private static func value(_ text: sluice_text) -> String? { text.size == 0 ? nil : String(text) }
}
