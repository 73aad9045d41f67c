import Sluice
import SluiceControl
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The metrics of an engine over TCP.
@Suite struct MetricsServerTests {
  private let engine: Engine
  private let metrics: MetricsServer

  init() throws {
    engine = try Engine(Configuration())
    metrics = try MetricsServer(engine)
  }

  private func ask(
    _ method: String = "GET", _ target: String = "/metrics", headers: [String] = []
  ) async throws -> RawClient.Response {
    let port = metrics.port
    return try await blocking { try RawClient(port: port).request(method, target, headers: headers) }
  }

  private func end() async {
    await engine.shutdown()
    metrics.stop()
  }

  @Test func `a scraper gets the metrics as text, whatever its Accept field says`() async throws {
    #expect(metrics.url == "http://127.0.0.1:\(metrics.port)/metrics")
    for accept in [[], ["Accept: application/json"]] {
      let response = try await ask(headers: accept)
      #expect(response.status == 200)
      #expect(response.headers.first("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
      #expect(response.bodyText.contains("\nsluice_engine_attempts_total 0\n"))
      #expect(response.bodyText.contains("\nprocess_open_fds "))
    }
    await end()
  }

  @Test func `a request whose end is ambiguous is refused, and the next request is not answered`() async throws {
    let client = try RawClient(port: metrics.port)
    // The requests are sent in one piece, so that the server has read them all when it closes.
    try client.send(
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"
        + "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try client.readResponse().status == 400)
    #expect(try client.readToEnd().isEmpty)
    await end()
  }

  @Test func `the server serves only metrics, and no request changes anything`() async throws {
    for target in ["/", "/v1/status", "/metrics/"] { #expect(try await ask("GET", target).status == 404) }
    let refusal = try await ask("POST")
    #expect(refusal.status == 405 && refusal.headers.first("Allow") == "GET, HEAD")
    await end()
  }

  @Test(arguments: ["attacker.example", "attacker.example:80", "127.0.0.1.attacker.example"])
  func `a request with a foreign host name is refused, even if it resolves to this machine`(
    _ host: String
  ) async throws {
    #expect(try await ask(headers: ["Host: \(host)"]).status == 421)
    #expect(try await ask(headers: ["Host: localhost:\(metrics.port)"]).status == 200)
    await end()
  }

  @Test func `the error for a port that is in use names the port`() async throws {
    let error = #expect(throws: ControlError.self) { try MetricsServer(engine, port: metrics.port) }
    #expect(error?.code == .socket)
    #expect(error?.message.contains("127.0.0.1:\(metrics.port)") == true)
    await end()
  }

  @Test func `after the server has stopped, nothing listens on its port`() async throws {
    let port = metrics.port
    await end()
    metrics.stop()
    await #expect(throws: (any Error).self) {
      try await blocking { try RawClient(port: port).request() }
    }
  }
}
