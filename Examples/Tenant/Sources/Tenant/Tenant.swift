import SluicePlugin

struct Tenant: UnconfiguredPlugin, RequestInterceptor {
  static let information = PluginInformation(id: "tenant", version: "1.0.0", summary: "Names the tenant")
  func intercept(_ request: StageRequest, context: RequestContext) async throws { request.headers["x-tenant"] = "blue" }
}
/// The host looks for this function.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(Tenant.self, host, abi, error)
}
