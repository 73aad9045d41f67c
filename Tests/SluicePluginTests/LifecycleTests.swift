import CSluice
import SluiceJSON
import SluicePlugin
import Testing

struct LifecycleTests {
  @Test func `the table says what the type says`() throws {
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

  @Test func `a second plugin in one library is refused`() {
    struct Second: Plugin, SynchronousRequestInterceptor {
      static let information = PluginInformation(id: "second", version: "1.0.0", summary: "")
      init(configuration: NoConfiguration, host: PluginHost) {}
      func intercept(_ request: Request, context: RequestContext) {}
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
