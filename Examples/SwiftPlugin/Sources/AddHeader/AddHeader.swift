import SluicePlugin

/// Sets a header of each request.
struct AddHeader: Plugin, RequestInterceptor {
  struct Configuration: Decodable, Sendable {
    var name: String
    var value: String
  }

  static let information = PluginInformation(
    id: "org.example.add-header", version: "1.0.0", summary: "Sets a header of each request.")
  static let configurationDefaults: JSONValue? = ["name": "x-team"]

  let configuration: Configuration

  init(configuration: Configuration, host: PluginHost) throws { self.configuration = configuration }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    request.headers[configuration.name] = configuration.value
  }
}

/// The function that the host calls.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(AddHeader.self, host, abi, error)
}
