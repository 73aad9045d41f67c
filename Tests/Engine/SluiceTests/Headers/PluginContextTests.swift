import Glibc
import Sluice
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTraceContext
import Testing

/// The caller's trace in the context of the C ABI, compared with the headers that the built-in `headers` sends.
@Suite struct PluginContextTests {
  @Test func `the C ABI's context has the parent that the hop continues, no matter where the parent comes from`()
    async throws
  {
    let product = try await PluginCompiler.compile("shows-parent")
    // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
    chmod(product.path, 0o755)
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = """
      {"plugins": {"shows": {"library": "\(product.path)"},
                   "headers": {"builtin": "headers", "config": {"hosts": ["*"]}}}, "issue": ["headers", "shows"]}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let task = TraceContext.start(baggage: "user=bob")
    _ = await engine.transaction(request, parent: HeaderPlaces.parent)
    _ = await TraceContext.$current.withValue(task) { await engine.transaction(request) }
    _ = await engine.transaction(request)
    await engine.shutdown()

    let parents = [HeaderPlaces.parent, task.parent]
    #expect(server.requests.count == 3)
    for (sent, parent) in zip(server.requests, parents) {
      #expect(sent.headers.first("x-parent") == parent.traceparent)
      #expect(sent.headers.first("x-state") == parent.tracestate ?? "")
      #expect(sent.headers.first("x-baggage") == parent.baggage)
      let shown = try TraceParent(try #require(sent.headers.first("x-parent")).utf8.span)
      let hop = try TraceParent(try #require(sent.headers.first("traceparent")).utf8.span)
      #expect(hop.traceID == shown.traceID)
      #expect(hop.spanID != shown.spanID)
    }
    // If there is no parent, the context is empty, but the built-in `headers` begins a trace.
    let alone = try #require(server.requests.last)
    #expect(alone.headers.first("x-parent") == "")
    #expect(alone.headers.first("traceparent") != nil)
  }
}
