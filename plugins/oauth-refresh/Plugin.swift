public import SluicePlugin

/// Gives requests an OAuth 2.0 access token, and gets a new token when it expires or is refused.
///
///     request ─ token there? ──────────────► header ─ wire ─ response
///        ▲        │ no, or about to expire                     │ 401, first attempt
///        │        └─► one refresh, all wait ◄──────────────────┤
///        └──────────────── retry ◄─────────────────────────────┘ or replaced already
struct OAuthRefresh: Plugin, RequestInterceptor, ResponseInterceptor {
  static let information = PluginInformation(
    id: "oauth-refresh", version: "1.0.0", summary: "Applies an OAuth 2.0 access token, and refreshes it.")
  static let configurationSchema: String? = OAuthConfiguration.schema
  static let configurationDefaults: JSONValue? = OAuthConfiguration.defaults

  private let hosts: HostList
  private let header: TokenHeader
  private let keeper: TokenKeeper
  private let host: PluginHost

  init(configuration: OAuthConfiguration, host: PluginHost) throws {
    self.host = host
    hosts = try HostList(configuration.hosts)
    header = try TokenHeader(configuration)
    let request = try configuration.grantRequest()
    keeper = TokenKeeper(
      TokenBook(try configuration.settings()), TokenEndpoint(request),
      TokenShare(try configuration.digest(), request, host), host)
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    guard hosts.allow(request.url), header.isWanted(by: request) else { return }
    let token = try await keeper.token { refresh in
      try await host.withSpan("token refresh", for: request) { try await refresh.value }
    }
    try header.set(token, on: request)
  }

  /// Acts only on the first attempt: if the new token gets a 401 too, the caller gets the 401.
  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    guard response.status == 401, context.attemptNumber == 0, let refused = header.token(of: response.request)
    else { return }
    let began = ContinuousClock.now - context.duration
    let hasReplacement = try await keeper.hasReplacement(for: refused, usedSince: began) { refresh in
      try await host.withSpan("token refresh", for: response.request) { try await refresh.value }
    }
    // If no further attempt is possible, only the next request gets the new token.
    if hasReplacement, host.canRetry { throw RetryRequestError() }
  }
}

// The features that the host must have. Response stages and retries are not required: on a host without them, a token
// is replaced only when it expires.
@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.callout") @used let requiresCallout = true

/// The entry point that the host looks for.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(OAuthRefresh.self, host, abi, error)
}
