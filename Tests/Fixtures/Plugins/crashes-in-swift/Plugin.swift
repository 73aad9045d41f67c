public import SluicePlugin

/// Fails a check of Swift's runtime in a request stage, after the stage has waited.
struct CrashesInSwift: Plugin, RequestInterceptor {
  struct Configuration: Decodable, Sendable {}

  static let information = PluginInformation(
    id: "org.example.crashes-in-swift", version: "1.0.0", summary: "A fixture of the tests.")

  init(configuration: Configuration, host: PluginHost) {}

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    // The host lets a call continue at once only a limited number of times. This call yields more often, so the host
    // must post the rest of it, whatever the load of the machine.
    for _ in 0..<100 { await Task.yield() }
    request.headers["x-sum"] = String(Self.third(of: [1, 2]))
  }

  @inline(never)
  static func third(of numbers: [Int]) -> Int { numbers[2] }
}

@section(".sluice.requires.suspend") @used let requiresSuspend = true

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(CrashesInSwift.self, host, abi, error)
}
