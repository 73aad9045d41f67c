import Glibc
import SluiceServer
import SluiceTestKit
import Testing

/// Where the control socket is, what happens to a socket that an ended engine left, and how `sluice ctl` finds a
/// socket.
@Suite struct ControlSocketTests {
  private func start(_ arguments: [String], runtime: String? = nil) throws -> RunningCommand {
    try Command(Tool.path, ["run", "--no-progress"] + arguments, environment: environment(runtime)).start()
  }

  private func ctl(_ arguments: String..., runtime: String) async throws -> CommandResult {
    try await Command.run(Tool.path, ["ctl"] + arguments, environment: environment(runtime))
  }

  private func environment(_ runtime: String?) -> [String: String?] {
    Tool.cleared.merging(["XDG_RUNTIME_DIR": runtime]) { $1 }
  }

  private func end(_ running: RunningCommand) async throws -> CommandResult {
    running.closeInput()
    return try await running.wait(upTo: Patience.limit)
  }

  @Test func `there is no socket unless it is requested`() async throws {
    let folder = try TemporaryDirectory()
    let result = try await end(start([], runtime: folder.path))
    #expect(result.status == 0 && !result.errorText.contains("control"))
    #expect(FileTree.names(in: folder.path).isEmpty)
  }

  @Test func `ctl finds the only engine, lists several engines, and fails without an engine`() async throws {
    let folder = try TemporaryDirectory()
    let none = try await ctl("status", runtime: folder.path)
    #expect(none.status == 2 && none.errorText.contains("no engine listens at a control socket in \(folder.path)"))
    let first = try start(["--control"], runtime: folder.path)
    try await first.waitForError(containing: "control socket: \(folder.path("sluice/\(first.processID).sock"))")
    let found = try await ctl("status", runtime: folder.path)
    #expect(found.status == 0 && found.outputText.contains("process \(first.processID)"), "\(found)")
    let file = try folder.write("{}", to: "second.json")
    let second = try start(["--control", "-c", file], runtime: folder.path)
    try await second.waitForError(containing: "control socket: ")
    let several = try await ctl("status", runtime: folder.path)
    #expect(several.status == 2 && several.errorText.contains("2 engines run"), "\(several)")
    #expect(several.errorText.contains("--socket PATH"), "\(several.errorText)")
    #expect(several.errorText.contains("(process \(first.processID)): no configuration file, since 2"))
    #expect(several.errorText.contains("(process \(second.processID)): \(file), since 2"), "\(several.errorText)")
    for running in [first, second] {
      #expect(several.errorText.contains("\(running.processID).sock (process \(running.processID))"))
      #expect(try await end(running).status == 0)
    }
    #expect(FileTree.names(in: folder.path("sluice")).isEmpty)
  }

  @Test func `a socket that kill -9 leaves behind is replaced at the next start`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("c.sock")
    let first = try start(["--control", path])
    try await first.waitForError(containing: "control socket: ")
    first.send(signal: SIGKILL)
    _ = try await first.wait()
    #expect(UnixSocket.find(at: path) == .abandoned)
    let nobody = try await Tool.run("ctl", "status", "--socket", path)
    #expect(nobody.status == 2)
    #expect(nobody.errorText.contains("no engine at \(path): the socket is left from an engine"), "\(nobody.errorText)")
    let second = try start(["--control", path])
    try await second.waitForError(containing: "control socket: ")
    #expect(try await Tool.run("ctl", "status", "--socket", path).status == 0)
    #expect(try await end(second).status == 0)
    #expect(UnixSocket.find(at: path) == .nothing)
  }

  @Test func `a socket that an ended engine left in the user's folder is named by ctl, and removed at the next start`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let first = try start(["--control"], runtime: folder.path)
    try await first.waitForError(containing: "control socket: ")
    let left = folder.path("sluice/\(first.processID).sock")
    first.send(signal: SIGKILL)
    _ = try await first.wait()
    let nobody = try await ctl("status", runtime: folder.path)
    #expect(nobody.status == 2)
    #expect(nobody.errorText.contains("; \(left) is left from an engine that ended"), "\(nobody.errorText)")
    let second = try start(["--control"], runtime: folder.path)
    try await second.waitForError(containing: "control socket: ")
    #expect(FileTree.names(in: folder.path("sluice")) == ["\(second.processID).sock"])
    #expect(try await end(second).status == 0)
  }

  @Test func `a second engine with the same socket path does not start, and the first engine continues`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("c.sock")
    let first = try start(["--control=\(path)"])
    try await first.waitForError(containing: "control socket: ")
    let second = try await end(start(["--control", path]))
    #expect(second.status == 2)
    #expect(second.errorText.contains("process \(first.processID) listens there"), "\(second.errorText)")
    #expect(try await Tool.run("ctl", "status", "--socket", path).status == 0)
    #expect(try await end(first).status == 0)
  }

  @Test func `the configuration can request a socket too, and the option has priority`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"control": "own.sock"}"#, to: "c.json")
    let own = try start(["-c", file])
    try await own.waitForError(containing: "control socket: \(folder.path("own.sock"))")
    #expect(try await end(own).status == 0)
    let other = try start(["-c", file, "--control", folder.path("other.sock")])
    try await other.waitForError(containing: "control socket: \(folder.path("other.sock"))")
    // A reload of the same file must not fail because of keys that are read only at the start.
    other.send(signal: SIGHUP)
    try await other.waitForError(containing: "reload 1: ")
    #expect(!other.errorSoFar.contains("refused"), "\(other.errorSoFar)")
    #expect(try await end(other).status == 0)
    let byName = try folder.write(#"{"control": true}"#, to: "d.json")
    let named = try start(["-c", byName], runtime: folder.path)
    try await named.waitForError(containing: "control socket: \(folder.path("sluice/\(named.processID).sock"))")
    named.send(signal: SIGTERM)
    #expect(try await named.wait(upTo: Patience.limit).status == 143)
    #expect(FileTree.names(in: folder.path("sluice")).isEmpty)
  }

  @Test func `metrics are served on a port of this machine while the run lasts`() async throws {
    let running = try start(["--metrics-port", "0"])
    try await running.waitForError(containing: "/metrics\n")
    let line = try #require(running.errorSoFar.split(separator: "\n").first { $0.hasPrefix("sluice: metrics: ") })
    let url = String(line.dropFirst("sluice: metrics: ".count))
    #expect(url.hasPrefix("http://127.0.0.1:"))
    let metrics = try await Tool.run("send", url)
    #expect(metrics.outputText.contains("\nsluice_engine_active_transactions 0\n"), "\(metrics)")
    let port = url.drop { !$0.isNumber }.split(separator: ":")[1].prefix { $0.isNumber }
    let taken = try await end(start(["--metrics-port", String(port)]))
    #expect(taken.status == 2 && taken.errorText.contains("--metrics-port: cannot listen on 127.0.0.1:\(port)"))
    #expect(try await end(running).status == 0)
    #expect(try await Tool.run("send", url).status == 7)
  }

  @Test(arguments: ["link", "file", "none/c.sock"]) func `an unsuitable path ends the run with status 2`(_ name: String)
    async throws
  {
    let folder = try TemporaryDirectory()
    #expect(symlink(folder.path("elsewhere"), folder.path("link")) == 0)
    try folder.write("precious", to: "file")
    let result = try await end(start(["--control", folder.path(name)]))
    #expect(result.status == 2 && result.errorText.contains("control: cannot listen on \(folder.path(name))"))
    #expect(try FileTree.readText(folder.path("file")) == "precious")
  }

  @Test func `a runtime folder of another user is not used`() async throws {
    let folder = try TemporaryDirectory()
    try folder.makeFolder("sluice")
    chmod(folder.path("sluice"), 0o755)
    let result = try await end(start(["--control"], runtime: folder.path))
    #expect(result.status == 2 && result.errorText.contains("not belong to this user alone"), "\(result.errorText)")
  }

  @Test func `without a configuration file SIGHUP ends the run`() async throws {
    let folder = try TemporaryDirectory()
    let running = try start(["--control", folder.path("c.sock")])
    try await running.waitForError(containing: "control socket: ")
    running.send(signal: SIGHUP)
    #expect(try await running.wait().ending == .signalled(SIGHUP))
  }

  @Test(arguments: [
    ["ctl"], ["ctl", "sing"], ["ctl", "status", "a"], ["ctl", "notify"], ["ctl", "notify", "a", "{}", "b"],
    ["ctl", "status", "--socket", "/nowhere/a.sock"], ["ctl", "status", "--socket", "/"],
  ])
  func `ctl ends with different statuses for wrong usage and for a refusal`(_ arguments: [String]) async throws {
    let result = try await Command.run(Tool.path, arguments, environment: Tool.cleared)
    #expect(result.status == 2 && !result.errorText.isEmpty, "\(result)")
  }
}
