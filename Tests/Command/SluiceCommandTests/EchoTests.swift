import SluiceJSON
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice echo`.
@Suite struct EchoTests {
  @Test func `echo prints its URL, answers with the request, and ends on SIGINT`() async throws {
    let running = try Tool.start("echo")
    try await running.waitForOutput(containing: "\n")
    let url = running.outputSoFar.trimmed
    let result = try await Tool.run("send", url + "/some/path", "-d", "x")
    let document = try JSONValue(parsing: result.standardOutput)
    #expect(document["url"]?.string == url + "/some/path")
    #expect(document["body"]?["text"]?.string == "x")
    running.send(signal: 2)
    #expect(try await running.wait().status == 130)
  }

  @Test func `a request whose end is ambiguous is refused with the reason`() async throws {
    let running = try Tool.start("echo")
    try await running.waitForOutput(containing: "\n")
    let port = try #require(running.outputSoFar.trimmed.split(separator: ":").last.flatMap { UInt16($0) })
    let client = try RawClient(port: port)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nhello")
    let response = try client.readResponse()
    #expect(response.status == 400)
    #expect(
      response.bodyText == "the head of the request is not valid: two values of Content-Length that differ: 0 and 5\n")
    #expect(try client.readToEnd().isEmpty)
    running.send(signal: 2)
    #expect(try await running.wait().status == 130)
  }

  @Test func `if no descriptor is free, echo waits without spinning, and answers when some are free again`()
    async throws
  {
    let running = try Tool.start("echo")
    try await running.waitForOutput(containing: "\n")
    let port = try #require(running.outputSoFar.trimmed.split(separator: ":").last.flatMap { UInt16($0) })
    // Standard input, output and error already use these three descriptors.
    try await limitDescriptors(of: running.processID, to: 3)
    let client = try RawClient(port: port)
    let atFirst = try pauses(of: running.processID)
    // A thread that spins never gives up the processor voluntarily, so this counter would not grow.
    #expect(try await eventually { try pauses(of: running.processID) >= atFirst + 20 })
    try await limitDescriptors(of: running.processID, to: 64)
    #expect(try client.request().status == 200)
    running.send(signal: 2)
    #expect(try await running.wait().status == 130)
  }

  private func limitDescriptors(of process: Int32, to count: Int) async throws {
    try await Command.check("prlimit", ["--pid", "\(process)", "--nofile=\(count):"])
  }

  /// Returns how often the threads of a process have begun to wait.
  private func pauses(of process: Int32) throws -> Int {
    let threads = "/proc/\(process)/task"
    let lines = try FileTree.names(in: threads).flatMap { thread in
      try FileTree.readText("\(threads)/\(thread)/status").split(separator: "\n")
    }
    return lines.filter { $0.hasPrefix("voluntary_ctxt_switches:") }
      .compactMap { $0.split(separator: "\t").last.flatMap { Int($0) } }.reduce(0, +)
  }

  @Test func `a port that is in use is named in the message`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("echo", "--port", "\(server.port)")
    #expect(result.status == 1)
    #expect(result.errorText.contains("cannot listen on 127.0.0.1:\(server.port)"))
  }
}
