import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// An engine that is killed during a swap leaves nothing behind that disturbs the next engine.
struct KilledSwapTests {
  /// Each argument names the step at which the old build stops, and the step at which the new build stops.
  @Test(arguments: [
    ("NEVER", "TRIAL"), ("NEVER", "CONSTRUCTOR"), ("NEVER", "ENTRY"), ("SAVE", "NEVER"), ("NEVER", "CREATE"),
    ("NEVER", "LOAD"), ("NEVER", "ACTIVATE"), ("DEACTIVATE", "NEVER"), ("DESTROY", "NEVER"),
  ])
  func `kill -9 at a step of a swap leaves a valid store, and the next start serves`(
    _ old: String, _ new: String
  ) async throws {
    let scene = try KilledSwapScene()
    try await scene.install("old", at: old)
    let first = try scene.start()
    #expect(try await scene.build(of: first) == "old")
    try await scene.install("new", at: new)
    try scene.folder.write("", to: "armed")
    let swap = try Command(Tool.path, ["ctl", "swap", "--socket", scene.socket], environment: Tool.cleared).start()
    try #require(await Readiness.hasWritten(scene.folder.path("stopped"), by: first), "\(first.errorSoFar)")
    let stopped = try #require(pid_t(try FileTree.readText(scene.folder.path("stopped")).dropLast()))
    #expect((stopped == first.processID) == (new != "TRIAL"))
    first.send(signal: SIGKILL)
    _ = try await first.wait()
    // If the new build already served, `ctl` may have got its answer before the kill.
    let status = try await swap.wait(upTo: Patience.limit).status
    #expect(status == 1 || status == 0 && ["DEACTIVATE", "DESTROY"].contains(old))
    // The process of the trial ends together with its engine.
    try await scene.waitForEnd(of: stopped)
    unlink(scene.folder.path("armed"))
    try await scene.expectWholeStore()
    let second = try scene.start()
    #expect(try await scene.build(of: second) == "new")
    second.closeInput()
    let result = try await second.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    try await scene.expectWholeStore()
  }

  @Test func `kill -9 while a new copy is written leaves a valid store, twenty times`() async throws {
    let scene = try KilledSwapScene()
    for number in 0..<20 {
      try await scene.install("\(number)", at: "NEVER")
      let running = try scene.start()
      #expect(try await scene.build(of: running) == "\(number)")
      try await scene.install("\(number) again", at: "NEVER")
      let before = FileTree.names(in: scene.folder.path("store"))
      let swap = try Command(Tool.path, ["ctl", "swap", "--socket", scene.socket], environment: Tool.cleared).start()
      while FileTree.names(in: scene.folder.path("store")) == before, !swap.hasEnded { sched_yield() }
      running.send(signal: SIGKILL)
      _ = try await running.wait()
      _ = try await swap.wait(upTo: Patience.limit)
      try await scene.expectWholeStore()
    }
  }
}

/// A folder with a configuration, a library that stops, a store, and a server.
private struct KilledSwapScene {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  var socket: String { folder.path("c.sock") }

  init() throws {
    folder = try TemporaryDirectory()
    server = try LoopbackServer { request in .text(request.headers.first("x-build") ?? "none") }
    try folder.write(
      #"{"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "store": "store", "swap": {"probation": {"duration": "0s"}}}"#,
      to: "c.json")
  }

  func install(_ build: String, at place: String) async throws {
    let product = try await PluginCompiler.compile(
      "stops", defines: ["PLACE=\"\(folder.path)\"", "BUILD=\"\(build)\"", "NEVER=-1", "AT=\(place)"])
    try withExtendedLifetime(product) {
      try StampedLibrary.install(FileTree.read(product.path), at: folder.path("a.so"))
    }
  }

  func start() throws -> RunningCommand {
    try Tool.start("run", "-q", "-c", folder.path("c.json"), "--control", socket)
  }

  /// Sends one request, and returns the name of the build that handled it.
  func build(of running: RunningCommand) async throws -> String? {
    try running.write(#"{"url": "\#(server.baseURL)/"}"# + "\n")
    try await running.waitForOutput(containing: "\n")
    let line = running.outputSoFar.prefix { !$0.isNewline }
    return try JSONValue(parsing: Array(line.utf8))["response"]?["body"]?["text"]?.string
  }

  func waitForEnd(of process: pid_t) async throws {
    let end = ContinuousClock.now + Patience.limit
    while kill(process, 0) == 0 {
      guard ContinuousClock.now < end else { throw TestKitError("process \(process) is still there") }
      await Task.yield()
    }
  }

  /// Checks that each copy in the store has the SHA-256 that its path names.
  func expectWholeStore() async throws {
    let store = folder.path("store")
    for hash in FileTree.names(in: store) where hash.utf8.count == 64 {
      for generation in FileTree.names(in: "\(store)/\(hash)") {
        let result = try await Command.run("sha256sum", ["\(store)/\(hash)/\(generation)/plugin.so"])
        #expect(result.outputText.hasPrefix(hash), "\(result)")
      }
    }
  }
}
