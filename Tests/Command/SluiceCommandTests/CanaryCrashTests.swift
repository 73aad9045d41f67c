import Glibc
import SluiceTestKit
import SluiceTestServers
import Testing

/// A canary that crashes the process.
@Suite struct CanaryCrashTests {
  @Test func `after a crash in a canary, the next start serves the old build, refuses the new one and names it`()
    async throws
  {
    let run = try await ControlledRun(
      swap: #"{"probation": {"duration": "0s"}, "canary": {"steps": [50], "hold": "1h"}}"#,
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    let path = run.folder.path("a.so")
    try await StampedLibrary.inC(.crashesLater).install(2, at: path)
    let swap = try await run.ctl("swap", "a")
    try #require(swap.status == 0, "\(swap)")
    let flow = run.flow()
    let result = try await run.running.wait(upTo: Patience.limit)
    run.stopFlow()
    _ = try? await flow.value
    #expect(result.ending == .signalled(SIGABRT), "\(result.errorText)")
    // The second start finds the refusal that the first one has stored.
    for _ in 1...2 {
      let (stamps, errors) = try await Self.serve(run)
      #expect(stamps == [1, 1, 1, 1, 1])
      #expect(errors.contains("plugin \"a\": the build at \(path) ("), "\(errors)")
      #expect(
        errors.contains(") is refused: its process ended during its canary, at 50 % of the new transactions; build "),
        "\(errors)")
    }
    try run.library.install(3, at: path)
    let (stamps, errors) = try await Self.serve(run)
    #expect(stamps == [3, 3, 3, 3, 3] && errors == "")
    run.server.stop()
  }

  /// The stamps of five requests that a new process runs, and what it writes to standard error.
  private static func serve(_ run: ControlledRun) async throws -> ([Int?], String) {
    let line = #"{"url": "\#(run.server.baseURL)/"}"# + "\n"
    let result = try await Tool.run(
      "run", "-q", "-c", run.folder.path("c.json"), input: String(repeating: line, count: 5))
    #expect(result.status == 0, "\(result.errorText)")
    return (try result.documents.map(\.stamp), result.errorText)
  }
}
