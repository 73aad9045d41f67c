public import SluiceMessages
public import SluicePipeline

/// Stages written in Swift inside the program: types that conform to the interceptor protocols, or closures.
public struct StageCode: Sendable {
  public typealias RequestFunction = @Sendable (inout Request, RequestContext) async throws -> Void
  public typealias ResponseFunction = @Sendable (inout Response, ResponseContext) async throws -> Void
  public typealias IssueFunction = @Sendable (inout HeaderFields, RequestContext) throws -> Void
  public typealias RedirectFunction = @Sendable (Redirect, ResponseContext) async throws -> RedirectDecision
  public typealias ChallengeFunction = @Sendable (ChallengeOffer, ResponseContext) async throws -> ChallengeDecision
  public typealias TraceFunction = @Sendable (TraceEvent) -> Void

  var request: RequestFunction?
  var response: ResponseFunction?
  var issue: IssueFunction?
  var redirect: RedirectFunction?
  var challenge: ChallengeFunction?
  var trace: TraceFunction?
  /// The tracer is a part of the program that never waits, so it is neither timed nor switched off.
  package var isTrustedTracer = false

  public init(
    request: RequestFunction? = nil, issue: IssueFunction? = nil, response: ResponseFunction? = nil,
    redirect: RedirectFunction? = nil, challenge: ChallengeFunction? = nil, trace: TraceFunction? = nil
  ) {
    self.request = request
    self.issue = issue
    self.response = response
    self.redirect = redirect
    self.challenge = challenge
    self.trace = trace
  }

  /// Uses every interceptor protocol that the value conforms to.
  public init(_ stage: any Sendable) {
    if let stage = stage as? any RequestInterceptor { request = { try await stage.intercept(&$0, context: $1) } }
    if let stage = stage as? any IssueInterceptor { issue = { try stage.issue(&$0, context: $1) } }
    if let stage = stage as? any ResponseInterceptor { response = { try await stage.intercept(&$0, context: $1) } }
    if let stage = stage as? any RedirectInterceptor {
      redirect = { try await stage.interceptRedirect($0, context: $1) }
    }
    if let stage = stage as? any ChallengeInterceptor {
      challenge = { try await stage.interceptChallenge($0, context: $1) }
    }
    if let stage = stage as? any TransactionTracer { trace = { stage.record($0) } }
  }
}

extension Configuration {
  /// Adds Swift code as a stage, at the end of each list that it has a callback for.
  ///
  /// - Parameter name: names the stage in errors and metrics; must be unique in the configuration.
  public mutating func append(_ code: StageCode, named name: String, match: StageMatch? = nil) {
    plugins.append(PluginConfiguration(name: name, source: .code(code)))
    let reference = StageReference(name, match: match)
    if code.request != nil { request.append(reference) }
    if code.issue != nil { issue.append(reference) }
    if code.response != nil || code.redirect != nil || code.challenge != nil { response.append(reference) }
    if code.trace != nil { tracers.append(reference) }
  }
}
