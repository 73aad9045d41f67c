import CSluice
import SluicePlugin
import SluiceSupport

/// A plugin whose methods are closures of the test. The name in its configuration selects the closures.
struct Scripted: Plugin, RequestInterceptor, ResponseInterceptor, IssueInterceptor, FailureInterceptor,
  RedirectInterceptor, ChallengeInterceptor
{
  struct Configuration: Decodable, Sendable {
    var script: String
    var limit: Int?
  }

  struct Script: Sendable {
    var request: @Sendable (StageRequest, RequestContext) async throws -> Void = { _, _ in }
    var response: @Sendable (StageResponse, ResponseContext) async throws -> Void = { _, _ in }
    var issue: @Sendable (StageRequest, RequestContext) throws -> Void = { _, _ in }
    var failure: @Sendable (Failure, StageRequest, ResponseContext) async throws -> Void = { _, _, _ in }
    var redirect: @Sendable (Redirect, StageResponse) async throws -> RedirectDecision = { _, _ in .follow }
    var challenge: @Sendable (ChallengeOffer, StageResponse) async throws -> ChallengeDecision = { _, _ in
      .performDefaultHandling
    }
  }

  static let information = PluginInformation(id: "org.example.scripted", version: "1.2.3", summary: "Runs a test.")
  static let configurationDefaults: JSONValue? = ["script": "default"]
  private static let scripts = Locked<[String: Script]>([:])

  private let script: Script

  init(configuration: Configuration, host: PluginHost) throws {
    guard let script = Self.scripts.withLock({ $0[configuration.script] }) else {
      throw StageFailure(message: "there is no script \"\(configuration.script)\"")
    }
    self.script = script
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    try await script.request(request, context)
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    try await script.response(response, context)
  }

  func interceptIssue(_ request: StageRequest, context: RequestContext) throws {
    try script.issue(request, context)
  }

  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws {
    try await script.failure(failure, request, context)
  }

  func interceptRedirect(
    _ redirect: Redirect, response: StageResponse, context: ResponseContext
  ) async throws -> RedirectDecision {
    try await script.redirect(redirect, response)
  }

  func interceptChallenge(
    _ offer: ChallengeOffer, response: StageResponse, context: ResponseContext
  ) async throws -> ChallengeDecision {
    try await script.challenge(offer, response)
  }

  /// Makes an instance that runs a script.
  static func instance(_ script: Script, named name: String = #function) throws -> StubInstance {
    scripts.withLock { $0[name] = script }
    return try StubInstance(scriptedEntry, ["script": JSONValue(name)])
  }

  static func instance(
    named name: String = #function, request: @escaping @Sendable (StageRequest, RequestContext) async throws -> Void
  ) throws -> StubInstance {
    try instance(Script(request: request), named: name)
  }
}

/// The plugin's entry point, which the tests call directly.
func scriptedEntry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(Scripted.self, host, abi, error)
}
