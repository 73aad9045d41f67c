import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct ScriptedServerTests {
  @Test func `bytes are sent and received unchanged`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 Fine\r\nA:b\r\n\r\nrest"))
    let client = try RawClient(port: server.port)
    try client.send("GET  / HTTP/1.1\r\nodd :line\r\n\r\n")
    #expect(try client.readToEnd() == Array("HTTP/1.1 200 Fine\r\nA:b\r\n\r\nrest".utf8))
    try await server.waitForScripts()
    #expect(server.receivedText == ["GET  / HTTP/1.1\r\nodd :line\r\n\r\n"])
  }

  @Test func `each connection follows the script with its number, and further connections follow the last script`()
    throws
  {
    let server = try ScriptedServer([ScriptStep.respond(body: "one"), ScriptStep.respond(body: "more")])
    let bodies = try (0..<3).map { _ in try RawClient(port: server.port).request("POST", "/", body: "x").bodyText }
    #expect(bodies == ["one", "more", "more"])
    #expect(server.connectionCount == 3)
  }

  @Test func `a closure answers the requests of a connection one by one, until it closes`() throws {
    let server = try ScriptedServer { head, number in
      let answer = [ScriptStep.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")]
      return head.startLine.contains("/last") ? answer + [.close, .send("never")] : answer
    }
    let client = try RawClient(port: server.port)
    #expect(try client.request("POST", "/", body: "read whole").bodyText == "0")
    #expect(try client.request("GET", "/last").bodyText == "1")
    #expect(try client.readToEnd() == [])
  }

  @Test func `a script can wait for the test between two bytes`() async throws {
    let (reached, goOn) = (Signal(), Signal())
    let server = try ScriptedServer(.send("a"), .signal(reached), .wait(goOn), .send("b"))
    let client = try RawClient(port: server.port)
    #expect(try client.take(1) == Array("a".utf8))
    try await reached.wait()
    goOn.set()
    #expect(try client.readToEnd() == Array("b".utf8))
  }

  @Test func `reset ends the connection with an error at the client`() throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\n"), .reset)
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(throws: TestKitError.self) { try client.readToEnd() }
  }

  @Test func `stop ends scripts that wait and connections that read`() async throws {
    let server = try ScriptedServer([[.wait(Signal())], [.receiveToEnd]])
    let clients = [try RawClient(port: server.port), try RawClient(port: server.port)]
    try await server.waitForConnections(2)
    server.stop()
    for client in clients { #expect(try client.readToEnd().isEmpty) }
  }
}
