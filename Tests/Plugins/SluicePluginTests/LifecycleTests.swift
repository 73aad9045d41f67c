import CSluice
import SluiceJSON
import Testing

@testable import SluicePlugin

struct LifecycleTests {
  @Test func `the C table has the values of the Swift type`() throws {
    let table = try StubInstance.call { scriptedEntry(nil, 1, $0)?.pointee }
    #expect(String(cString: table.id) == "org.example.scripted")
    #expect(String(cString: table.version) == "1.2.3")
    #expect(table.config_schema == nil)
    #expect(table.extension("sluice.interceptor/1") != nil)
    #expect(table.extension("sluice.tracer/1") == nil)
    #expect(table.extension("sluice.interceptor/2") == nil)
  }

  @Test func `the entry point returns the same table each time`() {
    #expect(scriptedEntry(nil, 1, nil) == scriptedEntry(nil, 7, nil))
  }

  @Test func `a plugin refuses a host that does not speak the plugin's ABI, and the error has both numbers`() {
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance.call { scriptedEntry(nil, 0, $0) } }
    #expect(refusal?.message == "built for ABI 1, this host speaks 0; use a newer host")
  }

  /// Calls `create` with a host whose tables have these lengths. Throws the error of `create`.
  private func create(host hostSize: UInt32, exchange exchangeSize: UInt32) throws {
    let host = StubHost()
    host.table.pointee.size = hostSize
    host.exchanges.pointee.size = exchangeSize
    let table = try StubInstance.call { scriptedEntry(host.table, 1, $0)?.pointee }
    let configuration: JSONValue = ["script": "growth"]
    var instance: UnsafeMutableRawPointer?
    try StubInstance.check { error in
      table.create(host.table, configuration.withUnsafeJSON { $0 }, &instance, error)
    }
    table.destroy(instance)
  }

  @Test(arguments: [0, 8, 4096] as [UInt32])
  func `a host whose tables are as long as in revision 1, or longer, is accepted`(_ extra: UInt32) throws {
    _ = try Scripted.instance(named: "growth") { _, _ in }
    try create(host: SLUICE_HOST_SIZE_1 + extra, exchange: SLUICE_EXCHANGE_API_SIZE_1 + extra)
  }

  @Test(arguments: [
    (SLUICE_HOST_SIZE_1 - 1, SLUICE_EXCHANGE_API_SIZE_1), (SLUICE_HOST_SIZE_1, SLUICE_EXCHANGE_API_SIZE_1 - 1),
  ])
  func `a host whose tables are shorter than in revision 1 is refused`(_ host: UInt32, _ exchange: UInt32) {
    let refusal = #expect(throws: StubRefusal.self) { try create(host: host, exchange: exchange) }
    #expect(refusal?.message == "the host's tables are shorter than those of ABI 1")
  }

  @Test(arguments: FurtherTable.all)
  func `an optional table of the host counts as absent if it is shorter than in revision 1`(_ further: FurtherTable) {
    let host = StubHost()
    #expect(!further.isFound(host.table))
    // A table of a later host could have this length.
    let table = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 8)
    defer { table.deallocate() }
    host.tables[further.id] = UnsafeRawPointer(table)
    for (size, isThere) in [(further.least - 1, false), (further.least, true), (4096, true)] {
      table.storeBytes(of: size, as: UInt32.self)
      #expect(further.isFound(host.table) == isThere, "\(size) bytes")
    }
  }

  @Test func `a second plugin in one library is refused`() {
    struct Second: Plugin, SynchronousRequestInterceptor {
      static let information = PluginInformation(id: "second", version: "1.0.0", summary: "")
      init(configuration: NoConfiguration, host: PluginHost) {}
      func intercept(_ request: StageRequest, context: RequestContext) {}
    }
    _ = scriptedEntry(nil, 1, nil)
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance.call { export(Second.self, nil, 1, $0) } }
    #expect(refusal?.message == "the library already exports Scripted; a library can export only one plugin")
  }

  @Test(arguments: [
    (#"{"script": 7}"#, #"config key "script": expected a string, found a number"#),
    (#"{"scrpt": "a"}"#, #"config: the key "scrpt" is unknown; remove it or correct its spelling"#),
    (#"{"limit": 1.5}"#, #"config key "limit": expected an integer, found a number"#),
    (#"[]"#, "config: expected an object, found an array"),
    (#"{}"#, #"there is no script "default""#),
  ])
  func `a wrong configuration is refused, and the error names the key`(configuration: String, message: String) throws {
    let value = try JSONValue(parsing: configuration)
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance(scriptedEntry, value) }
    #expect(refusal?.message == message)
  }
}

/// An optional table that the SDK requests from a host.
struct FurtherTable: Sendable, CustomTestStringConvertible {
  let id: String
  /// The table's size in revision 1.
  let least: UInt32
  private let find: @Sendable (UnsafePointer<sluice_host>) -> Bool

  init(_ id: String, _ least: UInt32, _ find: @escaping @Sendable (UnsafePointer<sluice_host>) -> Bool) {
    (self.id, self.least, self.find) = (id, least, find)
  }

  var testDescription: String { id }

  /// Returns whether the SDK accepts the host's table.
  func isFound(_ host: UnsafeMutablePointer<sluice_host>) -> Bool { find(UnsafePointer(host)) }

  static let all = [
    FurtherTable(SLUICE_ATTRIBUTES_ID, SLUICE_ATTRIBUTES_SIZE_1) { $0.attributes != nil },
    FurtherTable(SLUICE_CALLOUT_ID, SLUICE_CALLOUT_SIZE_1) { $0.callOuts != nil },
    FurtherTable(SLUICE_COMPLETIONS_ID, SLUICE_COMPLETIONS_SIZE_1) { $0.completions != nil },
    FurtherTable(SLUICE_CONNECTION_ID, SLUICE_CONNECTION_SIZE_1) { $0.connections != nil },
    FurtherTable(SLUICE_LOG_ID, SLUICE_LOGGER_SIZE_1) { $0.logger != nil },
    FurtherTable(SLUICE_METRICS_ID, SLUICE_METRICS_SIZE_1) { $0.metrics != nil },
    FurtherTable(SLUICE_PLACES_ID, SLUICE_PLACES_SIZE_1) { $0.places != nil },
    FurtherTable(SLUICE_REPORTS_ID, SLUICE_REPORTS_SIZE_1) { $0.reports != nil },
    FurtherTable(SLUICE_SHARED_ID, SLUICE_SHARED_SIZE_1) { $0.shared != nil },
    FurtherTable(SLUICE_SPANS_ID, SLUICE_SPANS_SIZE_1) { $0.spans != nil },
    FurtherTable(SLUICE_THREADS_ID, SLUICE_THREADS_SIZE_1) { $0.threads != nil },
    FurtherTable(SLUICE_TIMERS_ID, SLUICE_TIMERS_SIZE_1) { $0.timers != nil },
    FurtherTable(SLUICE_VALUES_ID, SLUICE_VALUES_SIZE_1) { $0.values != nil },
    FurtherTable(SLUICE_WORK_ID, SLUICE_WORK_SIZE_1) { $0.work != nil },
  ]
}
