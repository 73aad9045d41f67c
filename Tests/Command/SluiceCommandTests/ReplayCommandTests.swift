import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `--record` of send and run, and `sluice replay`.
@Suite struct ReplayCommandTests {
  private let folder: TemporaryDirectory
  private let server: LoopbackServer
  private let recording: String
  private let config: String

  init() async throws {
    folder = try TemporaryDirectory()
    server = try LoopbackServer()
    recording = folder.path("traffic.jsonl")
    let library = try await StampedLibrary.inC()
    for number in 1...2 { try library.install(number, at: folder.path("\(number).so")) }
    try library.install(1, at: folder.path("a.so"))
    config = try folder.write(Self.configuration("a.so", more: ""), to: "sluice.json")
  }

  private static func configuration(_ library: String, more: String) -> String {
    #"{"plugins": {"a": {"library": "\#(library)"}\#(more)}, "request": ["a"], "response": ["a"]}"#
  }

  private func record(_ count: Int = 3) async throws {
    let lines = (0..<count).map { #"{"url": "\#(server.baseURL)/\#($0)?sig=s3cret"}"# + "\n" }.joined()
    let run = try await Tool.run("run", "-q", "-c", config, "--concurrency", "1", "--record", recording, input: lines)
    #expect(run.status == 0, "\(run.errorText)")
  }

  private func replay(_ words: String...) async throws -> CommandResult {
    defer { server.stop() }
    return try await Tool.run(arguments: ["replay", recording] + words)
  }

  // MARK: Recordings

  @Test func `run records each request in a file that only its owner can read, without secrets`() async throws {
    try await record()
    let text = try FileTree.readText(recording)
    let documents = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    let urls = documents.compactMap { $0["request"]?["url"]?.string }
    #expect(urls == (0..<3).map { "\(server.baseURL)/\($0)?sig=REDACTED" } && !text.contains("s3cret"))
    #expect(documents.allSatisfy { $0["hops"]?[0]?["response"]?["status"] == 200 })
    var status = stat()
    #expect(stat(recording, &status) == 0 && status.st_mode & 0o777 == 0o600)
    server.stop()
  }

  @Test func `send records its request while the body goes to a file`() async throws {
    let sent = try await Tool.run(
      "send", "-c", config, "--record", recording, "-o", folder.path("body"), server.baseURL + "/a", "-d", "b=c")
    #expect(sent.status == 0, "\(sent.errorText)")
    let result = try await replay("-c", config, "--new", folder.path("2.so"))
    #expect(result.status == 1 && result.outputText.contains("request 1, POST \(server.baseURL)/a"))
    #expect(server.requestCount == 1)
  }

  /// Disabled under a sanitizer, because its runtime does not start with a limit for the size of files.
  @Test(.enabled(if: !Sanitizer.isOn))
  func `a recording that cannot be written ends the run with status 1`() async throws {
    let script = #"ulimit -f 16; exec "$0" run -q --record "$1" -o /dev/null"#
    let lines = String(repeating: #"{"url": "\#(server.baseURL)"}"# + "\n", count: 500)
    let result = try await Command.run(
      "sh", ["-c", script, Tool.path, recording], environment: Tool.cleared, standardInput: Array(lines.utf8))
    #expect(result.status == 1)
    #expect(result.errorText.contains("File too large; the recording is incomplete"), "\(result.errorText)")
    let text = try FileTree.readText(recording)
    #expect(try text.split(separator: "\n").allSatisfy { try JSONValue(parsing: String($0)).isObject })
    server.stop()
  }

  // MARK: Replays

  @Test func `a replay with the same build shows no difference, and the status is 0`() async throws {
    try await record()
    let result = try await replay("-c", config, "--old", folder.path("1.so"))
    #expect(result.status == 0 && result.outputText == "3 requests: same\n", "\(result.outputText)\(result.errorText)")
    #expect(server.requestCount == 3, "nothing goes over the network")
  }

  @Test func `a replay with another build shows the differences of each stage, and the status is 1`() async throws {
    try await record()
    let result = try await replay("-c", config, "--old", folder.path("1.so"), "--new", folder.path("2.so"))
    #expect(result.status == 1 && result.outputText.contains("3 requests: 3 differ, 0 same"))
    #expect(result.outputText.contains("  a, on_request\n    header x-generation: 1 → 2\n"), "\(result.outputText)")
  }

  @Test func `replay can print its report as a document`() async throws {
    try await record(1)
    let result = try await replay("-c", config, "--new", folder.path("2.so"), "--document")
    let report = try #require(try result.documents.first)
    #expect(result.status == 1 && report["same"] == false)
    let differences = report["requests"]?[0]?["differences"]?.elements.map { $0["subject"]?.string }
    #expect(differences?.contains("header x-generation") == true, "\(report)")
  }

  @Test func `replay can compare two configurations`() async throws {
    try await record(1)
    let other = try folder.write(Self.configuration("2.so", more: ""), to: "other.json")
    let result = try await replay("--old", config, "--new", other)
    #expect(result.status == 1 && result.outputText.contains("header x-generation: 1 → 2"), "\(result.outputText)")
  }

  @Test(arguments: [
    ["-c", "sluice.json", "--old", "1.so", "--new", "2.so"], ["--old", "sluice.json", "--new", "2.json"],
  ])
  func `the paths of builds are relative to the current folder`(_ words: [String]) async throws {
    defer { server.stop() }
    try await record(1)
    try folder.write(Self.configuration("2.so", more: ""), to: "2.json")
    let result = try await Command.run(
      Tool.path, ["replay", recording] + words, environment: Tool.cleared, workingDirectory: folder.path)
    #expect(result.status == 1 && result.outputText.contains("header x-generation: 1 → 2"), "\(result.outputText)")
  }

  @Test func `with several libraries, --name chooses one`() async throws {
    try await record(1)
    let more = #", "b": {"library": "\#(BuiltProducts.library("static-headers"))"}"#
    try folder.write(Self.configuration("a.so", more: more), to: "sluice.json")
    let unclear = try await replay("-c", config, "--new", folder.path("2.so"))
    #expect(unclear.status == 2 && unclear.errorText.contains("choose one with --name (a, b)"), "\(unclear.errorText)")
    let chosen = try await replay("-c", config, "--new", folder.path("2.so"), "--name", "a")
    #expect(chosen.status == 1 && chosen.outputText.contains("header x-generation: 1 → 2"))
    let unknown = try await replay("-c", config, "--new", folder.path("2.so"), "--name", "c")
    #expect(unknown.status == 2 && unknown.errorText.contains("those with a library are a, b"))
  }

  @Test func `if a build crashes during a replay, the report says so, and the status is 1`() async throws {
    try await record(1)
    let product = try await PluginCompiler.compile("crashes-on-request")
    chmod(product.path, 0o755)
    let result = try await replay("-c", config, "--new", product.path)
    #expect(result.status == 1 && result.outputText.contains("new: "), "\(result.outputText)")
    #expect(result.outputText.contains("nothing was compared"))
    withExtendedLifetime(product) {}
  }

  @Test(arguments: [false, true])
  func `a recording that was cut off is replayed up to the cut, and the status is 1`(endsInZeros: Bool) async throws {
    try await record(2)
    let text = try FileTree.readText(recording)
    let end = endsInZeros ? String(repeating: "\0", count: 20) : ""
    let whole = endsInZeros ? String(text.prefix { $0 != "\n" }) + "\n" : String(text.dropLast(20))
    try folder.write(whole + end, to: "traffic.jsonl")
    let result = try await replay("-c", config, "--new", folder.path("1.so"))
    #expect(
      result.status == 1
        && result.outputText
          == "1 request: same\nrequest 2: not replayed: the last line of \(recording) is incomplete\n",
      "\(result.outputText)\(result.errorText)")
  }

  @Test func `an empty recording fails`() async throws {
    try folder.write("", to: "traffic.jsonl")
    let empty = try await replay("-c", config, "--new", folder.path("1.so"))
    #expect(empty.status == 1 && empty.outputText == "nothing was compared\n")
  }

  @Test func `a recording may begin with a byte order mark`() async throws {
    try await record(1)
    try folder.write("\u{FEFF}" + FileTree.readText(recording), to: "traffic.jsonl")
    let result = try await replay("-c", config, "--new", folder.path("1.so"))
    #expect(result.status == 0 && result.outputText == "1 request: same\n", "\(result.errorText)")
  }

  @Test func `a body that is too large for a recording is named as the reason`() async throws {
    let large = String(repeating: "a", count: 2 << 20)
    let sent = try await Tool.run(
      "send", "-c", config, "--record", recording, "-o", "/dev/null", server.baseURL + "/", "-d",
      "@" + folder.write(large, to: "large"))
    #expect(sent.status == 0, "\(sent.errorText)")
    let result = try await replay("-c", config, "--new", folder.path("1.so"))
    let limit = "the body has 2097152 bytes; a file of recordings has bodies of at most 1048576 bytes"
    #expect(
      result.outputText.contains("not replayed: the request body was not recorded completely: \(limit)\n"),
      "\(result.outputText)")
    let answers = try LoopbackServer { _ in .text(large) }
    let received = try await Tool.run(
      "send", "-c", config, "--record", recording, "-o", "/dev/null", answers.baseURL + "/")
    #expect(received.status == 0, "\(received.errorText)")
    answers.stop()
    let second = try await replay("-c", config, "--new", folder.path("1.so"))
    #expect(
      second.outputText.contains("not_recorded in the replay of the old build: \(limit)\n"), "\(second.outputText)")
  }

  @Test func `wrong usage ends with status 2 and says what is expected`() async throws {
    try await record(1)
    let library = folder.path("1.so")
    let cases: [([String], String)] = [
      ([], "expected --old FILE, a configuration"), (["--old", config], "expected --new FILE, a configuration"),
      (["-c", config], "expected --old LIBRARY or --new LIBRARY"), (["--new", library, "--old", library], "not JSON"),
      (["-c", config, "--new", folder.path("none.so")], "there is no such file"),
      (["-c", folder.path("none.json"), "--new", library], "none.json"),
      (["--old", config, "--new", config, "--name", "a"], "--name needs -c FILE"),
    ]
    for (words, message) in cases {
      let result = try await Tool.run(arguments: ["replay", recording] + words)
      #expect(result.status == 2 && result.errorText.contains(message), "\(words): \(result.errorText)")
    }
    let missing = try await Tool.run("replay", folder.path("none"), "-c", config, "--new", library)
    #expect(missing.status == 2 && missing.errorText.contains("No such file"), "\(missing.errorText)")
    try folder.write("{}\n", to: "traffic.jsonl")
    let damaged = try await replay("-c", config, "--new", library)
    #expect(damaged.status == 2 && damaged.errorText.contains("line 1: "), "\(damaged.errorText)")
  }
}
