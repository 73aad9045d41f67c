import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `run --har`, and the rules for the file that `--har` names.
@Suite struct RunArchiveTests {
  private let folder: TemporaryDirectory
  private let path: String

  init() throws {
    folder = try TemporaryDirectory()
    path = folder.path("out.har")
  }

  private func lines(_ count: Int, _ url: String) -> String {
    (0..<count).map { #"{"id": "r\#($0)", "url": "\#(url)/?n=\#($0)", "headers": {"x-n": "\#($0)"}}"# + "\n" }.joined()
  }

  @Test func `each request of a run has its entry, on two loops and with failures`() async throws {
    let server = try LoopbackServer { .text("ok", status: $0.target.hasSuffix("7") ? 500 : 200) }
    defer { server.stop() }
    let config = try folder.write(#"{"transport": {"loops": 2}}"#, to: "c.json")
    let input = lines(300, server.baseURL) + #"{"url": "http://127.0.0.1:1/"}"# + "\n"
    let run = try await Tool.run("run", "-q", "-c", config, "--har", path, "--concurrency", "32", input: input)
    #expect(run.status == 1)
    let archive = try WrittenArchive(path)
    let results = try run.documents.compactMap { $0["requestId"]?.string }
    #expect(Set(archive.entries.compactMap { $0["_requestId"]?.string }) == Set(results) && results.count == 301)
    let numbers = archive.entries.compactMap { $0["request"]?["queryString"]?.pair("n") }
    #expect(Set(numbers) == Set((0..<300).map(String.init)) && numbers.count == 300)
    expectOwnHeads(archive.entries.filter { $0["response"]?["status"] != 0 })
  }

  /// Checks that each entry has the head of its own request.
  private func expectOwnHeads(_ entries: [JSONValue]) {
    for entry in entries {
      let (headers, number) = (entry["request"]?["headers"], entry["request"]?["queryString"]?.pair("n"))
      #expect(headers?.pair("Host") != nil && headers?.pair("x-n") == number, "\(entry)")
    }
  }

  @Test func `each entry has its own head on one connection of HTTP 2`() async throws {
    guard NginxServer.isAvailable else { return }
    let certificates = try await TestCertificates.shared()
    let server = try await NginxServer.start(certificates: certificates)
    let config = try folder.write(#"{"transport": {"tls": {"ca": "\#(certificates.authority)"}}}"#, to: "c.json")
    let input = lines(200, server.secureBaseURL + "/json")
    let run = try await Tool.run("run", "-q", "-c", config, "--har", path, "--concurrency", "50", input: input)
    let entries = try WrittenArchive(path).entries
    #expect(entries.count == 200 && Set(entries.map { $0["connection"]?.string }).count == 1, "\(run.errorText)")
    #expect(entries.allSatisfy { $0["request"]?["httpVersion"] == "HTTP/2" && $0["request"]?["headersSize"] == -1 })
    expectOwnHeads(entries)
  }

  @Test func `an archive, a recording and an event log can be written at the same time`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let (recording, events) = (folder.path("traffic.jsonl"), folder.path("events.jsonl"))
    let run = try await Tool.run(
      "run", "-q", "--har", path, "--record", recording, "--events", events, input: lines(50, server.baseURL))
    #expect(run.status == 0, "\(run.errorText)")
    #expect(try WrittenArchive(path).entries.count == 50)
    #expect(try FileTree.readText(recording).split(separator: "\n").count == 50)
    #expect(try await Tool.run("verify-trace", events).status == 0)
  }

  @Test func `after SIGINT, the archive is complete`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let running = try Tool.start("run", "-q", "--har", path, "--concurrency", "4")
    try running.write(lines(20, server.baseURL))
    try await server.waitForHeld(4)
    running.send(signal: SIGINT)
    server.release()
    let result = try await running.wait()
    #expect(result.status == 130)
    let archive = try WrittenArchive(path)
    #expect(archive.entries.count == (try result.documents.count))
  }

  @Test func `after a kill, the archive has the requests that had ended before it`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let running = try Tool.start("run", "-q", "--har", path, "--concurrency", "1")
    try running.write(lines(5, server.baseURL))
    try await server.waitForRequests(5)
    try await waitForEntries(5)
    server.hold()
    try running.write(lines(1, server.baseURL))
    try await server.waitForHeld(1)
    running.send(signal: SIGKILL)
    _ = try await running.wait()
    #expect(try WrittenArchive(path).entries.count == 5)
  }

  /// Waits until the archive has this many entries. A read during a write can see a part of what is written.
  private func waitForEntries(_ count: Int) async throws {
    let end = ContinuousClock.now + Patience.limit
    while (try? WrittenArchive(path).entries.count) ?? 0 < count {
      try #require(ContinuousClock.now < end, "no \(count) entries")
      await Task.yield()
    }
  }

  @Test func `a request with a password can be sent again from its archive, but without the password`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    #expect(try await Tool.run("send", "-u", "me:s3cret", "--har", path, server.baseURL + "/a").status == 0)
    #expect(try !FileTree.readText(path).contains("s3cret"))
    let result = try await Tool.run("run", "-q", "--from-har", path)
    #expect(result.status == 0 && result.errorText.contains("1 header or cookie"), "\(result.errorText)")
    #expect(server.requests.map(\.target) == ["/a", "/a"])
    #expect(server.requests.last?.headers.first("authorization") == nil)
  }

  /// Disabled under a sanitizer, because its runtime does not start with a limit for the size of files.
  @Test(.enabled(if: !Sanitizer.isOn))
  func `a full disk ends the run with status 1, and the written entries can be read`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    // A write beyond this limit of the file size fails like a write to a full disk.
    let script = #"ulimit -f 400; exec "$0" run -q --har "$1" -o /dev/null"#
    let result = try await Command.run(
      "sh", ["-c", script, Tool.path, path], environment: Tool.cleared,
      standardInput: Array(lines(2_000, server.baseURL).utf8))
    #expect(result.status == 1, "\(result.errorText)")
    #expect(result.errorText.contains("out.har: File too large; the archive is incomplete"), "\(result.errorText)")
    #expect(server.requestCount < 2_000)
    #expect(!(try WrittenArchive(path).entries.isEmpty))
  }

  @Test func `only the owner may read the archive, and an earlier one is replaced`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    try folder.write(String(repeating: "x", count: 100_000), to: "out.har")
    chmod(path, 0o644)
    #expect(try await Tool.run("send", "--har", path, server.baseURL).status == 0)
    #expect(try WrittenArchive(path).entries.count == 1)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func `a link, a folder, a pipe and another file of the run are refused, and nothing is sent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let target = try folder.write("mine", to: "target")
    #expect(symlink(target, folder.path("link")) == 0 && mkfifo(folder.path("pipe"), 0o600) == 0)
    try folder.makeFolder("folder")
    let input = try folder.write(lines(1, server.baseURL), to: "in.jsonl")
    let cases: [(String, [String], Int32, String)] = [
      ("link", [], 1, "it is a symbolic link, which is not followed"), ("pipe", [], 1, "it is not a regular file"),
      ("folder", [], 1, "it is a folder"), ("nowhere/a", [], 1, "No such file or directory"),
      ("in.jsonl", [], 2, "is also the input"), ("a", ["-o", folder.path("./a")], 2, "is also the file of --output"),
      ("b", ["--events", folder.path("b")], 2, "is also the file of --events"),
    ]
    for (name, words, status, message) in cases {
      let result = try await Tool.run(
        arguments: ["run", "-q", "-i", input, "--har", folder.path(name)] + words)
      #expect(result.status == status && result.errorText.contains(message), "\(name): \(result.errorText)")
    }
    #expect(try await Tool.run("send", "--har", "-", server.baseURL).status == 2)
    #expect(try FileTree.readText(target) == "mine" && server.requestCount == 0)
    #expect(try FileTree.readText(input) == lines(1, server.baseURL))
  }

  @Test func `after a reload, secrets are hidden as the new configuration says`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let config = try folder.write("{}", to: "c.json")
    let running = try Tool.start("run", "-c", config, "--har", path, "--concurrency", "1")
    let line = #"{"url": "\#(server.baseURL)", "headers": {"x-mine": "s3cret"}}"# + "\n"
    try running.write(line)
    try await server.waitForRequests(1)
    try folder.write(#"{"redact": {"headers": ["x-mine"]}}"#, to: "c.json")
    running.send(signal: SIGHUP)
    try await running.waitForError(containing: "reload 1: published")
    try running.write(line)
    running.closeInput()
    #expect(try await running.wait().status == 0)
    let values = try WrittenArchive(path).entries.map { $0["request"]?["headers"]?.pair("x-mine") }
    #expect(values == ["s3cret", "REDACTED"])
  }
}
