import CLinux
import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Whether files of tests can be marked as unfinished (xattr(7)).
private enum UnfinishedMarks {
  static let areSupported: Bool = {
    guard let folder = try? TemporaryDirectory(), let file = try? folder.write("", to: "file") else { return false }
    return setxattr(file, "user.sluice.test", "1", 1, 0) == 0
  }()
}

/// `sluice run --resume` keeps the results in the output file, and sends only the lines without a result.
@Suite struct RunResumeTests {
  /// Returns input lines. The first line is blank, so that the numbers of lines and of requests differ.
  private func input(_ count: Int, _ url: String) -> String {
    "\n" + (1...count).map { #"{"id": "r\#($0)", "url": "\#(url)/\#($0)"}"# + "\n" }.joined()
  }

  /// Returns the input lines that the results name, in ascending order. Throws if a line is not a result.
  private func lines(_ path: String) throws -> [Int64] {
    let text = try FileTree.readText(path)
    try #require(text.isEmpty || text.hasSuffix("\n"))
    return try text.split(separator: "\n").map { try #require(try JSONValue(parsing: String($0))["line"]?.integer) }
      .sorted()
  }

  // MARK: Without --resume

  /// Sends a signal to a run of 20 lines that has four requests in flight. Returns the paths of its input and output.
  private func interruptedRun(
    by signal: Int32, _ server: LoopbackServer, _ folder: TemporaryDirectory
  ) async throws -> (input: String, output: String, CommandResult) {
    let input = try folder.write(input(20, server.baseURL), to: "in.jsonl")
    let output = folder.path("out.jsonl")
    server.hold()
    let running = try Tool.start("run", "--concurrency", "4", "--drain", "50ms", "-i", input, "-o", output)
    try await server.waitForHeld(4)
    running.send(signal: signal)
    let result = try await running.wait()
    server.release()
    return (input, output, result)
  }

  @Test(.enabled(if: UnfinishedMarks.areSupported))
  func `a run names --resume when it is interrupted, and is not repeated without it`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let (input, output, interrupted) = try await interruptedRun(by: SIGINT, server, folder)
    #expect(interrupted.errorText.contains("run the same command with --resume"), "\(interrupted.errorText)")
    let before = try FileTree.read(output)
    #expect(try lines(output).count == 4)
    let refused = try await Tool.run("run", "-q", "-i", input, "-o", output)
    #expect(refused.status == 2 && refused.errorText.contains("give --resume"), "\(refused.errorText)")
    #expect(try FileTree.read(output) == before)
    // Another input, or the same after a change, may use the output.
    let other = try folder.write(self.input(3, server.baseURL), to: "other.jsonl")
    #expect(try await Tool.run("run", "-q", "-i", other, "-o", output).status == 0)
    #expect(try lines(output).count == 3)
  }

  @Test(.enabled(if: UnfinishedMarks.areSupported)) func `a run that was killed is resumed, and then may be repeated`()
    async throws
  {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let (input, output, _) = try await interruptedRun(by: SIGKILL, server, folder)
    #expect(try await Tool.run("run", "-q", "-i", input, "-o", output).status == 2)
    #expect(try await Tool.run("run", "-q", "--resume", "-i", input, "-o", output).status == 0)
    #expect(try await Tool.run("run", "-q", "-i", input, "-o", output).status == 0)
    #expect(try lines(output).count == 20)
  }

  // MARK: Interruptions

  @Test(arguments: Tool.isSoak ? [1, 2, 3, 4] : [1, 2] as [UInt64])
  func `a run that is interrupted ten times has one result for each line`(_ seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let count = Tool.isSoak ? 100_000 : 3_000
    let gate = Gate()
    let server = try LoopbackServer(recording: .countOnly) { _ in gate.answer() }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let input = try folder.write(input(count, server.baseURL), to: "in.jsonl")
    let output = folder.path("out.jsonl")
    var signals: Set<Int32> = []
    for _ in 0..<10 {
      let more = Int.random(in: 0...count / 12, using: &random)
      gate.admit(more)
      let enough = server.requestCount + more + 1
      let running = try Tool.start("run", "-q", "--resume", "-i", input, "-o", output)
      try await server.waitForRequests(enough)
      let signal = Bool.random(using: &random) ? SIGKILL : SIGINT
      running.send(signal: signal)
      while !running.hasEnded {
        gate.answerHeld()
        await Task.yield()
      }
      let result = try await running.wait(upTo: Patience.limit)
      #expect(result.status == 128 + signal, "\(result.errorText)")
      signals.insert(signal)
    }
    gate.admit(.max)
    #expect(signals == [SIGKILL, SIGINT])
    let before = try FileTree.read(output).count { $0 == 0x0A }
    #expect(before > 0 && before < count, "\(before) results before the last run")
    let requests = server.requestCount
    let last = try await Tool.run("run", "--resume", "-i", input, "-o", output)
    #expect(last.status == 0, "\(last.errorText)")
    #expect(try lines(output) == (2...Int64(count) + 1).map { $0 })
    // Only the lines without a result are sent.
    #expect(server.requestCount - requests <= count - before + 1)
  }

  @Test func `an output that ends anywhere in its last result is completed`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let input = try folder.write(input(3, server.baseURL), to: "in.jsonl")
    let output = folder.path("out.jsonl")
    try #require(try await Tool.run("run", "-q", "-i", input, "-o", output).status == 0)
    let whole = try FileTree.read(output)
    let end = try #require(whole.dropLast().lastIndex(of: 0x0A)) + 1
    // The output has nothing of the last result, only its beginning, all but one byte, all but the line end, or all of
    // it.
    for (size, sent) in [
      (end, 1), (end + 1, 1), (end + 8, 1), (whole.count - 2, 1), (whole.count - 1, 0), (whole.count, 0),
    ] {
      try folder.write(String(decoding: whole.prefix(size), as: UTF8.self), to: "out.jsonl")
      let requests = server.requestCount
      let result = try await Tool.run("run", "--resume", "-i", input, "-o", output)
      #expect(result.status == 0, "\(size): \(result.errorText)")
      #expect(server.requestCount - requests == sent, "\(size)")
      #expect(try lines(output) == [2, 3, 4], "\(size)")
      let cut = size > end && size < whole.count - 1
      #expect(result.errorText.contains("removed \(size - end) bytes of an incomplete result") == cut)
      #expect(result.errorText.contains(sent == 1 ? ", 2 results kept" : ", 3 results kept"))
    }
  }

  @Test func `existing results are not changed, and an error among them fails the run`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let bad = #"{"url": "http://127.0.0.1:1/"}"# + "\n" + "no JSON\n"
    let input = try folder.write(bad + #"{"url": "\#(server.baseURL)"}"#, to: "in.jsonl")
    let output = folder.path("out.jsonl")
    try #require(try await Tool.run("run", "-q", "-i", input, "-o", output).status == 1)
    let text = try FileTree.readText(output)
    let failures = text.split(separator: "\n").filter { $0.contains("\"error\"") }.map { "\($0)\n" }.joined()
    try folder.write(failures, to: "out.jsonl")
    let result = try await Tool.run("run", "--resume", "-i", input, "-o", output)
    #expect(result.status == 1)
    #expect(result.errorText.contains("1 request in ") && result.errorText.contains("2 results kept (2 failed)"))
    #expect(try FileTree.readText(output).hasPrefix(failures))
    #expect(try lines(output) == [1, 2, 3])
  }

  @Test func `without an existing output file, a run begins at the first line, and its input can be a pipe`()
    async throws
  {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let output = folder.path("out.jsonl")
    let text = input(5, server.baseURL)
    #expect(try await Tool.run("run", "-q", "--resume", "-o", output, input: text).status == 0)
    #expect(try lines(output) == [2, 3, 4, 5, 6])
    let again = try await Tool.run("run", "-q", "--resume", "-o", output, input: text + text)
    #expect(again.status == 0, "\(again.errorText)")
    #expect(try lines(output) == [2, 3, 4, 5, 6, 8, 9, 10, 11, 12])
    #expect(server.requestCount == 10)
  }

  // MARK: Refused files

  private static let result = #"{"id":"r1","line":2,"attempts":1,"durationMs":1}"# + "\n"

  /// The content of an output file, and the message with which it is refused.
  private static let refused: [(String, String)] = [
    ("\(result){\"id\":\"r2\",\"line\n\(result)", "line 2 of <output> is damaged: column"),
    ("\(result)\n", "line 2 of <output> is damaged: it is blank"),
    ("\(result)notes of a user", "line 2 of <output> is damaged: not a result of sluice run"),
    ("{}\n", "line 1 of <output> is damaged: not a result of sluice run"),
    (#"{"id":1,"attempts":1,"durationMs":1}\#n"#, "line 1 of <output> is damaged: it has no \"line\""),
    (#"{"id":1,"line":0,"attempts":1,"durationMs":1}\#n"#, "line 1 of <output> is damaged: it has no \"line\""),
    ("\(result)\(result)", "line 2 of <output> is a second result for line 2 of the input; remove one of the two"),
    (#"{"id":"r1","line":1,"attempts":1,"durationMs":1}\#n"#, "line 1 of <input> is blank"),
    // A line without an id would have this id, but line 2 has the id r1.
    (
      #"{"id":2,"line":2,"attempts":1,"durationMs":1}\#n"#,
      "its result for line 2 has another id than line 2 of <input>"
    ),
    (
      #"{"id":"x1","line":2,"attempts":1,"durationMs":1}\#n"#,
      "its result for line 2 has another id than line 2 of <input>"
    ),
    (
      #"{"id":"r9","line":9223372036854775807,"attempts":1,"durationMs":1}\#n"#,
      "it has a result for line 9223372036854775807, and <input> has 4 lines"
    ),
  ]

  @Test(arguments: refused)
  func `an output that does not belong to the input is refused and not changed, and nothing is sent`(
    _ text: String, _ message: String
  ) async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let input = try folder.write(input(3, server.baseURL), to: "in.jsonl")
    let output = try folder.write(text, to: "out.jsonl")
    let refused = try await Tool.run("run", "-q", "--resume", "-i", input, "-o", output)
    #expect(refused.status == 2)
    let expected = message.replacing("<output>", with: output).replacing("<input>", with: input)
    #expect(refused.errorText.contains(expected), "\(refused.errorText)")
    #expect(server.requestCount == 0)
    #expect(try FileTree.readText(output) == text)
  }

  @Test func `the result of a line that was too long, or not a request, is kept`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let lines =
      input(1, server.baseURL)
      + #"{"id": "r2", "url": "\#(server.baseURL)", "x": "\#(String(repeating: "a", count: 2 << 20))"}"#
    let input = try folder.write(lines, to: "in.jsonl")
    let small = try folder.write(#"{"transport": {"maxRequestBytes": 1000}}"#, to: "small.json")
    let output = folder.path("out.jsonl")
    #expect(try await Tool.run("run", "-q", "-c", small, "-i", input, "-o", output).status == 1)
    let results = try FileTree.readText(output)
    #expect(results.contains(#"{"id":3,"line":3,"error":{"code":"invalid_request""#))
    let again = try await Tool.run("run", "-q", "--resume", "-i", input, "-o", output)
    #expect(again.status == 1 && again.errorText.isEmpty, "\(again.errorText)")
    #expect(try FileTree.readText(output) == results)
    #expect(server.requestCount == 1)
  }

  @Test func `an input pipe that does not belong to the output ends the run at the first difference`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let output = try folder.write(Self.result, to: "out.jsonl")
    let other = input(3, server.baseURL).replacing("r1", with: "x1")
    let refused = try await Tool.run("run", "-q", "--resume", "-o", output, input: other)
    #expect(refused.status == 2)
    #expect(refused.errorText.contains("its result for line 2 has another id than line 2 of standard input"))
    let short = try await Tool.run("run", "-q", "--resume", "-o", output, input: "\n")
    #expect(short.status == 2)
    #expect(short.errorText.contains("it has a result for line 2, and standard input has 1 lines"))
    #expect(server.requestCount == 0)
    #expect(try FileTree.readText(output) == Self.result)
  }

  @Test func `an event log that is also the output is refused`() async throws {
    let folder = try TemporaryDirectory()
    let input = try folder.write(input(3, "http://127.0.0.1:9"), to: "in.jsonl")
    let output = try folder.write(Self.result, to: "out.jsonl")
    for (arguments, events) in [(["--resume"], output), (["--resume"], folder.path("link")), ([], output)] {
      _ = symlink(output, folder.path("link"))
      let refused = try await Command.run(
        Tool.path, ["run", "-q", "-i", input, "-o", output, "--events", events] + arguments, environment: Tool.cleared)
      #expect(refused.status == 2)
      #expect(refused.errorText.contains("--events \(events) is also the output; name another file"))
      #expect(try FileTree.readText(output) == Self.result)
    }
  }

  @Test func `standard output, a device and the input cannot be resumed`() async throws {
    let folder = try TemporaryDirectory()
    let input = try folder.write(Self.result, to: "in.jsonl")
    for (arguments, message) in [
      ([], "--resume: standard output cannot be read back; name the file of the earlier run with --output"),
      (["-o", "-"], "--resume: standard output cannot be read back"),
      (["-o", "/dev/null"], "--resume: /dev/null is not a regular file"),
      (["-o", input], "\(input) is also the input; name another output"),
    ] {
      let refused = try await Command.run(
        Tool.path, ["run", "--resume", "-i", input] + arguments, environment: Tool.cleared)
      #expect(refused.status == 2)
      #expect(refused.errorText.contains(message), "\(refused.errorText)")
    }
    #expect(try FileTree.readText(input) == Self.result)
  }

  @Test(arguments: [["--resume"], []])
  func `an output that another process writes is refused`(_ option: [String]) async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    server.hold()
    let folder = try TemporaryDirectory()
    let input = try folder.write(input(1, server.baseURL), to: "in.jsonl")
    let output = folder.path("out.jsonl")
    let running = try Tool.start("run", "-q", "-i", input, "-o", output)
    try await server.waitForHeld(1)
    let refused = try await Command.run(
      Tool.path, ["run", "-q", "-i", input, "-o", output] + option, environment: Tool.cleared)
    #expect(refused.status == 2)
    #expect(
      refused.errorText.contains("\(output) is being written by process \(running.processID); wait until it ends"))
    server.release()
    #expect(try await running.wait(upTo: Patience.limit).status == 0)
    #expect(try lines(output) == [2])
  }

  // MARK: The parts

  @Test func `a signal while the files are read stops the run before anything is sent or changed`() throws {
    let folder = try TemporaryDirectory()
    let text = Self.result + Self.result.replacing("\"line\":2", with: "\"line\":3") + #"{"id":"#
    let path = try folder.write(text, to: "out.jsonl")
    var reads = 0
    let failure = #expect(throws: CommandError.self) {
      _ = try ResumedOutput(path: path, besides: nil, lineLimitBytes: 1000) {
        reads += 1
        return reads == 2 ? SIGINT : nil
      }
    }
    #expect(failure?.status == .interrupted(by: SIGINT))
    #expect(failure?.message.contains("interrupted while reading \(path); nothing was sent or changed") == true)
    let output = try ResumedOutput(path: path, besides: nil, lineLimitBytes: 1000) { nil }
    #expect(output.finished.count == 2 && output.incompleteBytes == 6)
    let input = InputLines(
      owning: open(try folder.write("1\n2\n3\n", to: "in.jsonl"), O_RDONLY), name: "in", limitBytes: 1000)
    var resumed = ResumedInput(output, input)
    let second = #expect(throws: CommandError.self) { try resumed.check(input) { SIGTERM } }
    #expect(second?.status == .interrupted(by: SIGTERM))
    #expect(try FileTree.readText(path) == text)
  }

  @Test func `finished lines are found by number and id, and memory is used only for blocks with finished lines`() {
    var finished = FinishedLines()
    let numbers = [1, 255, 256, 257, 70_000, Int.max]
    for number in numbers {
      let isNew = finished.insert(number, id: IDFingerprint(of: "\(number)".utf8))
      #expect(isNew)
    }
    for number in numbers {
      #expect(finished[number] == IDFingerprint(of: "\(number)".utf8))
      let isNew = finished.insert(number, id: IDFingerprint(of: "x".utf8))
      #expect(!isNew)
    }
    for number in [0, 2, 254, 258, 69_999, Int.max - 1] { #expect(finished[number] == nil) }
    #expect(finished.count == numbers.count && finished.last == Int.max)
  }

  @Test func `fingerprints of ids use all values except 0 (no result) and 255 (a line that was not read)`() {
    let all = (0..<10_000).map { IDFingerprint(of: "r\($0)".utf8).rawValue }
    #expect(Set(all) == Set(1...254) && IDFingerprint.ofUnreadLine.rawValue == 255)
    #expect(IDFingerprint(rawValue: 0) == nil)
  }
}

/// Answers a number of requests and holds the others, so that a run cannot reach its end before it is interrupted.
private final class Gate: Sendable {
  private let state = Watched((admitted: 0, held: [DeferredResponse]()))

  func admit(_ count: Int) { state.update { $0.admitted = count } }

  func answer() -> ServerResponse {
    let isAdmitted = state.update { state in
      defer { state.admitted = max(0, state.admitted - 1) }
      return state.admitted > 0
    }
    return isAdmitted ? .text("ok") : .deferred { [state] response in state.update { $0.held.append(response) } }
  }

  func answerHeld() {
    let held = state.update { state in
      defer { state.held = [] }
      return state.held
    }
    for response in held { response.complete(with: .text("late")) }
  }
}
