import Glibc
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

/// The command is killed at each step of an update. Either the old or the new release is then installed, and the next
/// update installs the new one.
@Suite struct CrashTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  private static func update(_ word: String, _ machine: UpdatedMachine) throws -> Command {
    Command(BuiltProducts.executable("sluice"), ["update", word, "--json", "-c", try machine.configurationFile()])
  }

  /// Checks, after a kill, that the status can be read and that an update installs the release.
  private static func expectRecovery(_ machine: UpdatedMachine, _ release: Int64) async throws {
    let status = try await update("status", machine).start().wait()
    #expect(status.ending == .exited(0), "\(status.errorText)")
    let document = try JSONValue(parsing: status.standardOutput)
    let installed = document["installed"]?.integer
    #expect(installed == release - 1 || installed == release, "\(document)")
    let result = try await update("apply", machine).start().wait()
    #expect(result.ending == .exited(0), "\(result.outputText) \(result.errorText)")
    try machine.expectInstalled(release)
    let link = try await Command.run("readlink", [machine.path("current")])
    #expect(link.outputText == "releases/\(release)\n")
    let build = machine.path("current/stamp.so")
    #expect(FileTree.exists(build))
  }

  @Test(arguments: ["1.root.json", "timestamp", "release", "build"])
  func `a command that is killed while it waits for a response leaves a valid state`(step: String) async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try releases.putRoot()
    try await releases.publish("1.1")
    let path =
      switch step {
      case "timestamp": ReleaseServer.timestampPath
      case "release": ReleaseServer.releasePath(2)
      case "build": ReleaseServer.targetPath(try await releases.target("1.1").sha256)
      default: ReleaseServer.rootPath(2)
      }
    let reached = releases.withhold(path)
    let running = try Self.update("apply", machine).start()
    try await reached.wait(for: path)
    running.send(signal: SIGKILL)
    let result = try await running.wait()
    #expect(result.ending == .signalled(SIGKILL))
    try machine.expectInstalled(1)
    releases.intercept(nil)
    try await Self.expectRecovery(machine, 2)
  }

  @Test func `if a command is killed during the download of a build, the next update installs the release`()
    async throws
  {
    let mirror = try RawMirror(releases)
    let machine = try UpdatedMachine(releases, url: mirror.url)
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let target = try await releases.target("1.1")
    let (path, reached) = (ReleaseServer.targetPath(target.sha256), Signal())
    mirror.set(.stops(after: Int(target.length / 2), reached: reached), for: path)
    let running = try Self.update("apply", machine).start()
    try await reached.wait(for: path)
    running.send(signal: SIGKILL)
    _ = try await running.wait()
    try machine.expectInstalled(1)
    mirror.set(nil, for: path)
    try await Self.expectRecovery(machine, 2)
  }

  /// Kills the command 12 times, or 200 times with `SLUICE_SOAK=1`. Each kill follows another response of the server,
  /// with a longer delay each time, so the kills hit different steps.
  @Test func `a command that is killed at any step leaves a valid state`() async throws {
    let count = getenv("SLUICE_SOAK") != nil ? 200 : 12
    try await releases.publish("0")
    try await machine.installs(1)
    for round in 1...count {
      try await releases.publish("\(round % 4)")
      let release = Int64(round + 1)
      let (seen, reached) = (Watched(0), Signal())
      releases.intercept { _, _ in
        // The requests are for root, timestamp, release and build. A build that is on disk is not requested.
        seen.update { $0 += 1 }
        if seen.value == round % 4 + 1 { reached.set() }
        return nil
      }
      let running = try Self.update("apply", machine).start()
      let killing = Task.detached {
        try? await reached.wait()
        for _ in 0..<round * 50 { sched_yield() }
        running.send(signal: SIGKILL)
      }
      _ = try await running.wait()
      reached.set()
      await killing.value
      releases.intercept(nil)
      try await Self.expectRecovery(machine, release)
    }
  }

  @Test func `the next update removes files that an interrupted write has left`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    let names = [".0123456789abcdef.new", ".1.link", "releases/.77.new"]
    for name in names { try machine.files.write("half", to: "installed/\(name)") }
    try await releases.publish("1.1")
    try await machine.installs(2)
    for name in names { #expect(!FileTree.exists(machine.path(name))) }
  }

  @Test func `several commands at once install a release once`() async throws {
    try await releases.publish("1.0")
    // `update` writes the configuration file, so it is called once. Otherwise a running command might read half a file.
    let command = try Self.update("apply", machine)
    let commands = try (0..<4).map { _ in try command.start() }
    for command in commands {
      let result = try await command.wait()
      #expect(result.ending == .exited(0), "\(result.outputText) \(result.errorText)")
    }
    let path = ReleaseServer.targetPath(try await releases.target("1.0").sha256)
    #expect(releases.requestCount(path) == 1)
    let history = try FileTree.readText(machine.path("history.jsonl"))
    #expect(history.split(separator: "\n").count { $0.contains(#""event":"installed""#) } == 1, "\(history)")
  }
}
