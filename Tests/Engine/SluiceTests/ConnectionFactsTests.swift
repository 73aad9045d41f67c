import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The facts that a plugin gets about the connection of each hop (`sluice.connection/1`).
@Suite struct ConnectionFactsTests {
  private struct Run {
    let results: [TransactionResult]
    private let lines: [String]

    init(_ results: [TransactionResult], _ lines: [String]) {
      self.results = results
      self.lines = lines
    }

    func told(_ name: String) -> [String] {
      lines.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    /// Returns the word that follows `word` in `line`, or nil if there is none.
    static func value(_ word: String, in line: String) -> String? {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      return words.firstIndex { $0 == word }.flatMap { $0 + 1 < words.count ? String(words[$0 + 1]) : nil }
    }
  }

  private func run(
    _ urls: [String], transport: String = "{}", unixSocket: String? = nil, defines: [String] = [],
    delivery: String = "inline"
  ) async throws -> Run {
    let product = try await PluginCompiler.compile("tells-connections", defines: defines)
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)", "delivery": "\(delivery)"}},
       "request": ["stage"], "issue": ["stage"], "response": ["stage"], "tracers": ["stage"], "transport": \(transport)}
      """
    let log = Watched<[String]>([])
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.transport.unixSocket = unixSocket
    let engine = try Engine(configuration) { line in log.update { $0.append(line.message) } }
    var results: [TransactionResult] = []
    for url in urls { results.append(await engine.transaction(Request(url: try HTTPURL(url)))) }
    await engine.shutdown()
    withExtendedLifetime(product) {}
    return Run(results, log.value)
  }

  @Test func `without TLS, a plugin gets addresses, version and whether the connection was used before`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let run = try await run([server.baseURL + "/a", server.baseURL + "/b"], transport: #"{"loops": 1}"#)
    #expect(run.results.allSatisfy { $0.error == nil })
    // There are no facts before the request is issued, and no version before the response's head arrives.
    #expect(run.told("request") == ["status 1", "status 1"])
    #expect(run.told("issue").map { Run.value("version", in: $0) } == ["0", "0"])
    let ends = run.told("end")
    #expect(ends == run.told("response") && ends == run.told("complete") && ends.count == 2)
    #expect(ends.map { Run.value("version", in: $0) } == ["11", "11"])
    #expect(ends.map { Run.value("reused", in: $0) } == ["1", "2"])
    #expect(ends.map { Run.value("secure", in: $0) } == ["1", "1"])
    #expect(ends.allSatisfy { Run.value("peer", in: $0) == "127.0.0.1:\(server.port)" })
    #expect(ends.allSatisfy { $0.hasSuffix("   der 0 00") })
    let locals = ends.compactMap { Run.value("local", in: $0) }
    #expect(locals.count == 2 && Set(locals).count == 1 && locals.allSatisfy { $0.hasPrefix("127.0.0.1:") })
    let ids = ends.compactMap { Run.value("id", in: $0) }
    #expect(Set(ids).count == 1 && ids.first != "0")
    #expect(run.told("end-event") == ends && run.told("receive-event") == ends)
    #expect(run.told("complete-event") == ["none", "none"])
    // A plugin that was compiled with a shorter struct gets only the fields of that struct.
    #expect(run.told("small") == ["1107", "1107"])
  }

  @Test func `two connections have different ids`() async throws {
    let servers = [try LoopbackServer(), try LoopbackServer()]
    defer { for server in servers { server.stop() } }
    let run = try await run(servers.map { $0.baseURL + "/" })
    #expect(Set(run.told("end").compactMap { Run.value("id", in: $0) }).count == 2)
  }

  @Test(.enabled(if: NginxServer.isAvailable), arguments: [("1.1", "11"), ("2", "20")])
  func `over TLS, a plugin gets version, cipher and the server's certificate`(_ version: String, _ number: String)
    async throws
  {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let run = try await run(
      [nginx.secureBaseURL + "/", nginx.secureBaseURL + "/"],
      transport: #"{"httpVersion": "\#(version)", "tls": {"ca": "\#(certificates.authority)"}}"#)
    #expect(run.results.allSatisfy { $0.error == nil })
    let ends = run.told("end")
    #expect(ends.map { Run.value("version", in: $0) } == [number, number])
    #expect(ends.map { Run.value("secure", in: $0) } == ["2", "2"])
    #expect(ends.allSatisfy { $0.contains(" TLSv1.2 ECDHE-ECDSA-") }, "\(ends)")
    #expect(run.told("end-event") == ends && run.told("receive-event") == ends)
    // DER begins with a SEQUENCE.
    #expect(ends.allSatisfy { Run.value("der", in: $0).flatMap(Int.init) ?? 0 > 200 && $0.hasSuffix(" 30") })
    try await nginx.stop()
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a tracer with queued delivery gets the facts without the certificate`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let run = try await run(
      [nginx.secureBaseURL + "/", nginx.secureBaseURL + "/"],
      transport: #"{"loops": 1, "tls": {"ca": "\#(certificates.authority)"}}"#, delivery: "queued")
    #expect(run.results.allSatisfy { $0.error == nil })
    let responses = run.told("response")
    #expect(responses.count == 2 && responses.allSatisfy { $0.hasSuffix(" 30") })
    let expected = responses.map { "\($0.split(separator: " der ")[0]) der 0 00" }
    #expect(run.told("end-event") == expected && run.told("receive-event") == expected)
    #expect(run.told("complete-event") == ["none", "none"])
    try await nginx.stop()
  }

  @Test func `over a Unix socket, the addresses are unknown, and the other facts are known`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("socket")
    let server = try EmbeddedServer(on: .unix(path: path)) { _ in .text("over a file") }
    defer { server.stop() }
    let urls = ["http://any.test/a", "http://any.test/b"]
    let run = try await run(urls, transport: #"{"loops": 1}"#, unixSocket: path)
    #expect(run.results.allSatisfy { $0.response?.body.bytes == Array("over a file".utf8) })
    let ends = run.told("end")
    #expect(ends.map { Run.value("peer", in: $0) } == [":0", ":0"])
    #expect(ends.map { Run.value("local", in: $0) } == [":0", ":0"])
    #expect(ends.map { Run.value("version", in: $0) } == ["11", "11"])
    #expect(ends.map { Run.value("secure", in: $0) } == ["1", "1"])
    #expect(ends.map { Run.value("reused", in: $0) } == ["1", "2"])
  }

  /// Runs in a separate process, because facts are collected for all engines of a process once a plugin has asked.
  @Test func `no facts are collected before a plugin has asked for the table`() async throws {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer()
      defer { server.stop() }
      // The plugin asks in on_response.
      let run = try await ConnectionFactsTests().run(
        [server.baseURL + "/a", server.baseURL + "/b"], transport: #"{"loops": 1}"#,
        defines: ["ASKS_LATE"])
      #expect(run.results.allSatisfy { $0.error == nil })
      #expect(run.told("issue").first == "not asked" && run.told("response").first == "status 1")
      #expect(run.told("end").first == "status 1" && run.told("complete").first == "status 1")
      #expect(run.told("response").last?.contains("peer 127.0.0.1:\(server.port) ") == true)
    }
  }

  @Test func `a hop without a connection has no facts`() async throws {
    let run = try await run(["http://127.0.0.1:\(try Loopback.freePort())/"])
    #expect(run.results.first?.error?.code == "connect")
    #expect(run.told("issue").isEmpty && run.told("end") == ["status 1"] && run.told("complete") == ["status 1"])
    #expect(run.told("end-event") == ["none"])
  }
}
