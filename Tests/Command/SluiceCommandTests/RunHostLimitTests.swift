import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// `sluice run --max-per-host` and `--rate-per-host`.
@Suite struct RunHostLimitTests {
  private func lines(_ count: Int, _ url: String) -> String {
    String(repeating: #"{"url": "\#(url)"}"# + "\n", count: count)
  }

  @Test(arguments: [[], ["--rate", "100000/s"]])
  func `a host gets at most its limit of requests at a time, and other hosts do not wait for it`(
    _ more: [String]
  ) async throws {
    let slow = try LoopbackServer(recording: .countOnly)
    let fast = try LoopbackServer(recording: .countOnly)
    defer {
      slow.stop()
      fast.stop()
    }
    slow.hold()
    let running = try Command(
      Tool.path, ["run", "-q", "--max-per-host", "3", "--concurrency", "8"] + more, environment: Tool.cleared
    ).start()
    // The lines for the slow host come first. There are many more of these lines than requests that can be in flight.
    running.writeAndClose(Array((lines(2_000, slow.baseURL) + lines(500, fast.baseURL)).utf8))
    try await slow.waitForHeld(3)
    try await fast.waitForRequests(500)
    #expect(slow.requestCount == 3)
    slow.release()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.count == 2_500)
    #expect(slow.requestCount == 2_000 && fast.requestCount == 500)
  }

  /// The pause of a host ends while no slot is free. The run must continue nevertheless.
  @Test func `if the pause of a host ends while no slot is free, the run is not blocked`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    server.hold()
    let running = try Command(
      Tool.path, ["run", "-q", "--rate-per-host", "1000/s", "--concurrency", "2"], environment: Tool.cleared
    ).start()
    running.writeAndClose(Array(lines(20, server.baseURL).utf8))
    try await server.waitForHeld(2)
    // The pause after the second request ends while the server holds both requests.
    let clock = ContinuousClock()
    let start = clock.now
    while clock.now - start < .milliseconds(20) { await Task.yield() }
    server.release()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.count == 20)
  }

  @Test func `requests to one host begin at the host's rate, and other hosts do not wait for them`() async throws {
    let paced = try LoopbackServer(recording: .countOnly)
    let other = try LoopbackServer(recording: .countOnly)
    defer {
      paced.stop()
      other.stop()
    }
    let clock = ContinuousClock()
    let start = clock.now
    let running = try Tool.start("run", "-q", "--rate-per-host", "10/s")
    // The input stays open, because waiting jobs must begin without another line.
    try running.write(lines(4, paced.baseURL) + lines(1, other.baseURL))
    try await other.waitForRequests(1)
    try await paced.waitForRequests(4)
    #expect(clock.now - start >= .milliseconds(3 * 100))
    running.closeInput()
    let documents = try await running.wait(upTo: Patience.limit).documents
    #expect(documents.count == 5 && documents.allSatisfy { $0.status == 200 })
    // The last line did not wait for the lines before it, which are for the other host.
    #expect(try #require(documents.firstIndex { $0["line"] == 5 }) < 3, "\(documents.map { $0["line"] })")
  }

  @Test(arguments: [[], ["--rate", "100000/s"]])
  func `a signal drops requests that wait for their host`(_ more: [String]) async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    server.hold()
    let running = try Command(
      Tool.path, ["run", "--max-per-host", "1"] + more, environment: Tool.cleared
    ).start()
    try running.write(lines(5_000, server.baseURL))
    try await server.waitForHeld(1)
    running.send(signal: 2)
    while !running.hasEnded {
      server.release()
      server.hold()
      await Task.yield()
    }
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 130)
    #expect(result.errorText.contains("lines read but not sent"), "\(result.errorText)")
    #expect(try result.documents.count == server.requestCount)
  }

  @Test(arguments: [
    (["--max-per-host", "0"], "--max-per-host: expected a number from 1 to 1000000, found \"0\""),
    (
      ["--rate-per-host", "often"],
      "--rate-per-host: expected requests a second, such as 50/s or 0.5/s, found \"often\""
    ),
  ])
  func `a wrong limit is refused`(_ options: [String], _ message: String) async throws {
    let result = try await Command.run(Tool.path, ["run"] + options, environment: Tool.cleared)
    #expect(result.status == 2)
    #expect(result.errorText.contains(message), "\(result.errorText)")
  }

  // MARK: The queue

  private func job(_ line: Int, _ host: String) throws -> RunJob {
    RunJob(id: ResultID(line: line), line: line, request: Request(url: try HTTPURL("http://\(host)/")), lineBytes: 10)
  }

  @Test func `a queue keeps the order within a host, and jobs for other hosts can overtake`() throws {
    var queue = RunQueue(HostLimits(inFlight: 2))
    let jobs = try ["a", "a", "a", "b", "a", "b"].enumerated().map { try job($0 + 1, $1) }
    for job in jobs { queue.append(job) }
    func next() -> Int? { queue.popFirst()?.line }
    #expect([next(), next(), next(), next(), next()] == [1, 2, 4, 6, nil])
    #expect(!queue.isEmpty)
    queue.end(jobs[3])
    #expect(next() == nil)
    queue.end(jobs[0])
    #expect([next(), next()] == [3, nil])
    queue.end(jobs[1])
    #expect(next() == 5)
    #expect(queue.isEmpty)
  }

  @Test func `a queue is full at its limit, and empty after all jobs were dropped`() throws {
    var queue = RunQueue(HostLimits(inFlight: 1))
    let one = try job(1, "a")
    for _ in 0..<8_192 {
      #expect(!queue.isFull)
      queue.append(one)
    }
    #expect(queue.isFull && !queue.isHalfEmpty)
    #expect(queue.removeAll() == 8_192)
    #expect(queue.isEmpty && queue.isHalfEmpty && queue.popFirst() == nil)
  }

  @Test func `after a request was started, its host pauses, even if no other job waits`() throws {
    var queue = RunQueue(HostLimits(interval: .seconds(3600)))
    let jobs = try [job(1, "a"), job(2, "a"), job(3, "b")]
    #expect(queue.nextRestEnd == nil)
    queue.append(jobs[0])
    #expect(queue.popFirst()?.line == 1)
    queue.end(jobs[0])
    queue.append(jobs[1])
    queue.append(jobs[2])
    #expect(queue.popFirst()?.line == 3)
    #expect(queue.popFirst() == nil && !queue.isEmpty)
    #expect(queue.nextRestEnd != nil)
  }
}
