import Sluice
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Headers of a request that the transport does not send.
@Suite struct UnsentFieldTests {
  private let server: LoopbackServer
  private let engine: Engine
  private let log = Watched<[LogLine]>([])

  init() throws {
    server = try LoopbackServer()
    let log = log
    engine = try Engine(Configuration()) { line in log.update { $0.append(line) } }
  }

  private func send(_ headers: HeaderFields, user: String = "") async throws -> TransactionResult {
    let url = server.baseURL.replacing("//", with: "//" + user)
    return await engine.transaction(
      Request(method: "POST", url: try HTTPURL(url + "/secret-path"), headers: headers, body: .text("hello")))
  }

  private func end() async {
    await engine.shutdown()
    server.stop()
  }

  @Test(arguments: [
    ("Content-Length", "3"), ("Transfer-Encoding", "chunked"), ("Connection", "close"), ("Keep-Alive", "timeout=5"),
    ("TE", "gzip"),
    ("Trailer", "x-sum"), ("Upgrade", "h2c"), ("Proxy-Authorization", "Basic hidden"), ("Proxy-Connection", "close"),
  ])
  func `a header that frames the message or belongs to the connection is not sent, and this is logged`(
    name: String, value: String
  ) async throws {
    let result = try await send([name: value, "X-Own": "a"], user: "user:hidden@")
    #expect(result.error == nil)
    let sent = try #require(server.requests.first)
    #expect(sent.body == Array("hello".utf8))
    #expect(sent.headers.first(name) == (name == "Content-Length" ? "5" : nil))
    #expect(sent.headers.first("X-Own") == "a")
    let lines = log.value
    #expect(lines.map(\.level) == [.warning])
    let message = lines.first?.message ?? ""
    #expect(message.contains("POST \(server.baseURL): the header \"\(name.lowercased())\" is not sent"), "\(message)")
    #expect(!message.contains("hidden") && !message.contains("secret-path"), "\(message)")
    await end()
  }

  @Test func `several unsent headers of one request are named in one log line`() async throws {
    _ = try await send(["TE": "a", "Connection": "te", "te": "b", "Content-Length": "5"])
    #expect(log.value.count == 1)
    #expect(log.value.first?.message.contains("the headers \"te\", \"connection\", \"content-length\" are") == true)
    await end()
  }

  @Test func `an unsent header is logged once for many requests, and another unsent header is still logged`()
    async throws
  {
    for _ in 0..<100 { _ = try await send(["Content-Length": "5"]) }
    #expect(log.value.count == 3)
    _ = try await send(["Content-Length": "5", "Connection": "close"])
    #expect(log.value.count == 4)
    #expect(log.value.last?.message.contains("the header \"connection\" is") == true)
    await end()
  }

  @Test func `headers that are sent are not logged`() async throws {
    _ = try await send(["Accept": "a", "X-Connection": "b", "Content-Type": "c", "Host": "d", "Authorization": "e"])
    #expect(log.value.isEmpty)
    await end()
  }
}
