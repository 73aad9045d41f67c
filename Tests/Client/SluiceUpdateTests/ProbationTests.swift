import Glibc
import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Releases on probation, and rollbacks to older releases.
@Suite struct ProbationTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  private static let sluice = BuiltProducts.executable("sluice")

  /// Starts a command whose engine has served one request and waits for more.
  private func running() async throws -> (RunningCommand, EmbeddedServer) {
    let echo = try EmbeddedServer { request in .text(request.value(of: "x-build") ?? "none") }
    let command = try Command(Self.sluice, ["run", "-q", "-c", try machine.configurationFile()]).start()
    try command.write("{\"url\": \"\(echo.baseURL)/\"}\n")
    try await command.waitForOutput(containing: "\n")
    return (command, echo)
  }

  /// Lets release 1 pass its probation, and installs release 2, whose probation begins with the next process.
  private func prepareSecond() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.swap.probation?.duration = .milliseconds(1) }) { _ in
      try await machine.wait(for: "passed")
    }
    try await releases.publish("1.1")
    try await machine.installs(2)
  }

  @Test func `if a process ends unexpectedly on probation, its release is rolled back and refused`() async throws {
    try await prepareSecond()
    let (command, echo) = try await running()
    #expect(command.outputSoFar.contains("1.1"), "\(command.outputSoFar)")
    command.send(signal: SIGKILL)
    _ = try await command.wait()
    let result = try await machine.look()
    #expect(result.action == .none && result.release == 1, "\(result)")
    let status = try machine.status()
    #expect(status["held"]?["reason"]?.string?.contains("ended unexpectedly") == true, "\(status)")
    #expect(status["refused"]?.count == 1, "\(status)")
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.0")
    echo.stop()
  }

  /// In a container whose first process does not wait for its children, ended processes stay forever as zombies.
  @Test func `a zombie process counts as ended`() async throws {
    try await prepareSecond()
    let echo = try EmbeddedServer { request in .text(request.value(of: "x-build") ?? "none") }
    let parent = try Command(
      "sh",
      [
        "-c", "exec 3<&0; \"$0\" run -q -c \"$1\" <&3 & echo \"pid $!\"; exec sleep 600", Self.sluice,
        try machine.configurationFile(),
      ]
    ).start()
    try parent.write("{\"url\": \"\(echo.baseURL)/\"}\n")
    try await parent.waitForOutput(containing: "1.1")
    let digits = try #require(parent.outputSoFar.firstRange(of: "pid ")).upperBound
    let process = try #require(Int32(parent.outputSoFar[digits...].prefix { $0.isNumber }))
    kill(process, SIGKILL)
    let ended = try await Command.run("sh", ["-c", "until grep -q 'State:.Z' /proc/\(process)/status; do :; done"])
    #expect(ended.ending == .exited(0))
    let result = try await machine.look()
    #expect(result.action == .none && result.release == 1, "\(result)")
    parent.send(signal: SIGKILL)
    echo.stop()
  }

  /// A service manager kills a service that takes too long to stop.
  @Test func `if a process is killed after SIGTERM, the probation does not fail`() async throws {
    try await prepareSecond()
    let (asked, echo) = (Signal(), try EmbeddedServer { _ in .deferred { _ in } })
    let server = try EmbeddedServer { request in
      asked.set()
      return .text(request.value(of: "x-build") ?? "none")
    }
    let command = try Command(
      Self.sluice, ["run", "-q", "--log-level", "info", "-c", try machine.configurationFile()]
    ).start()
    try command.write("{\"url\": \"\(server.baseURL)/\"}\n{\"url\": \"\(echo.baseURL)/\"}\n")
    try await asked.wait()
    try await command.waitForOutput(containing: "1.1")
    command.send(signal: SIGTERM)
    try await command.waitForError(containing: "begins the probation again")
    command.send(signal: SIGKILL)
    let end = try await command.wait()
    #expect(end.ending == .signalled(SIGKILL))
    let result = try await machine.look()
    #expect(result.action == .none && result.release == 2, "\(result)")
    #expect(try machine.status()["refused"]?.count == 0)
    echo.stop()
    server.stop()
  }

  /// A power failure is not a failure of the release.
  @Test func `after a restart of the machine during probation, the probation begins again`() async throws {
    try await prepareSecond()
    let (command, echo) = try await running()
    command.send(signal: SIGKILL)
    _ = try await command.wait()
    echo.stop()
    let state = String(decoding: try FileTree.read(machine.path("state")), as: UTF8.self)
    let boot = try #require(state.firstRange(of: "\"boot\":\""))
    let body = state.drop { $0 != "\n" }.dropFirst()
      .replacing(state[boot.upperBound...].prefix(36), with: String(repeating: "0", count: 36))
    let hash = try ReleaseServer.hash(Array(body.utf8))
    try machine.files.write("sluice-updates 1 \(hash)\n\(body)", to: "installed/state")
    let result = try await machine.look()
    #expect(result.action == .none && result.release == 2, "\(result)")
    let status = try machine.status()
    #expect(status["probation"]?["release"]?.integer == 2 && status["refused"]?.count == 0, "\(status)")
  }

  /// The engine continues with the build that it already has.
  @Test func `a release with the same builds needs no probation`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      try await releases.publish("1.0")
      let result = await running.updater.check()
      #expect(result.action == .installed && result.release == 2, "\(result)")
      let status = try machine.status()
      #expect(status["probation"] == nil && status["good"]?.elements.map(\.integer) == [2], "\(status)")
    }
  }

  @Test(arguments: [false, true])
  func `if a process ends normally, the next one continues its probation`(isInterrupted: Bool) async throws {
    try await prepareSecond()
    for _ in 0..<2 {
      let (command, echo) = try await running()
      if isInterrupted { command.send(signal: SIGTERM) }
      command.closeInput()
      _ = try await command.wait()
      echo.stop()
      let status = try machine.status()
      #expect(status["installed"]?.integer == 2 && status["probation"]?["release"]?.integer == 2, "\(status)")
    }
    let result = try await machine.look()
    #expect(result.action == .none && result.release == 2, "\(result)")
    #expect(try machine.status()["refused"]?.count == 0)
  }

  @Test func `after a process has crashed on probation, the next process starts with the older release`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.swap.probation?.duration = .milliseconds(1) }) { _ in
      try await machine.wait(for: "passed")
    }
    try await releases.publish("1.1-crashes")
    try await machine.installs(2)
    let (command, echo) = try await running()
    try command.write("{\"url\": \"\(echo.baseURL)/crash\"}\n")
    let end = try await command.wait()
    #expect(end.ending == .signalled(SIGABRT), "\(end.ending)")
    let (next, otherEcho) = try await running()
    #expect(next.outputSoFar.contains("1.0"), "\(next.outputSoFar)")
    next.closeInput()
    _ = try await next.wait()
    echo.stop()
    otherEcho.stop()
  }

  /// `sluice send` sends one request, and does not count for probation.
  @Test func `a command that only uses the installed release does not end its probation`() async throws {
    try await prepareSecond()
    let echo = try EmbeddedServer { request in .text(request.value(of: "x-build") ?? "none") }
    for _ in 0..<2 {
      let sent = try await Command.run(
        Self.sluice, ["send", "-c", try machine.configurationFile(), "\(echo.baseURL)/"])
      #expect(sent.ending == .exited(0) && sent.outputText.contains("1.1"), "\(sent.outputText) \(sent.errorText)")
    }
    let result = try await machine.look()
    #expect(result.action == .none && result.release == 2, "\(result)")
    #expect(try machine.status()["refused"]?.count == 0)
    echo.stop()
  }

  /// An invalid option, or a file that cannot be opened, is not a failure of the release.
  @Test(arguments: ["tls", "output", "control"])
  func `if a start fails for a reason outside the release, the probation does not fail`(reason: String) async throws {
    try await prepareSecond()
    var file = try machine.configurationFile()
    if reason == "tls" {
      let broken = try FileTree.readText(file)
        .replacing("\"transport\": {", with: "\"transport\": {\"tls\": {\"ca\": \"missing.pem\"}, ")
      file = try machine.files.write(broken, to: "broken.json")
    }
    let missing = machine.files.path("missing/file")
    let option = reason == "output" ? ["-o", missing] : reason == "control" ? ["--control", missing] : []
    let failed = try await Command.run(Self.sluice, ["run", "-q", "-c", file] + option)
    #expect(failed.ending == .exited(2) || failed.ending == .exited(1), "\(failed.ending) \(failed.errorText)")
    let result = try await machine.look()
    #expect(result.action == .none && result.release == 2, "\(result)")
    let status = try machine.status()
    #expect(status["refused"]?.count == 0 && status["probation"]?["release"]?.integer == 2, "\(status)")
  }

  // MARK: Rollbacks

  @Test func `after a rollback by command the engine does not install the release again by itself`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      try await releases.publish("1.1")
      let first = await running.updater.check()
      #expect(first.action == .installed, "\(first)")
      _ = try await running.engine.rollback()
      try await machine.wait(for: "held")
      let status = try machine.status()
      #expect(status["installed"]?.integer == 1 && status["held"]?["release"]?.integer == 2, "\(status)")
      let second = await running.updater.check()
      #expect(second.action == .none && second.release == 1, "\(second)")
      let build = try await running.build()
      #expect(build == "1.0")
      try await releases.publish("1.2")
      let third = await running.updater.check()
      #expect(third.action == .installed && third.release == 3, "\(third)")
    }
  }

  @Test func `if a build was revoked meanwhile, a command cannot roll back to it`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      let revoked = try await releases.target("1.0").sha256
      try await releases.publish("1.1", revoking: [revoked])
      let first = await running.updater.check()
      #expect(first.action == .installed, "\(first)")
      await #expect(throws: SwapError.self) { try await running.engine.rollback() }
      let build = try await running.build()
      #expect(build == "1.1")
    }
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.1")
  }

  @Test func `if a release fails, the engine does not return to a build that this release revokes`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      for _ in 0..<10 { _ = try await running.build() }
      let revoked = try await releases.target("1.0").sha256
      try await releases.publish("1.1-fails", revoking: [revoked])
      let first = await running.updater.check()
      #expect(first.action == .installed, "\(first)")
      // The older build is revoked, so there is no snapshot for a rollback and no probation.
      for _ in 0..<20 {
        let failure = await running.failure()
        #expect(failure != nil && failure != .pluginDisabled)
      }
      try await releases.publish("1.2")
      let second = await running.updater.check()
      #expect(second.action == .installed, "\(second)")
      let build = try await running.build()
      #expect(build == "1.2")
    }
  }

  @Test func `a revoked build stops serving even if the older build cannot be loaded`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.swap.probation?.duration = .milliseconds(1) }) { running in
      try await machine.wait(for: "passed")
      try await releases.publish("1.1")
      let first = await running.updater.check()
      #expect(first.action == .installed, "\(first)")
      // Here the engine refuses the older build, not the updater.
      let hashes = (try await releases.target("1.0").sha256, try await releases.target("1.1").sha256)
      try running.engine.refuse(hash: hashes.0, because: "test")
      try releases.publish { draft in
        draft.targets = []
        draft.revoked = [hashes.1]
      }
      _ = await running.updater.check()
      let failure = await running.failure()
      #expect(failure == "plugin_disabled")
    }
  }
}
