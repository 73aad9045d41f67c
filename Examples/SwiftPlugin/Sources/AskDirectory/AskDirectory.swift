import SluicePlugin

/// Adds the team that a request belongs to: in a header, in the body of the request if it is a JSON object, and in the
/// response. The request and the response wait while the directory is asked.
struct AskDirectory: Plugin, RequestInterceptor, ResponseInterceptor {
  struct Configuration: Decodable, Sendable {
    /// Maps the beginning of a path to the team for all paths that begin with it.
    var teams: [String: String]
  }

  static let information = PluginInformation(
    id: "org.example.ask-directory", version: "1.0.0", summary: "Says whom a request belongs to.")
  static let options: PluginOptions = [.wantsRequestBody, .wantsResponseBody]

  private let directory: Directory

  init(configuration: Configuration, host: PluginHost) throws {
    directory = Directory(teams: configuration.teams, host: host)
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    let team = try await directory.team(of: context.path)
    // From here, the code runs on the request's loop again, even if the directory has answered on another thread.
    request.headers["x-team"] = team
    // The document is first opened only for reading, because opening it for writing costs a conversion.
    guard request.document(for: .reading, body: true)?["body"]?["json"]?.isObject == true else { return }
    request.document(for: .writing, body: true)?["body"]?["json"]?["team"] = JSONValue(team)
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    let team = try await directory.team(of: context.path)
    response.headers["x-answered-for"] = team
    guard response.document(for: .reading, body: true)?["body"]?["json"]?.isObject == true else { return }
    response.document(for: .writing, body: true)?["body"]?["json"]?["answeredFor"] = JSONValue(team)
  }
}

@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.timers") @used let requiresTimers = true

/// The function that the host calls.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(AskDirectory.self, host, abi, error)
}
