import CSluice
import SluiceJSON
import Testing

@testable import SluicePlugin

struct LifecycleTests {
  @Test func `the table has the values of the type`() throws {
    let table = try StubInstance.call { scriptedEntry(nil, 1, $0)?.pointee }
    #expect(String(cString: table.id) == "org.example.scripted")
    #expect(String(cString: table.version) == "1.2.3")
    #expect(table.config_schema == nil)
    #expect(table.extension("sluice.interceptor/1") != nil)
    #expect(table.extension("sluice.tracer/1") == nil)
    #expect(table.extension("sluice.interceptor/2") == nil)
  }

  @Test func `the entry point gives the same table each time`() {
    #expect(scriptedEntry(nil, 1, nil) == scriptedEntry(nil, 7, nil))
  }

  @Test func `a host that speaks no ABI of ours is refused with both numbers`() {
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance.call { scriptedEntry(nil, 0, $0) } }
    #expect(refusal?.message == "built for ABI 1, this host speaks 0; use a newer host")
  }

  /// The answer of `create` to a host whose tables have these lengths.
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
  func `a host whose tables are as long as in revision 1, or longer, is taken`(_ extra: UInt32) throws {
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

  @Test func `a further table of the host that is shorter than in revision 1 counts as absent`() {
    let host = StubHost()
    let table = UnsafeMutablePointer<sluice_values>.allocate(capacity: 1)
    defer { table.deallocate() }
    table.initialize(to: sluice_values())
    Self.values = UnsafeRawPointer(table)
    host.table.pointee.extension = { _, _ in LifecycleTests.values }
    for (size, isThere) in [(SLUICE_VALUES_SIZE_1 - 1, false), (SLUICE_VALUES_SIZE_1, true), (4096, true)] {
      table.pointee.size = size
      #expect((UnsafePointer(host.table).values != nil) == isThere)
    }
  }

  /// The table that the host of one test has.
  nonisolated(unsafe) private static var values: UnsafeRawPointer?

  @Test func `a second plugin in one library is refused`() {
    struct Second: Plugin, SynchronousRequestInterceptor {
      static let information = PluginInformation(id: "second", version: "1.0.0", summary: "")
      init(configuration: NoConfiguration, host: PluginHost) {}
      func intercept(_ request: StageRequest, context: RequestContext) {}
    }
    _ = scriptedEntry(nil, 1, nil)
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance.call { export(Second.self, nil, 1, $0) } }
    #expect(refusal?.message == "the library exports Scripted already; one library is one plugin")
  }

  @Test(arguments: [
    (#"{"script": 7}"#, #"config key "script": expected a string, found a number"#),
    (#"{"scrpt": "a"}"#, #"config: the key "scrpt" is unknown; remove it or correct its spelling"#),
    (#"{"limit": 1.5}"#, #"config key "limit": expected an integer, found a number"#),
    (#"[]"#, "config: expected an object, found an array"),
    (#"{}"#, #"there is no script "default""#),
  ])
  func `a wrong configuration is refused with its key`(configuration: String, message: String) throws {
    let value = try JSONValue(parsing: configuration)
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance(scriptedEntry, value) }
    #expect(refusal?.message == message)
  }
}
