import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Signed releases that begin as canaries.
@Suite struct CanaryReleaseTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  private static func canary(_ configuration: inout Configuration) {
    var settings = CanarySettings()
    settings.steps = [50]
    settings.hold = .seconds(3600)
    configuration.swap.canary = settings
    configuration.swap.probation = nil
  }

  /// Installs release 1 at the start, and then release 2 as a canary.
  private func run(_ body: (UpdatedEngine) async throws -> Void) async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, Self.canary) { running in
      try await machine.wait(for: "passed")
      try await releases.publish("1.1")
      let result = await running.updater.check(.immediate)
      #expect(result.action == .installed && result.release == 2, "\(result)")
      #expect(await running.engine.status.canary?.settings.steps == [50])
      #expect(try await builds(of: running) == ["1.0", "1.1"])
      try await body(running)
    }
  }

  private func builds(of running: UpdatedEngine) async throws -> Set<String> {
    var builds: Set<String> = []
    for _ in 0..<40 { builds.insert(try await running.build()) }
    return builds
  }

  private func waitForStatus(_ what: String, _ isMet: (JSONValue) -> Bool) async throws {
    let isDone = try await eventually { (try? machine.status()).map(isMet) ?? false }
    let status = try machine.status()
    #expect(isDone, "\(what): \(status)")
  }

  @Test func `a release passes when its canary is promoted`() async throws {
    try await run { running in
      #expect(try machine.status()["probation"]?["release"] == 2)
      try await running.engine.promoteCanary()
      try await waitForStatus("release 2 passes") { $0["good"]?.elements.contains(2) == true && $0["probation"] == nil }
      #expect(try await builds(of: running) == ["1.1"])
    }
  }

  @Test func `a release whose canary fails is held, and its builds are refused`() async throws {
    try await run { running in
      try await running.engine.abortCanary()
      try await waitForStatus("release 2 is held") { $0["held"]?["release"] == 2 }
      let status = try machine.status()
      #expect(status["installed"] == 1 && status["refused"]?.count == 1, "\(status)")
      #expect(status["held"]?["reason"] == "it failed in service: ended by command")
      #expect(try await builds(of: running) == ["1.0"])
      #expect(await running.updater.check(.immediate).action == .none)
    }
  }

  @Test func `a second release waits for the end of the canary`() async throws {
    try await run { running in
      try await releases.publish("1.2")
      let result = await running.updater.check(.immediate)
      #expect(result.action == .staged, "\(result)")
      let again = await running.updater.check(.immediate)
      #expect(again.message == "release 3 waits for the end of the engine's canary", "\(again)")
      #expect(try await builds(of: running) == ["1.0", "1.1"])
      try await running.engine.promoteCanary()
      try await waitForStatus("release 2 passes") { $0["good"]?.elements.contains(2) == true }
      #expect(await running.updater.check(.immediate).action == .installed)
      #expect(try await builds(of: running) == ["1.1", "1.2"])
    }
  }

  @Test func `a release that revokes the build beside a canary ends the canary and serves at once`() async throws {
    try await run { running in
      let revoked = try await releases.target("1.0").sha256
      try await releases.publish("1.2", revoking: [revoked])
      let result = await running.updater.check()
      #expect(result.release == 3, "\(result)")
      #expect(await running.engine.status.canary == nil)
      #expect(try await builds(of: running) == ["1.2"])
    }
  }

  @Test func `a release that revokes the serving build is no canary beside it`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, Self.canary) { running in
      let revoked = try await releases.target("1.0").sha256
      try await releases.publish("1.1", revoking: [revoked])
      #expect(await running.updater.check(.immediate).action == .installed)
      #expect(await running.engine.status.canary == nil)
      #expect(try await builds(of: running) == ["1.1"])
    }
  }

  @Test func `a rollback during a canary returns to the release before it`() async throws {
    try await run { running in
      try await running.engine.rollback()
      try await waitForStatus("release 2 is held") {
        $0["held"]?["release"] == 2 && $0["installed"] == 1 && $0["refused"]?.count == 0
      }
    }
  }

  @Test func `if an engine ends during the canary, the next one begins the canary again`() async throws {
    try await run { _ in }
    #expect(try machine.status()["probation"]?["release"] == 2)
    try await UpdatedEngine.run(on: machine, Self.canary) { running in
      let isRunning = try await eventually { await running.engine.status.canary != nil }
      #expect(isRunning)
      #expect(try machine.status()["probation"]?["release"] == 2)
      #expect(try await builds(of: running) == ["1.0", "1.1"])
      try await running.engine.promoteCanary()
      try await waitForStatus("release 2 passes") { $0["good"]?.elements.contains(2) == true }
    }
    #expect(try await UpdatedEngine.run(on: machine, Self.canary) { try await builds(of: $0) } == ["1.1"])
  }
}
