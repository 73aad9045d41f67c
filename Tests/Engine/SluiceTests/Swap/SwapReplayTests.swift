import Sluice
import SluiceMessages
import SluicePipeline
import SluiceReplay
import SluiceTestKit
import Testing

@Suite struct SwapReplayTests {
  @Test func `the builds before and after a swap are replayed from the engine's copies, in Swift too`() async throws {
    let library = try StampedLibrary.inSwift()
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    var request = Request(url: try fixture.url)
    request.wantsRecording = true
    let recording = try #require(await fixture.engine.transaction(request).recording)
    let old = fixture.engine.libraryCopies
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let new = fixture.engine.libraryCopies
    let text = """
      {"plugins": {"a": {"library": "a.so", "config": {"header": "x-stamp-a"}}}, "request": ["a"], "response": ["a"],
       "store": "store"}
      """
    let file = try fixture.folder.write(text, to: "replay.json")
    var replay = try #require(Replay(helper: BuiltProducts.executable("sluice")))
    replay.deadline = Patience.limit
    let report = try await replay.compare(
      [recording], old: Replay.Build(file: file, libraries: old), new: Replay.Build(file: file, libraries: new))
    let differences = report.comparisons.flatMap(\.differences).map { difference in
      "\(difference.stage ?? "result"), \(difference.subject): \(difference.old ?? "-") → \(difference.new ?? "-")"
    }
    #expect(
      differences == ["a, header x-stamp-a: 1 → 2", "a, header x-stamp-a: 1 → 2", "result, header x-stamp-a: 1 → 2"],
      "\(report)")
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }
}
