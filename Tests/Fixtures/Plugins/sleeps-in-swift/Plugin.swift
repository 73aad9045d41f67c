public import SluicePlugin

/// Waits on the host's timers: in requests, in responses, in its own tasks and in scheduled work. In between, it looks
/// up protocol conformances, as ordinary Swift code does.
struct SleepsInSwift: Plugin, RequestInterceptor, ResponseInterceptor, ScheduledWork {
  struct Configuration: Decodable, Sendable {
    var header: String
    /// The period of scheduled work in milliseconds; 0 for none.
    var period: Int
  }

  static let information = PluginInformation(
    id: "org.example.sleeps-in-swift", version: "1.0.0", summary: "A fixture of the tests.")
  static let configurationDefaults: JSONValue? = ["header": "x-slept", "period": 0]

  private let configuration: Configuration
  private let host: PluginHost
  private let tally = Tally<String>()

  init(configuration: Configuration, host: PluginHost) {
    self.configuration = configuration
    self.host = host
  }

  func activate() throws {
    guard configuration.period > 0 else { return }
    try host.schedule("count", every: .milliseconds(configuration.period), timeout: .seconds(60))
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    if request.headers["x-sleep"] == "forever" { return try await sleepForever() }
    try await host.sleep(for: .microseconds(500))
    async let count = tally.add(context.path)
    let words = try await host.task { [host] in
      try await host.sleep(for: .microseconds(100))
      return describe(["a", 1, true])
    }.value
    request.headers[configuration.header] = words
    request.headers["x-count"] = "\(await count)"
  }

  private func sleepForever() async throws {
    do { try await host.sleep(for: .seconds(100_000)) } catch {
      host.log(.info, "woken=\(error is CancellationError ? "cancelled" : "\(error)")")
      throw error
    }
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    try await host.sleep(for: .microseconds(500))
    response.headers[configuration.header] = describe([2.5, "b"])
  }

  func perform(_ name: String) async throws -> WorkOutcome {
    try await host.sleep(for: .milliseconds(1))
    let count = await tally.add(name)
    host.log(.info, "performed=\(count)")
    return .newData
  }
}

/// Counts by key.
private actor Tally<Key: Hashable & Sendable> {
  private var counts: [Key: Int] = [:]

  func add(_ key: Key) -> Int {
    counts[key, default: 0] += 1
    return counts[key] ?? 0
  }
}

private protocol Described { var words: String { get } }
extension String: Described { fileprivate var words: String { "text \(self)" } }
extension Int: Described { fileprivate var words: String { "number \(self)" } }

/// Casts to a protocol of the plugin and to a protocol of the standard library. Such a cast searches every image that
/// the runtime knows.
private func describe(_ values: [any Sendable]) -> String {
  values.map { ($0 as? any Described)?.words ?? ($0 as? any CustomStringConvertible)?.description ?? "?" }
    .joined(separator: ", ")
}

@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.timers") @used let requiresTimers = true

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(SleepsInSwift.self, host, abi, error)
}
