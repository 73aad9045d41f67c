import SluicePlugin

struct Tenant: Plugin, RequestInterceptor {
  static let information = PluginInformation(id: "tenant", version: "1.0.0", summary: "Names the tenant")
  init(configuration: NoConfiguration, host: PluginHost) {}
  func intercept(_ request: Request, context: RequestContext) async throws {
    request.headers["x-tenant"] = "blue"
  }
}

@section(".note.sluice") @used
public let note: PluginNote = (7, 28, 1, 0x6975_6c73, 0x6563, 1, 1, 0, 0, 1, 0, 0)

@c(sluice_plugin_entry)
public func entry(_ host: PluginEntryHost, _ abi: UInt32, _ error: PluginEntryError) -> PluginEntryTable {
  export(Tenant.self, host, abi, error)
}
