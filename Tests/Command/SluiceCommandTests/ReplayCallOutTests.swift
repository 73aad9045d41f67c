import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice replay` with plugins that make requests of their own, which a replay answers from the recording.
@Suite struct ReplayCallOutTests {
  private let folder: TemporaryDirectory
  private let server: LoopbackServer
  private let tokens: LoopbackServer
  private let recording: String
  private let config: String

  /// The plugin asks `/token`, and sets `x-called` to the status of the answer.
  init() async throws {
    let folder = try TemporaryDirectory()
    self.folder = folder
    server = try LoopbackServer()
    tokens = try LoopbackServer { _ in
      ServerResponse(status: 201, body: .bytes(Array(#"{"access_token": "s3cret", "ttl": 5}"#.utf8)))
    }
    recording = folder.path("traffic.jsonl")
    let product = try await PluginCompiler.compile("calls-out")
    try StampedLibrary.install(FileTree.read(product.path), at: folder.path("a.so"))
    withExtendedLifetime(product) {}
    let other = try await PluginCompiler.compile("calls-out", defines: ["PARENT=0"])
    try StampedLibrary.install(FileTree.read(other.path), at: folder.path("b.so"))
    withExtendedLifetime(other) {}
    config = try folder.write(#"{"plugins": {"a": {"library": "a.so"}}, "request": ["a"]}"#, to: "sluice.json")
  }

  private func record(_ count: Int = 3) async throws {
    let line = #"{"url": "\#(server.baseURL)/", "headers": {"x-target": "\#(tokens.baseURL)/token?sig=abc"}}"#
    let run = try await Tool.run(
      "run", "-q", "-c", config, "--record", recording,
      input: String(repeating: line + "\n", count: count))
    #expect(run.status == 0, "\(run.errorText)")
  }

  private func replay(_ words: String..., library: String = "b.so") async throws -> CommandResult {
    defer {
      server.stop()
      tokens.stop()
    }
    return try await Tool.run(
      arguments: ["replay", recording, "-c", config, "--new", folder.path(library)] + words)
  }

  /// Changes the recording.
  private func edit(_ body: (JSONValue) -> Void) throws {
    let lines = try FileTree.readText(recording).split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    for line in lines { body(line) }
    try folder.write(lines.map { "\($0)\n" }.joined(), to: "traffic.jsonl")
  }

  @Test func `call-outs are recorded without secrets, and answered from the recording`() async throws {
    try await record()
    let text = try FileTree.readText(recording)
    let documents = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(documents.reduce(0) { $0 + ($1["callOuts"]?.count ?? 0) } == 3)
    let recorded = "\(JSONValue.array(of: documents.compactMap { $0["callOuts"] }))"
    #expect(!recorded.contains("s3cret") && !recorded.contains("sig=abc"), "\(recorded)")
    #expect(documents.allSatisfy { $0["outcome"]?["status"] == 200 })
    let (sent, asked) = (server.requestCount, tokens.requestCount)
    let result = try await replay()
    #expect(result.status == 0 && result.outputText == "3 requests: same\n", "\(result.outputText)\(result.errorText)")
    #expect(sent == server.requestCount && asked == tokens.requestCount, "a replay sends nothing")
  }

  @Test func `an answer that an earlier recording has is used again`() async throws {
    try await record()
    var isFirst = true
    try edit { line in
      if !isFirst { line["callOuts"] = nil }
      isFirst = false
    }
    let result = try await replay()
    #expect(result.status == 0 && result.outputText == "3 requests: same\n", "\(result.outputText)\(result.errorText)")
  }

  @Test func `a call-out without a recorded answer is not compared, unless --answer gives one`() async throws {
    try await record()
    try edit { $0["callOuts"] = nil }
    let name = "call-out GET \(tokens.baseURL)/token"
    let words = ["replay", recording, "-c", config, "--new", folder.path("b.so")]
    let answered = try await Tool.run(arguments: words + ["--answer", #"{"status": 200}"#])
    #expect(answered.status == 0 && answered.outputText == "3 requests: same\n", "\(answered.outputText)")
    let wrong = try await Tool.run(arguments: words + ["--answer", #"{"state": 200}"#])
    #expect(wrong.status == 2 && wrong.errorText.contains("--answer"), "\(wrong.errorText)")
    let result = try await replay()
    #expect(result.status == 1, "\(result.outputText)")
    #expect(
      result.outputText
        == "3 requests: 0 same, 3 not compared completely\nrequests 1 to 3: not compared: \(name): "
        + "the recording has no answer; give one with --answer\n")
  }

  @Test func `if both builds end otherwise than the recording says, this is not called the same`() async throws {
    try await record(5)
    try edit { $0["outcome"]?["status"] = 401 }
    let result = try await replay("--document")
    #expect(result.status == 1, "\(result.outputText)")
    let document = try JSONValue(parsing: result.outputText)
    #expect(document["same"]?.bool == false)
    #expect(
      document["requests"]?[4]?["notCompared"]?[0]?.string
        == "result: status is 401 in the recording, but 200 in the replay of the old build", "\(document)")
  }

  @Test func `a build that sends another field in a call-out differs`() async throws {
    let document = #"DOCUMENT=json_pack("{s:s, s:{s:s}}", "url", work->target, "headers", "x-from", "elsewhere")"#
    let product = try await PluginCompiler.compile("calls-out", defines: [document])
    try withExtendedLifetime(product) {
      try StampedLibrary.install(FileTree.read(product.path), at: folder.path("c.so"))
    }
    try await record(1)
    let result = try await replay(library: "c.so")
    #expect(result.status == 1 && result.outputText.contains("1 differs"), "\(result.outputText)")
    #expect(result.outputText.contains("x-from stage") && result.outputText.contains("x-from elsewhere"))
  }

  @Test func `a build that asks another URL differs`() async throws {
    let product = try await PluginCompiler.compile(
      "calls-out",
      defines: [#"DOCUMENT=json_pack("{s:s+}", "url", work->target, "&more")"#])
    try withExtendedLifetime(product) {
      try StampedLibrary.install(FileTree.read(product.path), at: folder.path("c.so"))
    }
    try await record(1)
    let result = try await replay(library: "c.so")
    #expect(result.status == 1 && result.outputText.contains("the recording has no answer"), "\(result.outputText)")
    #expect(result.outputText.contains("header x-called: 201 → 0"), "\(result.outputText)")
  }
}
