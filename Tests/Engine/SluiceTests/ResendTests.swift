import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceTestKit
import SluiceTestServers
import Testing

/// Tests requests on connections that are about to end. Nginx closes each connection after a number of requests, and
/// refuses further streams.
///
/// Sends 2,000 requests of each kind, or 20,000 with `SLUICE_SOAK=1`.
@Suite(.enabled(if: NginxServer.isAvailable)) struct ResendTests {
  private static let count = getenv("SLUICE_SOAK") != nil ? 20_000 : 2000

  /// The limit for how often one request is sent again. It can be small because refused requests are sent first, and a
  /// new connection carries only as many requests as the server accepted on the last one. A few more are allowed
  /// because several connections can end at the same time.
  private static let mostResends = 6

  @Test(arguments: [10, 100, 1000], [HTTPVersion.http11, .http2])
  func `requests at the end of connections are sent again, and none is executed twice`(
    _ perConnection: Int, _ version: HTTPVersion
  ) async throws {
    for method in ["POST", "GET"] {
      var settings = NginxConfiguration()
      settings.requestsPerConnection = perConnection
      settings.accessLogFormat = "$request_method $arg_n"
      let certificates = try await TestCertificates.shared()
      let nginx = try await NginxServer.start(settings, certificates: certificates)
      var configuration = Configuration()
      configuration.transport.tls.ca = certificates.authority
      configuration.transport.connectTimeout = .seconds(300)
      configuration.deadline = .seconds(600)
      configuration.transport.timeout = .seconds(600)
      let resends = Watched<[TransactionID: Int]>([:])
      configuration.addStage(
        "resends",
        StageCode(observing: { event in
          if event.kind == .willRetry { resends.update { $0[event.exchange.id, default: 0] += 1 } }
        }))
      let engine = try Engine(configuration)
      let base = version == .http2 ? nginx.secureBaseURL : nginx.baseURL
      let failures = try await Self.send(method, base, over: engine, expecting: version)
      #expect(failures.isEmpty, "\(failures.count) failed: \(failures.prefix(3))")
      #expect(resends.value.values.max() ?? 0 <= Self.mostResends)
      await engine.shutdown()
      try await nginx.stop()
      let served = try FileTree.readText(nginx.folder.path("access.log")).split(separator: "\n").map(String.init)
      let expected = (0..<Self.count).map { "\(method) \($0)" }
      #expect(Set(served).count == served.count, "\(served.count - Set(served).count) were executed twice")
      #expect(served.count == Self.count && Set(served) == Set(expected))
    }
  }

  /// nginx refuses the streams beyond its limit, and closes a connection after a hundred refusals.
  @Test func `a server that allows one stream at a time gets each request once`() async throws {
    var settings = NginxConfiguration()
    settings.requestsPerConnection = 10
    settings.accessLogFormat = "$request_method $arg_n"
    settings.extraDirectives = "http2_max_concurrent_streams 1;"
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(settings, certificates: certificates)
    var configuration = Configuration()
    configuration.transport.tls.ca = certificates.authority
    configuration.transport.connectTimeout = .seconds(300)
    configuration.transport.maximumConnectionsPerHost = 1
    configuration.deadline = .seconds(600)
    configuration.transport.timeout = .seconds(600)
    let engine = try Engine(configuration)
    let failures = try await Self.send("POST", nginx.secureBaseURL, over: engine, expecting: .http2)
    #expect(failures.isEmpty, "\(failures.count) failed: \(failures.prefix(3))")
    await engine.shutdown()
    try await nginx.stop()
    let served = try FileTree.readText(nginx.folder.path("access.log")).split(separator: "\n")
    #expect(served.count == Self.count && Set(served).count == Self.count)
  }

  /// Sends the requests, 64 at a time, and returns the failures.
  private static func send(
    _ method: String, _ base: String, over engine: Engine, expecting version: HTTPVersion
  ) async throws -> [String] {
    let next = Watched(0)
    let failures = Watched<[String]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        group.addTask {
          while true {
            let number = next.update { value in
              defer { value += 1 }
              return value
            }
            guard number < count else { return }
            let url = try HTTPURL(base + "/post?n=\(number)")
            let body = method == "POST" ? Body.text("pay \(number)") : .empty
            let result = await engine.transaction(Request(method: method, url: url, body: body))
            if let error = result.error { failures.update { $0.append("\(error)") } }
            if result.error == nil, result.response?.version != version {
              failures.update { $0.append("version \(String(describing: result.response?.version))") }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    return failures.value
  }
}
