/// Sees a request before it goes out, and may change it as a whole.
///
/// Return to go on, ``Request/respond(status:)`` to answer without the wire, throw ``RetryRequestError`` for another
/// attempt, anything else to fail the transaction.
///
/// The method runs on the event loop of its transaction and must not block. Where it awaits, the transaction waits for
/// it and the loop goes on; it comes back on the same loop. When the transaction ends before that, the task is
/// cancelled, and the handles are dead: reading gives nil, writing does nothing.
public protocol RequestInterceptor: Sendable {
  func intercept(_ request: Request, context: RequestContext) async throws
}

/// The same without `async`, and without the price of a task, for stages on every request's way.
public protocol SynchronousRequestInterceptor: Sendable {
  func intercept(_ request: Request, context: RequestContext) throws
}

/// Sees a response, and may change it, ask for another attempt or fail; see ``RequestInterceptor``.
public protocol ResponseInterceptor: Sendable {
  func intercept(_ response: Response, context: ResponseContext) async throws
}

/// The same without `async`.
public protocol SynchronousResponseInterceptor: Sendable {
  func intercept(_ response: Response, context: ResponseContext) throws
}

/// The last moment before bytes leave, for every hop: request headers only, and they hold for this hop.
///
/// Throwing fails the transaction; ``RetryRequestError`` does too here.
public protocol IssueInterceptor: Sendable {
  func interceptIssue(_ request: Request, context: RequestContext) throws
}

/// No response came. Return to leave the failure as it is; otherwise as with ``RequestInterceptor``.
public protocol FailureInterceptor: Sendable {
  func interceptFailure(_ failure: Failure, of request: Request, context: ResponseContext) async throws
}
