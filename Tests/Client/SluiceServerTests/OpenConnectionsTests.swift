import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceServer

/// A server that accepts a limited number of connections.
@Suite struct OpenConnectionsTests {
  // MARK: Which connection is closed

  private func full(_ limit: Int = 3) -> OpenConnections {
    var connections = OpenConnections(limit: limit)
    for id in 1...limit { #expect(connections.open(OpenConnections.ID(id), descriptor: Int32(100 + id)) == nil) }
    return connections
  }

  @Test func `a connection beyond the limit closes the connection that was idle longest, and none is closed twice`() {
    var connections = full()
    #expect(connections.open(4, descriptor: 104) == 101)
    #expect(connections.open(5, descriptor: 105) == 102, "connection 1 is not closed yet")
    connections.close(1)
    connections.close(2)
    #expect(connections.open(6, descriptor: 106) == 103)
  }

  @Test func `a request resets the idle time of its connection`() {
    var connections = full()
    #expect(connections.begin(1) == true)
    connections.end(1)
    #expect(connections.open(4, descriptor: 104) == 102)
  }

  @Test func `a connection whose request is being answered is not closed`() {
    var connections = full()
    for id in [1, 2] as [OpenConnections.ID] { #expect(connections.begin(id) == true) }
    #expect(connections.open(4, descriptor: 104) == 103)
    connections.close(3)
    #expect(connections.begin(4) == true)
    #expect(connections.open(5, descriptor: 105) == nil, "no connection is idle")
    #expect(connections.begin(5) == false, "as many requests as the limit are being answered")
    #expect(connections.open(6, descriptor: 106) == 105)
    connections.end(1)
    #expect(connections.begin(6) == true)
  }

  @Test func `a closed connection makes room for another one`() {
    var connections = full(1)
    connections.close(1)
    #expect(connections.open(2, descriptor: 102) == nil)
    #expect(OpenConnections(limit: 0).limit == 1)
  }

  // MARK: The server

  private static func server(_ limit: Int, handler: @escaping EmbeddedServer.Handler) throws -> EmbeddedServer {
    var options = ServerOptions()
    options.workers = 1
    options.maximumConnections = limit
    options.crowdRefusal = .text("crowded", status: 503)
    return try EmbeddedServer(options: options, handler: handler)
  }

  @Test func `many silent clients do not block other clients, and are disconnected`() throws {
    let server = try Self.server(8) { _ in .text("ok") }
    let used = try RawClient(port: server.port)
    var silent: [RawClient] = []
    for _ in 0..<50 {
      silent.append(try RawClient(port: server.port))
      // One connection among the silent ones is in use.
      #expect(try used.request().bodyText == "ok")
    }
    for client in silent.dropLast(8) { #expect(try client.readToEnd().isEmpty) }
    // A client that has sent a part of its request counts as silent too.
    let slow = try RawClient(port: server.port)
    try slow.send("GET / HTT")
    for _ in 0..<8 { silent.append(try RawClient(port: server.port)) }
    #expect(try slow.readToEnd().isEmpty)
    #expect(try RawClient(port: server.port).request().bodyText == "ok")
  }

  @Test func `if all connections are busy, a further request is refused, and no running request is lost`()
    async throws
  {
    let answers = Watched<[DeferredResponse]>([])
    let server = try Self.server(4) { _ in .deferred { answer in answers.update { $0.append(answer) } } }
    let busy = try (0..<4).map { _ in
      let client = try RawClient(port: server.port)
      try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      return client
    }
    try await answers.wait { $0.count == 4 }
    for _ in 0..<10 {
      let refused = try RawClient(port: server.port).request()
      #expect(refused.status == 503 && refused.bodyText == "crowded")
    }
    for answer in answers.value { #expect(answer.complete(with: .text("ok"))) }
    for client in busy { #expect(try client.readResponse().bodyText == "ok") }
    let next = try RawClient(port: server.port)
    try next.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    try await answers.wait { $0.count == 5 }
    #expect(try #require(answers.value.last).complete(with: .text("again")))
    #expect(try next.readResponse().bodyText == "again")
  }
}
