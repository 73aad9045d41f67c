import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Work that plugins schedule, and metrics that they record, with the real command.
@Suite struct ScheduledRunTests {
  @Test func `scheduled work runs while requests flow, and its outcomes are logged and counted`() async throws {
    let product = try await PluginCompiler.compile("handles-work")
    // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
    chmod(product.path, 0o755)
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {
         "worker": {"library": "\(product.path)", "config": {"schedules": [
           {"name": "take", "periodMs": 2, "deadlineMs": 60000}, {"name": "fail", "periodMs": 3, "deadlineMs": 60000},
           {"name": "never", "periodMs": 4, "deadlineMs": 1}]}},
         "traffic": {"library": "\(BuiltProducts.library("traffic-metrics"))"}},
       "tracers": ["traffic"]}
      """, to: "c.json")
    let running = try Tool.start("run", "-c", file)
    let line = #"{"url": "\#(server.baseURL)/"}"# + "\n"
    try running.write(line)
    try await server.waitForRequests(1)
    // The work continues both between requests and while requests flow.
    for text in [
      "scheduled-take=", #"ended the scheduled work "fail" with failed after"#,
      #"ended the scheduled work "never" with missed-deadline after"#,
    ] {
      try await running.waitForError(containing: text)
      try running.write(line)
    }
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.map(\.status) == [200, 200, 200, 200])
    let warning = result.errorText.split(separator: "\n").first { $0.contains("with failed after") }
    #expect(warning?.contains(#"stage "worker" (plugin handles-work, generation 1) ended"#) == true)
    let summary = result.errorText.split(separator: "\n").drop { !$0.hasPrefix("scheduled work") }
    #expect(summary.first?.split(separator: " ", omittingEmptySubsequences: true).count == 10)
    let rows = Dictionary(
      uniqueKeysWithValues: summary.dropFirst().map { row in
        let words = row.split(separator: " ").map(String.init)
        return (words.prefix(2).joined(separator: " "), words.dropFirst(2).map { $0 != "0" })
      })
    // These are the counts of new data, no data, failed and missed. The number of runs that were left out depends on
    // the machine.
    #expect(rows["worker take"]?.prefix(4) == [true, false, false, false], "\(result.errorText)")
    #expect(rows["worker fail"]?.prefix(4) == [false, false, true, false], "\(result.errorText)")
    #expect(rows["worker never"]?.prefix(4) == [false, false, false, true], "\(result.errorText)")
    #expect(result.errorText.contains("\ntracer traffic"))
  }

  @Test func `without scheduled work, the summary does not mention it`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("run", input: #"{"url": "\#(server.baseURL)/"}"#)
    #expect(result.status == 0)
    #expect(!result.errorText.contains("scheduled work"))
  }
}
