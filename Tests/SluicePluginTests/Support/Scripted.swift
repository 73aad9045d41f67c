import CSluice
import SluiceLocks
import SluicePlugin

/// A plugin whose methods are closures of the test, found by the name in its configuration.
struct Scripted: Plugin, RequestInterceptor, ResponseInterceptor, IssueInterceptor, FailureInterceptor,
  RedirectInterceptor, ChallengeInterceptor
{
  struct Configuration: Decodable, Sendable {
    var script: String
    var limit: Int?
  }

  struct Script: Sendable {
    var request: @Sendable (Request, RequestContext) async throws -> Void = { _, _ in }
    var response: @Sendable (Response, ResponseContext) async throws -> Void = { _, _ in }
    var issue: @Sendable (Request, RequestContext) throws -> Void = { _, _ in }
    var failure: @Sendable (Failure, Request, ResponseContext) async throws -> Void = { _, _, _ in }
    var redirect: @Sendable (Redirect, Response) async throws -> RedirectDecision = { _, _ in .follow }
    var challenge: @Sendable (Challenge, Response) async throws -> ChallengeDecision = { _, _ in
      .performDefaultHandling
    }
  }

  static let information = PluginInformation(id: "org.example.scripted", version: "1.2.3", summary: "Runs a test.")
  static let configurationDefaults: JSONValue? = ["script": "default"]
  private static let scripts = Locked<[String: Script]>([:])

  private let script: Script

  init(configuration: Configuration, host: PluginHost) throws {
    guard let script = Self.scripts.withLock({ $0[configuration.script] }) else {
      throw PluginFailure(message: "there is no script \"\(configuration.script)\"")
    }
    self.script = script
  }

  func intercept(_ request: Request, context: RequestContext) async throws {
    try await script.request(request, context)
  }

  func intercept(_ response: Response, context: ResponseContext) async throws {
    try await script.response(response, context)
  }

  func interceptIssue(_ request: Request, context: RequestContext) throws {
    try script.issue(request, context)
  }

  func interceptFailure(_ failure: Failure, of request: Request, context: ResponseContext) async throws {
    try await script.failure(failure, request, context)
  }

  func interceptRedirect(
    _ redirect: Redirect, response: Response, context: ResponseContext
  ) async throws -> RedirectDecision {
    try await script.redirect(redirect, response)
  }

  func interceptChallenge(
    _ challenge: Challenge, response: Response, context: ResponseContext
  ) async throws -> ChallengeDecision {
    try await script.challenge(challenge, response)
  }

  /// An instance that runs a script.
  static func instance(_ script: Script, named name: String = #function) throws -> StubInstance {
    scripts.withLock { $0[name] = script }
    return try StubInstance(scriptedEntry, ["script": JSONValue(name)])
  }

  static func instance(
    named name: String = #function, request: @escaping @Sendable (Request, RequestContext) async throws -> Void
  ) throws -> StubInstance {
    try instance(Script(request: request), named: name)
  }
}

/// The entry point of this test program, were it a library.
func scriptedEntry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(Scripted.self, host, abi, error)
}
