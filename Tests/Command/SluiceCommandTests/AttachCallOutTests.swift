import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Programs under `sluice attach` whose plugins send call-outs from inside the program.
///
/// Disabled under a sanitizer: the host library then needs the sanitizer's runtime, which the programs do not have.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachCallOutTests {
  /// With these options, the exporter sends spans at once and does not wait for the end of the process.
  private static let soon = #", "delay": "1ms", "metrics": false"#
  /// With these options, the exporter sends spans only at the end of the process.
  private static let late = #", "delay": "1h", "metrics": false"#

  private static func run(
    _ exporting: AttachedCollector, _ lines: [String], _ words: String...
  ) async throws -> CommandResult {
    let program = try await ForeignProgram.compile("call_outs")
    defer { withExtendedLifetime(program) {} }
    let command = try exporting.start([program.path, exporting.fixture.url] + words)
    command.writeAndClose(Array(lines.map { "\($0)\n" }.joined().utf8))
    return try await command.wait()
  }

  @Test func `a program exports its spans while it runs`() async throws {
    let exporting = try AttachedCollector(Self.soon)
    let program = try await ForeignProgram.compile("call_outs")
    let command = try exporting.start([program.path, exporting.fixture.url])
    for count in 1...3 {
      try command.write("many\n")
      try await command.waitForOutput("\(count) lines done") { bytes in
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").count { $0 == "did many" } == count
      }
      try await exporting.collector.waitForRequests(count)
    }
    command.closeInput()
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime(program) {}
    #expect(exporting.spans.count == 9)
    #expect(Set(exporting.spans) == Set(exporting.sent()))
  }

  @Test(arguments: [["get", "fork", "get"], ["fork"], ["get", "descend"]])
  func `every process of a program that forks exports its spans`(lines: [String]) async throws {
    let exporting = try AttachedCollector(Self.late)
    let result = try await Self.run(exporting, lines)
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText.contains("the child ended with 0\n"), "\(result.outputText)")
    #expect(Set(exporting.spans) == Set(exporting.sent()))
    #expect(exporting.spans.count == exporting.fixture.server.requestCount)
    #expect(result.errorText.isEmpty)
  }

  /// The leak sanitizer must not report the handles of the call-out that waits, to which nothing in the child refers.
  @Test(arguments: [["-lcurl"], ["-fsanitize=address", "-lcurl"]])
  func `children make and export their transfers, even if they are forked while libcurl waits for the collector`(
    flags: [String]
  ) async throws {
    let count = Watched(0)
    let exporting = try AttachedCollector(Self.soon) { request in
      let isFirst = count.update { count in
        count += 1
        return count == 1
      }
      return isFirst ? AttachedCollector.silent(request) : AttachedCollector.accept(request)
    }
    let program = try await ForeignProgram.compile("call_outs", flags)
    let command = try exporting.start([program.path, exporting.fixture.url])
    try command.write("get\n")
    try await exporting.collector.waitForRequests(1)
    command.writeAndClose(Array("fork\nfork\n".utf8))
    let result = try await command.wait()
    withExtendedLifetime(program) {}
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText.split(separator: "\n").count { $0 == "the child ended with 0" } == 2)
    #expect(Set(exporting.spans) == Set(exporting.sent()))
    #expect(result.outputText.split(separator: "\n").count { $0 == "0 descriptors of the parent's call-outs" } == 2)
    #expect(exporting.fixture.server.requestCount == 3)
  }

  @Test(
    arguments: [AttachCallOutTests.soon, AttachCallOutTests.late], [["get", "leave"], ["fork", "leave"], ["leave"]])
  func `if a program's main thread ends first, the program ends with its last thread`(when: String, lines: [String])
    async throws
  {
    let exporting = try AttachedCollector(when)
    let result = try await Self.run(exporting, lines)
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText.hasSuffix("answer to GET /after\n=> 0 200\n"), "\(result.outputText)")
    #expect(exporting.spans.count == lines.count)
    #expect(Set(exporting.spans) == Set(exporting.sent()))
  }

  @Test func `libcurl stays usable for plugins after the program has called curl_global_cleanup`() async throws {
    let exporting = try AttachedCollector(Self.late)
    let result = try await Self.run(exporting, ["get", "end"])
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(exporting.spans.count == 1)
    #expect(exporting.spans == exporting.sent())
  }

  @Test func `transfers after the last export bypass the pipeline, and are counted`() async throws {
    let exporting = try AttachedCollector(Self.late)
    let result = try await Self.run(exporting, ["get"], "late")
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText.hasSuffix("answer to GET /late\n=> 0 200\n"))
    #expect(exporting.spans == exporting.sent())
    #expect(result.errorText.contains("1 transfer went without the pipeline: the process was ending"))
  }

  @Test func `if a program closes every descriptor, the host never closes files that the program opens later`()
    async throws
  {
    let exporting = try AttachedCollector(Self.soon, collector: AttachedCollector.silent)
    let program = try await ForeignProgram.compile("call_outs")
    let command = try exporting.start([program.path, exporting.fixture.url])
    try command.write("get\n")
    try await exporting.collector.waitForRequests(1)
    command.writeAndClose(Array("close\n".utf8))
    let result = try await command.wait()
    withExtendedLifetime(program) {}
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText.hasSuffix("700 of 700 files are still open\n"), "\(result.outputText)")
  }

  @Test func `the program's own memory functions for libcurl are not called on threads of the host`() async throws {
    let exporting = try AttachedCollector(Self.late)
    let result = try await Self.run(exporting, ["get"], "memory")
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(exporting.sent().count == 1)
    #expect(exporting.collector.requestCount == 0)
    #expect(result.errorText.contains("gives libcurl its own memory functions"), "\(result.errorText)")
  }

  @Test func `threads of the host receive no signals of the program`() async throws {
    let exporting = try AttachedCollector(Self.soon, collector: AttachedCollector.silent)
    let program = try await ForeignProgram.compile("call_outs")
    let command = try exporting.start(["sh", "-c", "echo $$; exec \(program.path) \(exporting.fixture.url)"])
    try command.write("get\n")
    try await exporting.collector.waitForRequests(1)
    let process = command.outputSoFar.split(separator: "\n").first.map(String.init) ?? ""
    let threads = FileTree.names(in: "/proc/\(process)/task").filter { $0 != process }
    #expect(!threads.isEmpty)
    for thread in threads {
      let status = try FileTree.readText("/proc/\(process)/task/\(thread)/status")
      let blocked = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }?.split(separator: "\t").last
      let mask = blocked.flatMap { UInt64($0, radix: 16) } ?? 0
      for signal in [SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD, SIGUSR1, SIGPIPE] {
        #expect(mask & 1 << UInt64(signal - 1) != 0, "\(status)")
      }
    }
    command.closeInput()
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime(program) {}
  }

  @Test func `if a new plan replaces another plan, no span of the old plan is lost`() async throws {
    let exporting = try AttachedCollector(Self.late)
    let program = try await ForeignProgram.compile("call_outs")
    let command = try exporting.start([program.path, exporting.fixture.url])
    try command.write("get\n")
    try await command.waitForOutput(containing: "did get\n")
    let text = try FileTree.readText(exporting.fixture.configuration)
    _ = try exporting.fixture.folder.write(text.replacing("\"1h\"", with: "\"2h\""), to: "c.json")
    try await command.waitForError(containing: "a new plan is ready")
    command.writeAndClose(Array("get\n".utf8))
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime(program) {}
    #expect(exporting.spans.count == 2)
    #expect(Set(exporting.spans) == Set(exporting.sent()))
  }

  @Test func `inside curl, a token is fetched before curl's request is sent`() async throws {
    let tokens = try LoopbackServer { _ in
      .text(#"{"access_token": "t0k", "token_type": "Bearer", "expires_in": 3600}"#, type: "application/json")
    }
    defer { tokens.stop() }
    let config = """
      {"tokenEndpoint": "\(tokens.baseURL)/token", "clientID": "c", "clientSecret": {"env": "CLIENT_SECRET"},
       "hosts": ["127.0.0.1"]}
      """
    let fixture = try AttachFixture(
      more: #", "auth": {"library": "\#(BuiltProducts.library("oauth-refresh"))", "config": \#(config)}"#,
      stages: #""request": ["auth"]"#)
    for options in [[], ["-Z", "--no-progress-meter"]] {
      let requests = try await fixture.compare(
        ["curl", "-sS"] + options + [fixture.url], environment: ["CLIENT_SECRET": "s3cret"])
      #expect(requests.each("authorization") == ["Bearer t0k"])
    }
    #expect(tokens.requests.map(\.method) == ["POST", "POST"])
    #expect(tokens.requests.each("authorization") == Array(repeating: "Basic YzpzM2NyZXQ=", count: 2))
    #expect(
      tokens.requests.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("grant_type=client_credentials") })
  }

  @Test func `after the program gets the 401 for a refused token, the next request has a new token`()
    async throws
  {
    let count = Watched(0)
    let tokens = try LoopbackServer { _ in
      let number = count.update { count in
        count += 1
        return count
      }
      let token = #"{"access_token": "t\#(number)", "token_type": "Bearer", "expires_in": 3600}"#
      return .text(token, type: "application/json")
    }
    defer { tokens.stop() }
    let config = """
      {"tokenEndpoint": "\(tokens.baseURL)/token", "clientID": "c", "clientSecret": "s", "hosts": ["127.0.0.1"]}
      """
    let fixture = try AttachFixture(
      more: #", "auth": {"library": "\#(BuiltProducts.library("oauth-refresh"))", "config": \#(config)}"#,
      stages: #""request": ["auth"], "response": ["auth"], "attach": {"response": "staged"}"#,
      answer: { $0.headers.first("authorization") == "Bearer t1" ? ServerResponse(status: 401) : .text("let in\n") })
    let program = try await ForeignProgram.compile("call_outs")
    let result = try await fixture.attach([program.path, fixture.url], input: Array("get\nget\n".utf8))
    withExtendedLifetime(program) {}
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText == "=> 0 401\ndid get\nlet in\n=> 0 200\ndid get\n")
    #expect(fixture.server.requests.each("authorization") == ["Bearer t1", "Bearer t2"])
    #expect(tokens.requestCount == 2)
  }
}
