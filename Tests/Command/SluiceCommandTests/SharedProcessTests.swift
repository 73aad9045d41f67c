import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Plugins run in the process of the command. What they do to its standard input, its current folder and its environment
/// does not change what the command reads and writes.
@Suite struct SharedProcessTests {
  private static let reads = #"system("cat >/dev/null")"#
  /// Reads the descriptor itself, without a program.
  private static let drains = "do { char b[4096]; while (read(0, b, sizeof b) > 0) {} } while (0)"
  private static let moves = #"chdir("/")"#
  private static let moments = ["IN_LOAD", "IN_CREATE", "IN_ACTIVATE", "IN_REQUEST"]

  private func lines(_ count: Int, _ url: String) -> String {
    (0..<count).map { #"{"id": "r\#($0)", "url": "\#(url)/"}"# + "\n" }.joined()
  }

  // MARK: Standard input

  @Test(arguments: moments, [reads, drains])
  func `a plugin that reads standard input takes no line of run`(_ moment: String, _ act: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(act)"])
    let server = try LoopbackServer()
    defer { server.stop() }
    for input in [[], ["-i", "-"], ["-i", "/dev/stdin"], ["-i", "/dev/fd/0"], ["-i", "/proc/self/fd/0"]] {
      let result = try await Tool.run(
        arguments: ["run", "-q", "--plugin", plugin.path] + input, input: lines(5, server.baseURL))
      #expect(result.status == 0, "\(result.errorText)")
      #expect(try result.documents.count == 5, "\(input): \(result.errorText)")
    }
  }

  @Test(
    arguments: moments,
    [
      ["-T", "-"], ["-T", "."], ["-T", "/dev/stdin"], ["--data-binary", "@-"], ["--data-binary", "@/dev/stdin"],
      ["-F", "f=@-"], ["-F", "f=@/dev/fd/0"],
    ])
  func `a plugin that reads standard input takes nothing of the body of send`(
    _ moment: String, _ options: [String]
  ) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.reads)"])
    let server = try LoopbackServer(recording: .everything)
    defer { server.stop() }
    let result = try await Tool.run(
      arguments: ["send", "--plugin", plugin.path] + options + ["\(server.baseURL)/"], input: "the body")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self).contains("the body") } == [true])
  }

  @Test func `a secret and a configuration come from standard input`() async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_LOAD=\(Self.reads)"])
    let server = try LoopbackServer(recording: .everything)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {"a": {"library": "\(plugin.path)"}, "b": {"library": "\(BuiltProducts.library("static-headers"))",
       "config": {"request": {"X-C": {"file": "/dev/stdin"}}}}}, "request": ["a", "b"]}
      """, to: "c.json")
    let secret = try await Tool.run("send", "-c", file, server.baseURL, input: "from input")
    #expect(secret.status == 0, "\(secret.errorText)")
    #expect(server.requests.last?.headers.first("x-c") == "from input")
    let whole = try await Tool.run(
      "send", "-c", "/dev/stdin", server.baseURL,
      input: #"{"transport": {"userAgent": "named by input"}}"#)
    #expect(whole.status == 0, "\(whole.errorText)")
  }

  // MARK: The current folder

  @Test(arguments: moments)
  func `relative names are those of the folder in which the command was started`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.moves)"])
    let server = try LoopbackServer(recording: .everything)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    _ = try folder.write("from the file", to: "body")
    _ = try folder.write("{}", to: "c.json")
    let line = #"{"method": "POST", "url": "\#(server.baseURL)/", "body": {"file": "body"}}"# + "\n"
    let run = try await Command.run(
      Tool.path,
      ["run", "-q", "-c", "c.json", "--plugin", plugin.path, "-o", "out", "--events", "events", "--har", "har"],
      environment: Tool.cleared, standardInput: Array((line + line).utf8), workingDirectory: folder.path)
    #expect(run.status == 0, "\(run.errorText)")
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["from the file", "from the file"])
    #expect(try FileTree.readText(folder.path("out")).split(separator: "\n").count == 2)
    #expect(FileTree.exists(folder.path("events")) && FileTree.exists(folder.path("har")))
  }

  @Test(arguments: moments)
  func `the files of send are in the folder in which it was started`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.moves)"])
    let server = try LoopbackServer { request in
      ServerResponse(headers: [HeaderLine("Set-Cookie", "a=b; Max-Age=60")], body: .bytes(Array(request.target.utf8)))
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    _ = try folder.write("12345", to: "upload")
    func send(_ words: String...) async throws {
      let result = try await Command.run(
        Tool.path, ["send", "-s", "--plugin", plugin.path] + words, environment: Tool.cleared,
        workingDirectory: folder.path)
      #expect(result.status == 0, "\(words): \(result.errorText)")
    }
    try await send("-o", "one", "\(server.baseURL)/1", "-o", "two", "\(server.baseURL)/2", "-D", "heads")
    try await send("-O", "\(server.baseURL)/named", "--cookie-jar", "jar")
    try await send("-T", "upload", "\(server.baseURL)/", "-o", "deep/er/three", "--create-dirs")
    try await send("-F", "a=@upload", "\(server.baseURL)/", "-o", "four")
    for name in ["one", "two", "heads", "named", "jar", "deep/er/three", "four"] {
      #expect(FileTree.exists(folder.path(name)), "\(name)")
    }
  }

  @Test func `a reload finds the configuration and the library by their relative names`() async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_ACTIVATE=\(Self.moves)"])
    let folder = try TemporaryDirectory()
    _ = try folder.write(try FileTree.read(plugin.path), to: "a.so")
    let text = #"{"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "store": "store"}"#
    _ = try folder.write(text, to: "c.json")
    let running = try Command(
      Tool.path, ["run", "-q", "-c", "c.json", "--control", "c.sock"], environment: Tool.cleared,
      workingDirectory: folder.path
    ).start()
    try await running.waitForSocket(at: folder.path("c.sock"))
    _ = try folder.write(text.replacing("\"store\"}", with: "\"store\", \"deadline\": \"20s\"}"), to: "c.json")
    running.send(signal: SIGHUP)
    try await running.waitForError(containing: "published as snapshot 2")
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(!FileTree.exists(folder.path("c.sock")), "the socket is removed at the end")
  }

  @Test(arguments: moments)
  func `the access log stays in the folder in which the command was started`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.moves)"])
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    func write(output: String) throws {
      _ = try folder.write(
        """
        {"plugins": {"a": {"library": "\(plugin.path)"}, "log": {"library": "\(BuiltProducts.library("access-log"))",
         "config": {"output": "\(output)"}}}, "request": ["a"], "tracers": ["log"]}
        """, to: "c.json")
    }
    try write(output: "log")
    let running = try Command(
      Tool.path, ["run", "-q", "-c", "c.json", "--control", "c.sock"], environment: Tool.cleared,
      workingDirectory: folder.path
    ).start()
    try running.write(lines(1, server.baseURL))
    try await running.waitForOutput(containing: "r0")
    try write(output: "log2")
    running.send(signal: SIGHUP)
    try await running.waitForError(containing: "published as snapshot 2")
    try running.write(lines(1, server.baseURL))
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    for name in ["log", "log2"] {
      #expect(try FileTree.readText(folder.path(name)).split(separator: "\n").count == 1, "\(name)")
    }
    #expect(result.errorText.contains("changed the current folder to \"/\""), "\(result.errorText)")
  }

  @Test(arguments: moments)
  func `a relative TMPDIR is in the folder in which the command was started`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.moves)"])
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: 1 << 20, chunked: true))
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    #expect(mkdir(folder.path("held"), 0o700) == 0)
    _ = try folder.write(#"{"transport": {"spillBytes": 1000}}"#, to: "c.json")
    let result = try await Command.run(
      Tool.path, ["run", "-q", "-c", "c.json", "--plugin", plugin.path],
      environment: Tool.cleared.merging(["TMPDIR": "held"]) { $1 },
      standardInput: Array(lines(1, server.baseURL).utf8), workingDirectory: folder.path)
    #expect(result.status == 0, "\(result.outputText.prefix(2000)) \(result.errorText)")
  }

  // MARK: The environment

  @Test(arguments: ["clearenv()", "environ = NULL"])
  func `a swap succeeds after a plugin has removed the environment`(_ act: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_ACTIVATE=\(act)"])
    let run = try await ControlledRun(more: #", "b": {"library": "\#(plugin.path)"}"#)
    try run.library.install(2, at: run.folder.path("a.so"))
    let swap = try await run.ctl("swap", "a")
    #expect(swap.status == 0, "\(swap.outputText) \(swap.errorText)")
    let result = try await run.end()
    #expect(result.status == 0, "\(result.errorText)")
  }

  @Test(arguments: ["sleeps-statically", "error-enrichment"])
  func `a Swift library is loaded after another one has removed the environment`(_ second: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_LOAD=clearenv()"])
    let result = try await Tool.run(
      "run", "-q", "--plugin", plugin.path, "--plugin", BuiltProducts.library(second), input: "")
    #expect(result.status == 0, "\(result.errorText)")
  }

  // MARK: What dev reports

  @Test(arguments: [
    ("IN_CREATE=umask(077)", "in create, it changed the umask from"),
    ("IN_REQUEST=umask(077)", "in on_request, it changed the umask from"),
    (#"IN_REQUEST=chdir("/")"#, "in on_request, it changed the current folder from"),
    ("IN_REQUEST=fesetround(FE_UPWARD)", "in on_request, it changed the rounding or flush mode of the host's thread"),
  ])
  func `dev names the plugin and the call that changes the state of the process, once`(
    _ define: String, _ words: String
  ) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: [define])
    let log = try await DevRun.log(of: plugin.path)
    let subject =
      define.hasPrefix("IN_CREATE") ? "stage \"a\" (plugin fixture" : "stage \"a\" (plugin fixture, generation 1)"
    #expect(log.count { $0.contains(words) && $0.contains(subject) } == 1, "\(log)")
  }

  // MARK: Programs that plugins start

  @Test(arguments: moments, ["", "trap '' PIPE XFSZ; "])
  func `a program that a plugin starts ignores neither SIGPIPE nor SIGXFSZ`(
    _ moment: String, _ parent: String
  ) async throws {
    let plugin = try await PluginCompiler.compile(
      "acts", defines: [#"\#(moment)=system("grep SigIgn /proc/self/status >&2")"#])
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Command.run(
      "bash", ["-c", "\(parent)exec \(Tool.path) run -q --plugin \(plugin.path)"], environment: Tool.cleared,
      standardInput: Array(lines(1, server.baseURL).utf8))
    #expect(result.status == 0)
    let ignored = result.errorText.split(separator: "\n").filter { $0.hasPrefix("SigIgn:\t") }
      .compactMap { UInt64($0.dropFirst("SigIgn:\t".count), radix: 16) }
    #expect(!ignored.isEmpty, "\(result.errorText)")
    for number in [SIGPIPE, SIGXFSZ] { #expect(ignored.allSatisfy { $0 >> UInt64(number - 1) & 1 == 0 }) }
  }

  // A sanitizer maps a file of its own, which this limit would cut.
  @Test(.enabled(if: !Sanitizer.isOn))
  func `a closed output and the limit of a file's size do not end the command by a signal`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(lines(2000, server.baseURL), to: "in.jsonl")
    let closed = try await Command.run(
      "bash", ["-c", "\(Tool.path) run -q -i \(file) | true; echo ${PIPESTATUS[0]}"], environment: Tool.cleared)
    #expect(closed.outputText == "141\n" || closed.outputText == "0\n", "\(closed)")
    let limited = try await Command.run(
      "bash", ["-c", "ulimit -f 8; \(Tool.path) run -q -i \(file) -o \(folder.path("out"))"], environment: Tool.cleared)
    #expect(limited.ending == .exited(1), "\(limited)")
    #expect(limited.errorText.contains("File too large"), "\(limited.errorText)")
  }
}
