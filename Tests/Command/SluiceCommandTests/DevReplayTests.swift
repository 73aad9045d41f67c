import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice dev` replays the requests that were sent so far, and shows what a new build does differently.
@Suite struct DevReplayTests {
  @Test func `after a swap the last requests are replayed, and the difference is shown stage by stage`()
    async throws
  {
    let (run, library) = try await DevRun.stamped()
    try await run.start()
    try await run.request("/one")
    try await run.request("POST /two")
    try library.install(2, at: run.library)
    try await run.next("swapped")
    let difference = try await run.next("difference")
    #expect(difference.plugins == ["a"] && difference["same"]?.bool == false, "\(difference)")
    let requests = try #require(difference["report"]?["requests"]).elements.map { $0 }
    #expect(requests.count == 2)
    let header = try #require(requests.first?["differences"]?.elements.first { $0["callback"]?.string == "on_request" })
    #expect(header["stage"]?.string == "a" && header["subject"]?.string == "header x-stamp-a", "\(header)")
    #expect(header["old"]?.string == "1" && header["new"]?.string == "2", "\(header)")
    let count = run.server.requestCount
    #expect(count == 2, "nothing went over the network again")
    try await run.end()
  }

  @Test func `the requests of -i are replayed before later requests, even after a restart`() async throws {
    let library = try await StampedLibrary.inC()
    let input = try TemporaryDirectory()
    let file = try input.write(#"{"url": "/recorded"}"# + "\n", to: "in.jsonl")
    let run = try await DevRun("-i", file) { try library.install(1, at: $0.path("a.so")) }
    try await run.next("request")
    try await run.request("/typed")
    try run.folder.write(DevRun.configuration(run.server.baseURL, transport: #", "loops": 2"#), to: "c.json")
    try await run.next("restarted")
    try library.install(2, at: run.library)
    let difference = try await run.next("difference")
    let requests = try #require(difference["report"]?["requests"]).elements.compactMap { $0["request"]?.string }
    #expect(requests == ["GET \(run.server.baseURL)/recorded"], "\(difference)")
    try await run.end()
  }

  @Test func `call-outs are answered from the recording, and nothing is sent`() async throws {
    let tokens = try LoopbackServer { _ in .text("token") }
    func build(_ define: String) async throws -> [UInt8] {
      let product = try await PluginCompiler.compile("calls-out", defines: [define])
      return try withExtendedLifetime(product) { try FileTree.read(product.path) }
    }
    let (first, second) = (try await build("PARENT=1"), try await build("PARENT=0"))
    let run = try await DevRun(
      configuration: {
        #"{"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "store": "store", "transport": {"baseURL": "\#($0)"}}"#
      }, prepare: { try StampedLibrary.install(first, at: $0.path("a.so")) })
    try await run.start()
    let target = "\(tokens.baseURL)/token"
    for _ in 0..<3 { try await run.request(#"{"url": "/", "headers": {"x-target": "\#(target)"}}"#) }
    try StampedLibrary.install(second, at: run.library)
    let same = try await run.next("difference")
    #expect(same["same"]?.bool == true, "\(same)")
    #expect(tokens.requestCount == 3)
    tokens.stop()
    try await run.end()
  }
}
