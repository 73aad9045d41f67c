import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// How a run ends before the end of its input.
@Suite struct RunEndingTests {
  private func lines(_ range: Range<Int>, _ url: String) -> String {
    range.map { #"{"id": "r\#($0)", "url": "\#(url)"}"# + "\n" }.joined()
  }

  @Test(arguments: [(2, 130), (15, 143)] as [(Int32, Int32)])
  func `after a signal, running requests finish and no new requests begin`(
    _ signal: Int32, _ status: Int32
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let running = try Tool.start("run", "--concurrency", "4")
    try running.write(lines(0..<20, server.baseURL))
    try await server.waitForHeld(4)
    running.send(signal: signal)
    // The input stays open: the run must not wait for it.
    server.release()
    let result = try await running.wait()
    #expect(result.status == status)
    let documents = try result.documents
    #expect(documents.count == server.requestCount)
    #expect(documents.allSatisfy { $0.status == 200 })
    #expect(result.errorText.contains("interrupted"))
  }

  @Test func `a request that does not finish within the drain time fails, and has a result`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let running = try Tool.start("run", "-q", "--drain", "50ms")
    try running.write(lines(0..<2, server.baseURL))
    try await server.waitForHeld(2)
    running.send(signal: 2)
    let result = try await running.wait()
    #expect(result.status == 130)
    #expect(try result.documents.map(\.errorCode) == ["shutdown", "shutdown"])
  }

  @Test func `a second signal ends the run at once`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let running = try Tool.start("run")
    try running.write(lines(0..<2, server.baseURL))
    try await server.waitForHeld(2)
    running.send(signal: 2)
    try await running.waitForError(containing: "for 2 requests in flight; a second signal ends at once")
    // The second signal is of another kind, because two pending signals of one kind would count as one.
    running.send(signal: 15)
    #expect([130, 143].contains(try await running.wait(upTo: Patience.limit).status))
  }

  @Test func `if nobody reads its output, the run ends with status 141 and no message, even if its input is open`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let script = "trap '' PIPE; { \(Tool.path) run -q; echo $? >&2; } | { exec <&-; echo closed >&2; }"
    let running = try Command("bash", ["-c", script], environment: Tool.cleared).start()
    try running.write(lines(0..<1, server.baseURL))
    try await server.waitForHeld(1)
    try await running.waitForError(containing: "closed")
    server.release()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.errorText == "closed\n141\n")
  }

  @Test(arguments: 6...8)
  func `too few descriptors for the threads of the command are reported`(_ count: Int) async throws {
    let script = "ulimit -n \(count); exec \(Tool.path) run -q"
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.ending == .exited(1), "\(result.errorText)")
    #expect(result.errorText.contains("ulimit -n"), "\(result.errorText)")
  }

  @Test func `with too few descriptors, run warns, and only requests that get no descriptor fail`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let script = "ulimit -n 64; exec \(Tool.path) run -q --concurrency 300"
    let running = try Command("sh", ["-c", script], environment: Tool.cleared).start()
    running.writeAndClose(Array(lines(0..<300, server.baseURL).utf8))
    try await server.waitForHeld(20)
    try await running.waitForOutput(containing: "Too many open files")
    // The engine leaves the last descriptor numbers to libdispatch, which ends the process if it cannot open a
    // descriptor. If a socket of the engine gets such a number, the engine closes the socket at once. A single look
    // could still see it. Numbers above the limit are inherited.
    let counts = (0..<20).map { _ in
      FileTree.names(in: "/proc/\(running.processID)/fd").compactMap { Int($0) }.count { $0 < 64 }
    }
    #expect(counts.contains { $0 <= 64 - 16 }, "\(counts)")
    server.release()
    let result = try await running.wait()
    #expect(result.status == 1)
    #expect(result.errorText.contains("this run can need 556 descriptors (300 for --concurrency, 256 for"))
    #expect(result.errorText.contains("but only 64 are allowed"))
    #expect(result.errorText.contains("or lower --concurrency"))
    let documents = try result.documents
    #expect(documents.count == 300)
    #expect(documents.contains { $0.status == 200 } && documents.contains { $0.errorCode == "resources" })
  }

  @Test func `a run with one request in flight is not told to lower --concurrency`() async throws {
    let script = "ulimit -n 64; exec \(Tool.path) run -q --concurrency 1 </dev/null"
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.status == 0 && result.errorText.contains("this run can need 257 descriptors"), "\(result.errorText)")
    #expect(!result.errorText.contains("lower --concurrency"), "\(result.errorText)")
  }

  @Test func `a full output device ends the run with status 1, and the reason is printed`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("run", "-q", "-o", "/dev/full", input: lines(0..<50, server.baseURL))
    #expect(result.status == 1)
    #expect(result.errorText.contains("cannot write /dev/full: No space left on device"))
  }

  /// Disabled under a sanitizer: ThreadSanitizer maps its own file at the start, which the limit truncates.
  @Test(.enabled(if: !Sanitizer.isOn))
  func `if an output exceeds the file size limit, the run ends with status 1 and prints the reason`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let output = folder.path("out.jsonl")
    // Four blocks of 512 bytes.
    let words = ["-c", "ulimit -f 4; exec \"$0\" run -q -o \"$1\"", Tool.path, output]
    let input = Array(lines(0..<50, server.baseURL).utf8)
    let result = try await Command.run("/bin/sh", words, environment: Tool.cleared, standardInput: input)
    #expect(result.status == 1)
    #expect(result.errorText.contains("cannot write \(output): File too large"), "\(result.errorText)")
  }

  @Test func `the error for an output that is a folder says that it is a folder`() async throws {
    let folder = try TemporaryDirectory()
    let result = try await Tool.run("run", "-q", "-o", folder.path, input: "")
    #expect(result.status == 1)
    #expect(
      result.errorText.contains("cannot write \(folder.path): it is a folder; name a file"), "\(result.errorText)")
  }

  @Test func `if an output file is removed while the run writes it, the run ends with status 1`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let folder = try TemporaryDirectory()
    let output = folder.path("out.jsonl")
    let running = try Tool.start("run", "-q", "-o", output)
    try running.write(lines(0..<1, server.baseURL))
    try await server.waitForHeld(1)
    try #require(unlink(output) == 0)
    server.release()
    running.closeInput()
    let result = try await running.wait()
    #expect(result.status == 1)
    #expect(result.errorText.contains("\(output) was removed or replaced while it was written"), "\(result.errorText)")
  }

  @Test func `after a signal, the run ends even if nobody reads its output`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    // Both ends are open, so that opening does not wait. The pipe is full, and nobody reads it.
    let reader = FileDescriptor(adopting: open(pipe, O_RDWR | O_CLOEXEC | O_NONBLOCK))
    defer { withExtendedLifetime(reader) {} }
    let bytes = [UInt8](repeating: 0, count: 4096)
    while write(reader.number, bytes, bytes.count) > 0 {}
    try #require(errno == EAGAIN)
    let running = try Tool.start("run", "-q", "--drain", "10ms", "-o", pipe)
    try running.write(lines(0..<4, server.baseURL))
    try await server.waitForRequests(4)
    running.send(signal: 15)
    let result = try await running.wait()
    #expect(result.status == 143)
    #expect(
      result.errorText.contains("interrupted, but \(pipe) has accepted no bytes for 5 seconds"), "\(result.errorText)")
  }

  @Test func `a slow reader delays the run, and gets every result`() async throws {
    let body = String(repeating: "x", count: 40_000)
    let server = try LoopbackServer(recording: .countOnly) { _ in .text(body) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(lines(0..<1000, server.baseURL), to: "in.jsonl")
    // The reader waits for a line of the test on descriptor 3.
    let script = "exec 3<&0; \(Tool.path) run -q -i \(file) | { read -r go <&3; wc -l; }"
    let running = try Command("bash", ["-c", script], environment: Tool.cleared).start()
    try await server.waitForRequests(100)
    // At most 4 MiB of results wait, in addition to those of requests in flight. Until they are read, no other request
    // begins.
    #expect(server.requestCount < 500)
    try running.write("go\n")
    #expect(try await running.wait().outputText.trimmed == "1000")
  }
}
