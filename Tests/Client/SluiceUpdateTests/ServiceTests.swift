import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Looks by schedule and by notification, and releases that are staged for the next start.
@Suite struct ServiceTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  @Test func `a staged release is installed at the next start`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.update?.immediate = false }) { running in
      try await releases.publish("1.1")
      let first = await running.updater.check()
      #expect(first.action == .staged && first.release == 1, "\(first)")
      let second = await running.updater.check()
      #expect(second.action == .none, "\(second)")
      let build = try await running.build()
      #expect(build == "1.0")
    }
    // The next start needs no server.
    let requests = releases.requestedPaths.count
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.1" && releases.requestedPaths.count == requests)
  }

  @Test func `a staged release that has expired is not installed`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let staged = try await machine.look(.later)
    #expect(staged.action == .staged, "\(staged)")
    machine.clockError.withLock { $0 = 100 * 3600 }
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.0")
  }

  @Test func `if the engine ends during a look, the look is not recorded as a failure`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    let before = try machine.status()["lastCheck"]
    let reached = releases.withhold(ReleaseServer.timestampPath)
    try await UpdatedEngine.run(on: machine, { $0.update?.every = .milliseconds(20) }) { _ in
      try await reached.wait(for: "the request of the timestamp")
    }
    releases.release()
    #expect(try machine.status()["lastCheck"] == before)
  }

  @Test func `a look by schedule installs a release`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.update?.every = .milliseconds(20) }) { running in
      try await releases.publish("1.1")
      try await machine.lines.wait(for: "release 2") { lines in
        lines.contains { $0.contains("release 2 ") && $0.contains(" installed: ") }
      }
      // A failure that repeats is logged once.
      releases.intercept { _, _ in .text("gone", status: 503) }
      try await machine.wait(for: "failed")
    }
    #expect(machine.lines.value.count { $0.contains(" failed: ") } == 1, "\(machine.lines.value)")
  }

  @Test func `an engine can end while its look waits for a mirror`() async throws {
    try await releases.publish("1.0")
    let limits = MirrorLimits(document: .seconds(3600), build: .seconds(3600), idle: .seconds(3600))
    try await UpdatedEngine.run(on: machine, limits: limits, { $0.update?.every = .milliseconds(20) }) { _ in
      try await releases.publish("1.1")
      let reached = releases.withhold(ReleaseServer.targetPath(try await releases.target("1.1").sha256))
      try await reached.wait(for: "the request of the build")
    }
    try machine.expectInstalled(1)
  }

  @Test func `an engine whose plugin is switched off loads a release that another process has installed`() async throws
  {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let revoked = try await releases.target("1.0").sha256
      try releases.publish { draft in
        draft.targets = []
        draft.revoked = [revoked]
      }
      let withdrawn = await running.updater.check()
      #expect(withdrawn.action == .withdrawn, "\(withdrawn)")
      try await releases.publish("1.1")
      try await machine.installs(3)
      let followed = await running.updater.check()
      #expect(followed.action == .none && followed.release == 3, "\(followed)")
      let build = try await running.build()
      #expect(build == "1.1")
    }
  }

  // MARK: Notifications

  private static func outcome(
    _ payload: JSONValue, _ running: UpdatedEngine, topic: String = "ota_update"
  ) async -> NotificationResult {
    await running.engine.notify(topic: topic, payload: payload)
  }

  @Test func `a notification of a release goes to the updater, and no plugin gets it`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.update?.immediate = false }) { running in
      let nothing = await Self.outcome([:], running)
      #expect(nothing.taker == .updater && nothing.outcome == .ended(.noData), "\(nothing)")
      try await releases.publish("1.1")
      let staged = await Self.outcome(["version": 2, "immediate": false], running)
      #expect(staged.outcome == .ended(.newData), "\(staged)")
      try machine.expectInstalled(1)
      let installed = await Self.outcome(["version": 2, "immediate": true], running)
      #expect(installed.outcome == .ended(.newData), "\(installed)")
      let build = try await running.build()
      #expect(build == "1.1")
      let known = await Self.outcome(["version": 1, "immediate": .null, "more": [1]], running)
      #expect(known.outcome == .ended(.noData), "\(known)")
    }
  }

  @Test func `the updater does not take notifications with other topics`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let seen = Watched<[String]>([])
      running.engine.setNotificationHandler { topic, _ in
        seen.update { $0.append(topic) }
        return .newData
      }
      for topic in ["ota_updates", "OTA_UPDATE", "", "config-changed"] {
        let result = await Self.outcome([:], running, topic: topic)
        #expect(result.taker == .program, "\(topic): \(result)")
      }
      _ = await Self.outcome([:], running)
      #expect(seen.value == ["ota_updates", "OTA_UPDATE", "", "config-changed"])
    }
  }

  @Test func `a malformed notification fails without a request to the server`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let requests = releases.requestedPaths.count
      let payloads: [JSONValue] = [
        [], "2", 2, .null, ["version": "2"], ["version": 0], ["version": -1], ["version": 1.5], ["immediate": 1],
        ["immediate": "true"], ["version": [2]], ["version": true],
      ]
      for payload in payloads {
        let result = await Self.outcome(payload, running)
        #expect(result.taker == .updater && result.outcome == .ended(.failed), "\(payload): \(result)")
      }
      #expect(releases.requestedPaths.count == requests)
    }
  }

  @Test func `if the server does not have the release of a notification, the notification fails`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let result = await Self.outcome(["version": 2], running)
      #expect(result.outcome == .ended(.failed), "\(result)")
      let highest = await Self.outcome(["version": JSONValue(Int64.max)], running)
      #expect(highest.outcome == .ended(.failed), "\(highest)")
      let status = try machine.status()
      #expect(status["lastCheck"]?["message"]?.string?.contains("was announced") == true, "\(status)")
      releases.intercept { _, _ in .text("gone", status: 503) }
      let unreachable = await Self.outcome(["version": 1], running)
      #expect(unreachable.outcome == .ended(.failed), "\(unreachable)")
    }
  }
}
