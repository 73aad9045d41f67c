import Glibc
import SluiceAssembly
import SluiceEngine
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Releases on probation, and returns to older ones.
@Suite struct ProbationTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  private static let sluice = BuiltProducts.executable("sluice")

  /// A command with an engine that has served one request, and waits for more.
  private func running() async throws -> (RunningCommand, EmbeddedServer) {
    let echo = try EmbeddedServer { request in .text(request.value(of: "x-build") ?? "none") }
    let command = try Command(Self.sluice, ["run", "-q", "-c", try machine.configurationFile()]).start()
    try command.write("{\"url\": \"\(echo.baseURL)/\"}\n")
    try await command.waitForOutput(containing: "\n")
    return (command, echo)
  }

  /// Release 1 has passed its probation, and release 2 waits for a process.
  private func prepareSecond() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.swap.probation?.duration = .milliseconds(1) }) { _ in
      try await machine.wait(for: "passed")
    }
    try await releases.publish("1.1")
    try await machine.installs(2)
  }

  @Test func `a process that ends uncleanly on probation takes its release with it`() async throws {
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

  /// A container whose first process does not wait for others keeps them for ever.
  @Test func `a process that has ended counts as ended before its parent has noticed`() async throws {
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

  /// Whoever stops a service kills it when it takes too long.
  @Test func `a process that is killed after it was asked to end does not end a probation`() async throws {
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

  /// A power failure is not the fault of a release.
  @Test func `a machine that goes down on probation begins it again`() async throws {
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

  /// There is nothing to try: the engine continues with the build that it has.
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
  func `a process that ends in order on probation leaves it to the next`(isInterrupted: Bool) async throws {
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

  @Test func `a process that fails its requests and crashes is not started again with the release`() async throws {
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

  /// `sluice send` serves one request, and takes no part in probations.
  @Test func `a command that only uses what is installed does not end a probation`() async throws {
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

  /// A wrong option, or a file that cannot be opened, is not a fault of the release.
  @Test(arguments: ["tls", "output", "control"])
  func `a start that fails for another reason does not end a probation`(reason: String) async throws {
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

  // MARK: Returns

  @Test func `a release from which a command has returned is not installed again by itself`() async throws {
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

  @Test func `a command does not return to a build that was revoked in between`() async throws {
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

  @Test func `a probation that fails does not return to a build that was revoked in between`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      for _ in 0..<10 { _ = try await running.build() }
      let revoked = try await releases.target("1.0").sha256
      try await releases.publish("1.1-fails", revoking: [revoked])
      let first = await running.updater.check()
      #expect(first.action == .installed, "\(first)")
      // There is nothing to return to, so there is no probation.
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

  @Test func `a revoked build stops serving even if the older one cannot be loaded`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.swap.probation?.duration = .milliseconds(1) }) { running in
      try await machine.wait(for: "passed")
      try await releases.publish("1.1")
      let first = await running.updater.check()
      #expect(first.action == .installed, "\(first)")
      // The engine refuses it for another reason than the updater.
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
