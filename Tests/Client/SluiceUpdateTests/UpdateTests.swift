import Sluice
import SluiceJSON
import SluiceMessages
import SluiceUpdate
import SluiceUpdateRules
import Testing

@Suite struct UpdateTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  @Test func `an engine without an installed release installs the first one at its start`() async throws {
    try await releases.publish("1.0")
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.0")
    #expect(try machine.status()["installed"]?.integer == 1)
  }

  @Test func `a new release serves new requests`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      try await releases.publish("1.1")
      let result = await running.updater.check()
      #expect(result.action == .installed && result.release == 2, "\(result)")
      #expect(try await running.build() == "1.1")
      let again = await running.updater.check()
      #expect(again.action == .none, "\(again)")
    }
  }

  @Test func `a release that fails its probation is rolled back, and its build is refused`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      for _ in 0..<10 { _ = try await running.build() }
      try await releases.publish("1.1-fails")
      #expect(await running.updater.check().action == .installed)
      for _ in 0..<10 { _ = await running.failure() }
      try await machine.wait(for: "returned")
      let status = try machine.status()
      #expect(status["installed"]?.integer == 1)
      #expect(status["held"]?["release"]?.integer == 2)
      #expect(status["held"]?["reason"]?.string?.contains("failed in service") == true)
      #expect(status["refused"]?.count == 1)
      #expect(await running.updater.check().action == .none)
      #expect(try await running.build() == "1.0")
    }
  }

  @Test func `a revoked build stops serving, and a newer release with the older build replaces it`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      try await releases.publish("1.1")
      #expect(await running.updater.check().action == .installed)
      let revoked = try await releases.target("1.1").sha256
      try await releases.publish("1.0", revoking: [revoked])
      let result = await running.updater.check(.configured)
      #expect(result.action == .installed && result.release == 3, "\(result)")
      #expect(try await running.build() == "1.0")
    }
  }

  @Test func `if a revoked build has no replacement, its stages fail requests`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let revoked = try await releases.target("1.0").sha256
      try releases.publish { draft in
        draft.targets = []
        draft.revoked = [revoked]
      }
      let result = await running.updater.check()
      #expect(result.action == .withdrawn, "\(result)")
      // These are more requests than a probation needs. No rollback follows, because the previous snapshot has the
      // revoked build.
      for _ in 0..<20 { #expect(await running.failure() == .pluginDisabled) }
      #expect(try machine.status()["disabled"]?["stamp"]?.string?.contains("revoked") == true)
      try await releases.publish("1.1")
      #expect(await running.updater.check().action == .installed)
      #expect(try await running.build() == "1.1")
    }
  }

  @Test func `if a release fails, the engine does not return to a build that this release revokes`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let revoked = try await releases.target("1.0").sha256
      for _ in 0..<10 { _ = try await running.build() }
      try await releases.publish("1.1-fails", revoking: [revoked])
      #expect(await running.updater.check().action == .installed)
      for _ in 0..<20 { #expect(await running.failure() != nil) }
      #expect(await running.updater.check().action == .none)
      #expect(await running.failure() != nil)
    }
  }

  @Test func `a running engine tries a refused release again if a command demands it`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      for _ in 0..<10 { _ = try await running.build() }
      try await releases.publish("1.1-fails")
      #expect(await running.updater.check().action == .installed)
      for _ in 0..<10 { _ = await running.failure() }
      try await machine.wait(for: "returned")
      let held = await running.updater.check()
      #expect(held.action == .none, "\(held)")
      let again = await running.updater.check(.immediate, retriesHeld: true)
      #expect(again.action == .installed && again.release == 2, "\(again)")
      #expect(await running.failure() != nil)
    }
  }
}
