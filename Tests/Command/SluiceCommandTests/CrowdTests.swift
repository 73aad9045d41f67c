import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Many transactions in flight over HTTP/1.1 in clear text, against a server in another process that holds its answers.
@Suite struct CrowdTests {
  /// The number of transactions in flight: 1,000, or fewer if the descriptor limit requires it. With SLUICE_SOAK, there
  /// are 10,000, within 300 MB.
  private static let count =
    Tool.isSoak ? 10_000 : min(1_000, DescriptorLimit.raise(to: 3_000) / 2)
  private static let limitBytes = Tool.isSoak ? 300_000_000 : 100_000_000

  @Test func `many transactions in flight need little memory and few threads, and every response arrives`()
    async throws
  {
    // Each transaction takes a descriptor in both processes, in addition to the descriptors of the test run.
    let descriptors = DescriptorLimit.raise(to: Self.count + 2000)
    try #require(descriptors >= Self.count * 3 / 2, "the descriptor limit is \(descriptors); raise it with ulimit -n")
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    server.hold()
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {
        "auth": {"library": "\(BuiltProducts.library("bearer-auth"))",
                 "config": {"token": "t0k", "hosts": ["127.0.0.1"]}},
        "headers": {"builtin": "headers", "config": {"hosts": ["127.0.0.1"]}}, "metrics": {"builtin": "metrics"}},
       "request": ["auth"], "issue": ["headers"], "tracers": ["metrics"], "deadline": "120s",
       "transport": {"baseURL": "\(server.baseURL)", "timeout": "120s", "connectTimeout": "60s", "loops": 2}}
      """, to: "c.json")
    let running = try Tool.start("run", "-q", "-c", file, "--concurrency", "\(Self.count)")
    let facts = ProcessFacts(of: running.processID)
    try running.write("{\"url\": \"/\"}\n")
    try await server.waitForHeld(1)
    let threads = facts.threadCount
    running.writeAndClose(Array(String(repeating: "{\"url\": \"/\"}\n", count: Self.count - 1).utf8))
    try await server.waitForHeld(Self.count, upTo: Patience.limit)
    #expect(facts.threadCount <= threads + 2, "\(facts.threadCount) threads, \(threads) with one in flight")
    let peak = try #require(facts.peakResidentBytes)
    #expect(Sanitizer.isOn || peak < Self.limitBytes, "\(Self.count) in flight took \(peak >> 20) MiB")
    server.release()
    let result = try await running.wait()
    #expect(result.status == 0, "\(result.errorText)")
    #expect(Set(try result.documents.compactMap { $0.status == 200 ? $0["id"]?.integer : nil }).count == Self.count)
  }
}
