import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice run`: the effect of each SIGHUP.
@Suite struct HangUpTests {
  @Test func `relative URLs are resolved against the base URL of the newest configuration`() async throws {
    let (first, second) = (try LoopbackServer(), try LoopbackServer())
    defer { for server in [first, second] { server.stop() } }
    let folder = try TemporaryDirectory()
    func write(_ server: LoopbackServer) throws -> String {
      try folder.write(#"{"transport": {"baseURL": "\#(server.baseURL)"}}"#, to: "c.json")
    }
    let running = try Tool.start("run", "-q", "-c", try write(first))
    try running.write(#"{"url": "/one"}"# + "\n")
    try await first.waitForRequests(1)
    _ = try write(second)
    running.send(signal: SIGHUP)
    try await running.waitForError(containing: "published as snapshot 2")
    try running.write(#"{"url": "/two"}"# + "\n")
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(first.requests.map(\.target) == ["/one"])
    #expect(second.requests.map(\.target) == ["/two"])
  }

  @Test func `a SIGHUP during the start is handled after the run has started`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("{}", to: "c.json")
    let (input, output) = (folder.path("in.jsonl"), folder.path("out.jsonl"))
    for path in [input, output] { try #require(mkfifo(path, 0o600) == 0) }
    // The start ends only after the output was opened, and the opening waits for a reader.
    let running = try Tool.start("run", "-q", "-c", file, "-i", input, "-o", output)
    let process = "/proc/\(running.processID)"
    try await Self.wait(for: "the thread of signals") {
      FileTree.names(in: "\(process)/task").contains {
        (try? FileTree.readText("\(process)/task/\($0)/comm")) == "sluice-signals\n"
      }
    }
    running.send(signal: SIGHUP)
    try await Self.wait(for: "the signal to be taken") {
      (try? FileTree.readText("\(process)/status"))?.contains("ShdPnd:\t0000000000000000") == true
    }
    let reader = open(output, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(reader >= 0)
    defer { close(reader) }
    try await running.waitForError(containing: "published as snapshot 2")
    try await Self.openForWriting(input).close()
    #expect(try await running.wait(upTo: Patience.limit).status == 0)
  }

  @Test func `a run whose input has no writer serves its control socket, and ends after one signal`() async throws {
    let folder = try TemporaryDirectory()
    let (input, socket) = (folder.path("in.jsonl"), folder.path("control"))
    try #require(mkfifo(input, 0o600) == 0)
    let running = try Tool.start("run", "-i", input, "--control", socket, "--drain", "1s")
    try await running.waitForError(containing: "control socket: ")
    #expect(try await Tool.run("ctl", "status", "--socket", socket).status == 0)
    running.send(signal: SIGTERM)
    #expect(try await running.wait(upTo: Patience.limit).status == 143)
  }

  @Test func `a run waits for the first writer of its input, and ends after the last`() async throws {
    let folder = try TemporaryDirectory()
    let server = try LoopbackServer()
    defer { server.stop() }
    let input = folder.path("in.jsonl")
    try #require(mkfifo(input, 0o600) == 0)
    let running = try Tool.start("run", "-i", input, "--control", folder.path("control"))
    try await running.waitForError(containing: "control socket: ")
    let writer = try await Self.openForWriting(input)
    try writer.write(Array("\(server.baseURL)/a\n\(server.baseURL)/b\n".utf8))
    writer.close()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.count == 2)
  }

  @Test func `a stopped run takes whole lines out of a pipe, and counts those that it has not sent`() async throws {
    let folder = try TemporaryDirectory()
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let input = folder.path("in.jsonl")
    try #require(mkfifo(input, 0o600) == 0)
    let pipe = open(input, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    try #require(pipe >= 0)
    defer { close(pipe) }
    let running = try Tool.start(
      "run", "-i", input, "--concurrency", "1", "--drain", "10ms", "--log-format", "json", "-o", "/dev/null")
    let lines = (0..<1500).map { "\(server.baseURL)/\($0)" }
    let text = Array((lines.joined(separator: "\n") + "\n").utf8)
    try #require(text.withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) } == text.count)
    // Now the queue of the run is full, or will be before it reads the pipe to its end.
    try await server.waitForHeld(1)
    running.send(signal: SIGTERM)
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 143)
    var rest = [UInt8](repeating: 0, count: text.count)
    let count = max(0, rest.withUnsafeMutableBytes { read(pipe, $0.baseAddress, $0.count) })
    let left = String(decoding: rest[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(left == lines.suffix(left.count), "\(left.first ?? "")")
    let messages = try result.errorText.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    let summary = try #require(messages.compactMap { $0["run"] }.first, "\(result.errorText)")
    let known = (summary["requests"]?.integer ?? 0) + (summary["notBegun"]?.integer ?? 0)
    #expect(Int(known) + left.count == lines.count, "\(summary)")
  }

  @Test func `after two overlapping reloads, the configuration that was written last serves`() async throws {
    let run = try await ControlledRun()
    let file = run.folder.path("c.json")
    // The configuration is a pipe, so the test decides how long it takes to read it.
    try #require(mkfifo(run.folder.path("slow"), 0o600) == 0)
    try #require(rename(run.folder.path("slow"), file) == 0)
    run.running.send(signal: SIGHUP)
    let first = try await Self.openForWriting(file)
    try StampedLibrary.install(Array(ControlledRun.configuration(header: "x-second").utf8), at: file)
    run.running.send(signal: SIGHUP)
    try first.write(Array(ControlledRun.configuration(header: "x-first").utf8))
    first.close()
    try await run.running.waitForError(containing: "published as snapshot 3")
    try await run.request()
    let result = try await run.end()
    let headers = try #require(try result.documents.first?["response"]?["headers"], "\(result.errorText)")
    #expect(headers["x-second"]?.string == "1" && headers["x-first"] == nil, "\(headers)")
  }

  @Test func `a superseded reload is reported`() async throws {
    let folder = try TemporaryDirectory()
    try await Self.installStopping(at: "NEVER", in: folder)
    let run = try await ControlledRun(more: #", "s": {"library": "\#(folder.path("s.so"))"}"#)
    try await Self.installStopping(at: "CREATE", in: folder)
    try folder.write("", to: "armed")
    let swap = try Self.ctl(run, "swap", "s")
    try #require(await Readiness.hasWritten(folder.path("stopped"), by: run.running), "\(run.running.errorSoFar)")
    // Reloads and swaps that are requested from now on wait for this swap.
    run.running.send(signal: SIGHUP)
    func isSaid() -> Bool { run.running.errorSoFar.contains("superseded by a newer swap") }
    // If the SIGHUP comes after the swap, its reload supersedes the swap. The next swap then supersedes that reload.
    for _ in 0..<10 where !isSaid() {
      let newer = try Self.ctl(run, "swap", "-c", run.folder.path("c.json"))
      try await Self.wait(for: "one of the two to be superseded") { isSaid() || newer.hasEnded }
    }
    #expect(isSaid(), "\(run.running.errorSoFar)")
    run.running.send(signal: SIGKILL)
    _ = try await run.end()
    _ = try await swap.wait(upTo: Patience.limit)
  }

  // MARK: Support

  /// A library `s.so` that stops at a point of its lifecycle while the file `armed` exists.
  private static func installStopping(at place: String, in folder: TemporaryDirectory) async throws {
    let product = try await PluginCompiler.compile(
      "stops", defines: ["PLACE=\"\(folder.path)\"", "BUILD=\"\(place)\"", "NEVER=-1", "AT=\(place)"])
    try withExtendedLifetime(product) {
      try StampedLibrary.install(FileTree.read(product.path), at: folder.path("s.so"))
    }
  }

  private static func ctl(_ run: ControlledRun, _ words: String...) throws -> RunningCommand {
    try Command(Tool.path, ["ctl"] + words + ["--socket", run.socket], environment: Tool.cleared).start()
  }

  /// Waits until the pipe is open for reading.
  private static func openForWriting(_ path: String) async throws -> FileDescriptor {
    try await blocking { FileDescriptor(adopting: open(path, O_WRONLY | O_CLOEXEC)) }
  }

  private static func wait(for what: String, until isMet: () -> Bool) async throws {
    let end = ContinuousClock.now + Patience.limit
    while !isMet() {
      guard ContinuousClock.now < end else { throw TestKitError("timed out while waiting for \(what)") }
      await Task.yield()
    }
  }
}
