import Glibc
import Sluice
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A plugin in C reads what the host has counted (`sluice.reports/1`).
@Suite struct ReportTableTests {
  @Test func `a plugin in C reads the engine's counts, but not while the engine starts`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("reads-reports")
    chmod(product.path, 0o755)
    let text = #"{"plugins": {"stage": {"library": "\#(product.path)"}}, "request": ["stage"], "tracers": []}"#
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    for _ in 0..<2 { _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/"))) }
    await engine.shutdown()
    let told = log.value.filter { line in ["create", "request", "destroy"].contains { line.hasPrefix("\($0)=") } }
    #expect(
      told == [
        "create=NULL", "request=begun 1, succeeded 0, hops 0", "request=begun 2, succeeded 1, hops 1",
        "destroy=begun 2, succeeded 2, hops 2",
      ])
    withExtendedLifetime(product) {}
  }
}
