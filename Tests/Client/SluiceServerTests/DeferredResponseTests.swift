import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct DeferredResponseTests {
  /// Holds 500 responses. The transport's tests hold 10,000. The test runs in its own process, so that all threads are
  /// the server's.
  @Test func `held responses need no thread, and are sent when they are released`() async {
    await #expect(processExitsWith: .success) { try await Self.holdAnswers() }
  }

  private static func holdAnswers() async throws {
    let server = try LoopbackServer { .text($0.target) }
    server.hold()
    let clients = try (0..<500).map { _ in try RawClient(port: server.port) }
    let threadsBefore = ProcessFacts().threadCount
    for (number, client) in clients.enumerated() {
      try client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
    }
    try await server.waitForHeld(500)
    // With one thread for each request, there would be 500 new threads. The task pool can start a few.
    #expect(ProcessFacts().threadCount < threadsBefore + 100)

    server.release()
    for (number, client) in clients.enumerated() {
      #expect(try client.readResponse().bodyText == "/\(number)")
    }
  }

  @Test func `a deferred response that is completed before the handler returns is sent`() throws {
    let server = try EmbeddedServer { _ in .deferred { $0.complete(with: .text("early")) } }
    let client = try RawClient(port: server.port)
    for _ in 0..<20 { #expect(try client.request().bodyText == "early") }
  }

  @Test func `a second completion is refused and changes nothing`() async throws {
    let answers = Watched<[DeferredResponse]>([])
    let server = try EmbeddedServer { _ in .deferred { answer in answers.update { $0.append(answer) } } }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let answer = try #require(try await answers.wait { !$0.isEmpty }.first)
    #expect(answer.complete(with: .text("first")))
    #expect(!answer.complete(with: .text("second")))
    #expect(try client.readResponse().bodyText == "first")
  }

  @Test func `stop closes held connections, and a late completion is refused`() async throws {
    let answers = Watched<[DeferredResponse]>([])
    let server = try EmbeddedServer { _ in .deferred { answer in answers.update { $0.append(answer) } } }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let answer = try #require(try await answers.wait { !$0.isEmpty }.first)
    server.stop()
    #expect(try client.readToEnd().isEmpty)
    #expect(!answer.complete(with: .text("late")))
  }
}
