import Glibc
import Sluice
import SluicePipeline
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Tests the deadline of a stage on a real loop, also for a stage that resumes just before its deadline.
@Suite struct StageDeadlineTests {
  @Test func `a stage that resumes before its deadline does not time out, even if its loop is busy`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("resumes-at-the-last-moment", defines: ["BLOCK_NS=700000000"])
    // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
    chmod(product.path, 0o755)
    // The transaction's deadline of 20 s ends the test if the loop only fires timers and handles no resumption.
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)", "deadline": "500ms"}}, "request": ["stage"],
       "deadline": "20s", "transport": {"loops": 1}}
      """
    let told = Locked<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in told.withLock { $0.append(line.message) } }
    let urls = [try HTTPURL(server.baseURL + "/waits"), try HTTPURL(server.baseURL + "/blocks")]
    let results = ResultLog()
    // Both requests are in the loop's inbox before the loop handles either of them.
    for url in urls { engine.submit(Request(url: url)) { results.append($0) } }
    await engine.shutdown()
    withExtendedLifetime(product) {}
    #expect(results.codes == [nil, nil])
    #expect(told.withLock { $0 }.filter { $0.hasPrefix("resume=") || $0.hasPrefix("cancel=") } == ["resume=0"])
  }

  @Test func `if a BLOCKING call misses its deadline, the error says that the call did not return`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let gate = folder.path("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    let product = try await PluginCompiler.compile("is-blocking", defines: ["GATE=\"\(gate)\""])
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)", "deadline": "50ms"}}, "request": ["stage"],
       "transport": {"loops": 1}}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.error?.code == .stageTimeout)
    let message = result.error?.message ?? ""
    #expect(
      message.contains("its BLOCKING call did not return within its deadline of 0.05 seconds"), "\(message)")
    // Opening the FIFO for reading and writing does not wait, and lets the call return.
    let writer = open(gate, O_RDWR | O_CLOEXEC)
    await engine.shutdown()
    close(writer)
    withExtendedLifetime(product) {}
  }
}
