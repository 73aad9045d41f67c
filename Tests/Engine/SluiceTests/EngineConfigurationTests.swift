import Sluice
import SluiceTestKit
import Testing

/// What an engine does with a configuration that was read.
struct EngineConfigurationTests {
  @Test func `a plugin is refused in a list for which it has no callback`() throws {
    var configuration = Configuration()
    configuration.addStage("only-requests", StageCode(request: { _, _ in }))
    configuration.response = [StageReference("only-requests")]
    do {
      _ = try Engine(configuration)
      Issue.record("expected an error")
    } catch {
      #expect(error.description.contains("plugin \"only-requests\" is in \"response\" but has no on_response"))
    }
  }

  @Test(arguments: ["auto", "wire"])
  func `the key that chose a transport has no effect, and the log says so at each start and reload`(
    _ value: String
  ) async throws {
    let old = try Configuration(
      text: Array("{\"transport\":\n {\"engine\": \"\(value)\"}}".utf8), file: "conf/sluice.json")
    let log = Watched<[String]>([])
    let engine = try Engine(old) { line in if line.level == .warning { log.update { $0.append(line.message) } } }
    _ = try await engine.swap()
    _ = try await engine.reload(Configuration())
    _ = try await engine.reload(old)
    await engine.shutdown()
    let warning =
      "conf/sluice.json:2: transport.engine: the key has no effect since version 0.1.0, which has one transport; leave it"
      + " out"
    #expect(log.value == [warning, warning])
  }
}
