public import SluicePlugin

/// Adds facts about the transaction to an error response: a header, and a member in a JSON body.
struct ErrorEnrichment: Plugin, SynchronousResponseInterceptor, FailureInterceptor {
  static let information = PluginInformation(
    id: "error-enrichment", version: "1.0.0", summary: "Adds the facts of the transaction to error responses.")
  static let options: PluginOptions = .wantsResponseBody
  static let configurationDefaults: JSONValue? = EnrichmentConfiguration.defaults

  private let configuration: EnrichmentConfiguration
  private let statuses: StatusSet
  private let redaction: Redaction
  private let host: PluginHost

  init(configuration: EnrichmentConfiguration, host: PluginHost) throws {
    self.configuration = configuration
    self.host = host
    statuses = try configuration.checkedStatuses()
    redaction = Redaction(query: configuration.redactQuery)
  }

  func intercept(_ response: StageResponse, context: ResponseContext) throws {
    guard statuses.contains(response.status) else { return }
    if let name = configuration.header { try response.headers.set(name, to: context.transactionID.description) }
    extendBody(of: response, context)
  }

  /// Does not change the failure, but logs the transaction.
  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws {
    host.log(
      .warning, "got no response: \(failure.code): \(failure.message)",
      [
        "error.type": .text(failure.code.rawValue), "http.request.method": .text(context.method),
        "url.full": .text(redaction.url(request.url)),
      ], about: request)
  }

  /// Only a JSON object gets the member. An existing member is not replaced, because the server knows better what went
  /// wrong.
  private func extendBody(of response: StageResponse, _ context: ResponseContext) {
    guard let key = configuration.key, holdsJSON(response.headers["content-type"]),
      let seen = response.document(for: .reading, body: true)?["body"]?["json"], seen.isObject, seen[key] == nil
    else { return }
    response.document(for: .writing, body: true)?["body"]?["json"]?[key] = facts(of: response, context)
  }

  private func facts(of response: StageResponse, _ context: ResponseContext) -> JSONValue {
    [
      "transaction": JSONValue(context.transactionID.description),
      "requestId": JSONValue(context.requestID),
      "attempt": JSONValue(Int64(context.attemptNumber)),
      "method": JSONValue(context.method),
      "url": JSONValue(redaction.url(response.request.url)),
    ]
  }
}

/// Whether the type is `application/json`, or has the suffix `+json` (RFC 6839 §3.1).
private func holdsJSON(_ contentType: String?) -> Bool {
  guard let type = contentType?.prefix(while: { $0 != ";" }).lowercased() else { return false }
  let name = type.filter { $0 != " " && $0 != "\t" }
  return name.hasSuffix("/json") || name.hasSuffix("+json")
}

// The features that the host must have.
@section(".sluice.requires.response_body") @used let requiresResponseBody = true
@section(".sluice.requires.response") @used let requiresResponse = true
@section(".sluice.requires.document") @used let requiresDocument = true

/// The entry point that the host looks for.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(ErrorEnrichment.self, host, abi, error)
}
