import Sluice
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTrial
import Testing

/// Damaged libraries that are swapped into an engine under load: 8 of each kind, or 50 with `SLUICE_SOAK=1`.
@Suite struct MutatedSwapTests {
  @Test func `in a swap under load, a damaged library works or is refused with a message`() async {
    await #expect(processExitsWith: .success) {
      for kind in MutatedPlugins.Kind.allCases { try await MutatedSwapTests.swap(kind) }
    }
  }

  private static func swap(_ kind: MutatedPlugins.Kind) async throws {
    let folder = try TemporaryDirectory()
    let server = try LoopbackServer(recording: .countOnly) { _ in ServerResponse(body: .bytes(Array("ok".utf8))) }
    let plugins = try await MutatedPlugins(kind, seed: 21)
    let path = folder.path("libx.so")
    try StampedLibrary.install(plugins.whole, at: path)
    let list = kind == .swift ? "response" : "request"
    let text = """
      {"store": "store", "plugins": {"x": {"library": "libx.so"}}, "\(list)": ["x"], "transport": {"loops": 2},
       "swap": {"probation": {"duration": "0s"}}}
      """
    let trial = try #require(HelperTrial(helper: BuiltProducts.executable("sluice")))
    let engine = try Engine(Configuration(text: Array(text.utf8), file: folder.path("c.json")), trial: trial)
    let request = Request(url: try HTTPURL(server.baseURL + "/"))
    let load = Watched((succeeded: 0, isOver: false))
    let clients = Task {
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            while !load.value.isOver {
              let result = await engine.transaction(request)
              if result.error == nil { load.update { $0.succeeded += 1 } }
            }
          }
        }
      }
    }
    for mutant in plugins.mutants {
      try StampedLibrary.install(mutant.bytes, at: path)
      do throws(SwapError) { try await engine.swap() } catch {
        #expect(error.report.outcome == .refused, "\(mutant.what): \(error)")
        #expect(error.description.contains("plugin \"x\" at "), "\(mutant.what): \(error)")
        continue
      }
      // The damaged build works and is published. The intact build replaces it.
      try StampedLibrary.install(plugins.whole, at: path)
      _ = try await engine.swap()
    }
    let before = load.value.succeeded
    try await load.wait(for: "requests after the last swap") { $0.succeeded > before + 10 }
    load.update { $0.isOver = true }
    await clients.value
    await engine.shutdown(drain: .seconds(5))
    server.stop()
  }
}
