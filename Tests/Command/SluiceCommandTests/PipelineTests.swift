import SluiceJSON
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice run` through the shipped plugins and built-ins, against a real nginx.
///
/// Each run has 2,000 lines, or 100,000 if SLUICE_SOAK is set, once over HTTP/1.1 and once over HTTP/2 with TLS.
@Suite(.enabled(if: NginxServer.isAvailable)) struct PipelineTests {
  private static let count = RunTests.lineCount

  @Test(arguments: [false, true])
  func `every line has one result and one line in the log, with every stage called`(
    _ isSecure: Bool
  ) async throws {
    let pipeline = try await ShippedPipeline(isSecure: isSecure)
    let result = try await Tool.run(
      "run", "-c", pipeline.file, input: ShippedPipeline.input(0..<Self.count),
      environment: ["TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"])
    #expect(result.status == 0, "\(result.errorText)")
    let documents = try result.documents
    #expect(documents.count == Self.count)
    #expect(Set(documents.compactMap { $0.status == 200 ? $0["id"]?.integer : nil }).count == Self.count)
    let logged = try FileTree.readText(pipeline.log).split(separator: "\n").count
    #expect(logged == Self.count, "\(result.errorText)")
    for stage in ["request auth", "request edit", "issue headers"] {
      #expect(result.errorText.contains(stage), "\(stage) in \(result.errorText)")
    }
    try await pipeline.server.stop()
    let received = pipeline.server.accessLog
    #expect(received.count == Self.count)
    let version = isSecure ? "HTTP/2.0" : "HTTP/1.1"
    #expect(
      received.allSatisfy { $0.hasPrefix(version) && $0.contains("Bearer t0k 00-0af7651916cd43dd8448eb211c80319c-") })
  }

  @Test(arguments: [false, true])
  func `if the server is killed half-way, every line has its result and its log line, and the status is 1`(
    _ isSecure: Bool
  ) async throws {
    let pipeline = try await ShippedPipeline(isSecure: isSecure)
    let running = try Tool.start("run", "-q", "--concurrency", "16", "-c", pipeline.file)
    let half = Self.count / 2
    try running.write(ShippedPipeline.input(0..<half))
    try await running.waitForOutput(containing: "{\"id\":\(Self.count / 4),", upTo: .seconds(120))
    try await pipeline.server.kill()
    running.writeAndClose(Array(ShippedPipeline.input(half..<Self.count).utf8))
    let result = try await running.wait()
    #expect(result.status == 1, "\(result.errorText)")
    let documents = try result.documents
    #expect(documents.count == Self.count)
    #expect(Set(documents.compactMap { $0["id"]?.integer }) == Set((0..<Self.count).map(Int64.init)))
    #expect(documents.allSatisfy { ($0.status == 200) == ($0["error"] == nil) })
    #expect(documents.contains { $0.status == 200 } && documents.contains { $0.errorCode == "connect" })
    let logged = try FileTree.readText(pipeline.log).split(separator: "\n").count
    #expect(logged == Self.count, "\(result.errorText)")
  }

  /// Sends 10,000 lines after the first 2,000, or 98,000 with SLUICE_SOAK.
  @Test(arguments: [false, true])
  func `memory does not grow with the number of lines`(_ isSecure: Bool) async throws {
    let pipeline = try await ShippedPipeline(isSecure: isSecure)
    let running = try Tool.start("run", "-q", "-c", pipeline.file, "-o", "/dev/null")
    let facts = ProcessFacts(of: running.processID)
    try running.write(ShippedPipeline.input(0..<2_000))
    // A pipe holds less than a block. When the next block has been written, most lines of the previous blocks are done.
    let blocks = Tool.isSoak ? 49 : 5
    var early = 0
    for block in 1...blocks {
      try running.write(ShippedPipeline.input(block * 2_000..<(block + 1) * 2_000))
      if block == 1 { early = try #require(facts.peakResidentBytes) }
    }
    let late = try #require(facts.peakResidentBytes)
    running.closeInput()
    #expect(try await running.wait().status == 0)
    #expect(Sanitizer.isOn || late - early < 8 << 20, "\(early >> 20) MiB, then \(late >> 20)")
  }
}
