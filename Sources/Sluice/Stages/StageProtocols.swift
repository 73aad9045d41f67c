public import SluiceMessages
public import SluicePipeline
public import SluiceTraceContext

/// A Swift type that changes requests before they are sent.
///
/// Called on the loop of the transaction. A method that never suspends costs no thread switch; a method that suspends
/// is resumed on that loop. It must not block. Throwing ``RetryRequestError`` retries, ``ResponseOverride`` answers
/// instead of the wire, any other error fails the transaction with the code `stage_failed`, or the code of a
/// ``StageFailure``.
public protocol RequestInterceptor: Sendable {
  func intercept(_ request: inout Request, context: RequestContext) async throws
}

/// A Swift type that changes responses, with their whole body.
public protocol ResponseInterceptor: Sendable {
  func intercept(_ response: inout Response, context: ResponseContext) async throws
}

/// A Swift type that sets headers at the last moment before a hop is sent, once for every hop.
public protocol IssueInterceptor: Sendable {
  /// The headers apply only to this hop. Must not block.
  func issue(_ headers: inout HeaderFields, context: RequestContext) throws
}

/// A Swift type that observes transactions.
public protocol TransactionTracer: Sendable {
  /// The event's exchange is only for reading, during the call. Must not block.
  func record(_ event: TraceEvent)
}

/// Thrown by an interceptor: start over with the original request.
public struct RetryRequestError: Error, Sendable, Hashable {
  public var delay: Duration
  public init(after delay: Duration = .zero) { self.delay = delay }
}

/// Thrown by a request interceptor: this is the response, and nothing is sent.
public struct ResponseOverride: Error, Sendable {
  public var response: Response
  public init(_ response: Response) { self.response = response }
}

/// The facts of a transaction for a request interceptor.
public struct RequestContext: Sendable {
  public let path: String
  public let method: String
  /// 0 first.
  public let attemptNumber: Int
  /// The same in all attempts.
  public let requestId: String
  public let transactionID: TransactionID
  /// The caller's trace context.
  public let parent: ParentContext
  /// Values on the transaction, which its other stages, results and logs show.
  public let attributes: TransactionAttributes

  init(_ exchange: Exchange) {
    path = exchange.nativeRequest.url.path
    method = exchange.nativeRequest.method
    attemptNumber = exchange.attempt
    requestId = exchange.requestID
    transactionID = exchange.id
    parent = exchange.parent
    attributes = TransactionAttributes(exchange)
  }
}

/// The facts of a transaction for a response interceptor.
public struct ResponseContext: Sendable {
  public let request: RequestContext
  /// The time since the transaction began.
  public let duration: Duration

  public var path: String { request.path }
  public var method: String { request.method }
  public var attemptNumber: Int { request.attemptNumber }
  public var requestId: String { request.requestId }
  public var attributes: TransactionAttributes { request.attributes }

  init(_ exchange: Exchange) {
    request = RequestContext(exchange)
    duration = exchange.loop.now.duration(since: exchange.started)
  }
}
