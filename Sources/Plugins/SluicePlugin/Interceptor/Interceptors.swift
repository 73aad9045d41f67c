/// Sees a request before it is sent, and can change every part of it.
///
/// Return to continue, call ``StageRequest/respond(status:)`` to answer without the wire, throw ``RetryRequestError``
/// for another attempt, throw any other error to fail the transaction.
///
/// The method runs on the event loop of its transaction and must not block. If it awaits, the transaction waits and the
/// loop continues with other work; the method resumes on the same loop. If the transaction ends before the method
/// resumes, the task is cancelled, and the handles stop working: reading returns nil, writing does nothing.
public protocol RequestInterceptor: Sendable {
  func intercept(_ request: StageRequest, context: RequestContext) async throws
}

/// A ``RequestInterceptor`` without `async` and without the cost of a task, for stages that every request passes.
public protocol SynchronousRequestInterceptor: Sendable {
  func intercept(_ request: StageRequest, context: RequestContext) throws
}

/// Sees a response, and can change it, ask for another attempt or fail; see ``RequestInterceptor``.
public protocol ResponseInterceptor: Sendable {
  func intercept(_ response: StageResponse, context: ResponseContext) async throws
}

/// A ``ResponseInterceptor`` without `async`.
public protocol SynchronousResponseInterceptor: Sendable {
  func intercept(_ response: StageResponse, context: ResponseContext) throws
}

/// Called immediately before a hop is sent. Only request headers can be changed, and only for this hop.
///
/// Throwing fails the transaction, even with ``RetryRequestError``.
public protocol IssueInterceptor: Sendable {
  func interceptIssue(_ request: StageRequest, context: RequestContext) throws
}

/// Called when an attempt has failed without a response. Return to keep the failure; otherwise the method can end in
/// the same ways as the method of ``RequestInterceptor``.
public protocol FailureInterceptor: Sendable {
  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws
}
