import SluiceMessages
import SluicePlugin

/// Closures as a stage.
struct StageFunctions: Sendable {
  let request: (@Sendable (StageRequest, RequestContext) async throws -> Void)?
  let issue: (@Sendable (StageRequest, RequestContext) throws -> Void)?
  let response: (@Sendable (StageResponse, ResponseContext) async throws -> Void)?
  let failure: (@Sendable (Failure, StageRequest, ResponseContext) async throws -> Void)?
  let redirect: (@Sendable (Redirect, StageResponse, ResponseContext) async throws -> RedirectDecision)?
  let challenge: (@Sendable (ChallengeOffer, StageResponse, ResponseContext) async throws -> ChallengeDecision)?
  let trace: (@Sendable (borrowing TransactionEvent) -> Void)?

  /// The stage protocols for which there is a closure.
  var parts: StageParts {
    var parts = StageParts()
    if request != nil { parts.request = self }
    if issue != nil { parts.issue = self }
    if response != nil { parts.response = self }
    if failure != nil { parts.failure = self }
    if redirect != nil { parts.redirect = self }
    if challenge != nil { parts.challenge = self }
    if trace != nil { parts.tracer = self }
    return parts
  }
}

extension StageFunctions: RequestInterceptor, ResponseInterceptor, IssueInterceptor, FailureInterceptor {
  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    try await self.request?(request, context)
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    try await self.response?(response, context)
  }

  func interceptIssue(_ request: StageRequest, context: RequestContext) throws { try issue?(request, context) }

  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws {
    try await self.failure?(failure, request, context)
  }
}

extension StageFunctions: RedirectInterceptor, ChallengeInterceptor, TransactionTracer {
  func interceptRedirect(
    _ redirect: Redirect, response: StageResponse, context: ResponseContext
  ) async throws -> RedirectDecision { try await self.redirect?(redirect, response, context) ?? .follow }

  func interceptChallenge(
    _ offer: ChallengeOffer, response: StageResponse, context: ResponseContext
  ) async throws -> ChallengeDecision { try await challenge?(offer, response, context) ?? .performDefaultHandling }

  func record(_ event: borrowing TransactionEvent) { trace?(event) }
}
