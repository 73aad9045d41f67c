import SluiceAssembly
import SluiceClient
import Sluice
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Options of one request, which replace the settings of the client for this request.
@Suite struct RequestOptionsTests {
  private static func request(
    _ url: HTTPURL, method: String = "GET", _ change: (inout RequestOptions) -> Void
  ) -> Request {
    var request = Request(method: method, url: url)
    change(&request.options)
    return request
  }

  private static func error(_ client: Client, _ request: Request) async -> TransactionError? {
    await failure { () throws(TransactionError) in _ = try await client.data(for: request) }
  }

  @Test func `options that were all reset take no space in a request`() throws {
    var request = Request(url: "http://a.example/")
    #expect(request.options == RequestOptions())
    request.options.maximumAttempts = 2
    request.options.maximumAttempts = nil
    #expect(request.sharedOptions == nil)
  }

  @Test func `a timeout with too many nanoseconds for 64 bits does not limit a request`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    try await withClient { client in
      for duration in [Duration.seconds(Int64.max), .seconds(Int64.max) + .seconds(Int64.max)] {
        #expect(duration.nanoseconds == .max)
        var request = Self.request(try server.url()) { ($0.idleTimeout, $0.attemptTimeout) = (duration, duration) }
        request.timeout = duration
        #expect(await Self.error(client, request) == nil)
      }
    }
  }

  // MARK: Limits

  @Test func `the time limit of an attempt can be shorter or longer than the limit in the settings`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let url = try server.url()
    try await withClient({
      $0.transport.timeout = .milliseconds(50)
      $0.maximumAttempts = 1
    }) { client in
      let patient = Task { await Self.error(client, Self.request(url) { $0.attemptTimeout = .seconds(240) }) }
      try await server.waitForHeld(1)
      let common = await Self.error(client, Request(url: url))
      #expect(common?.code == .timeout && common?.message.contains("transport.timeout") == true)
      server.release()
      #expect(await patient.value == nil)
    }
    server.hold()
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      let error = await Self.error(client, Self.request(url) { $0.attemptTimeout = .milliseconds(50) })
      #expect(error?.code == .timeout && error?.message.hasSuffix("within 0.05 seconds") == true)
    }
    server.release()
  }

  @Test func `the idle timeout ends a response that stops, and an upload that nobody reads`() async throws {
    let isDone = Signal()
    let server = try ScriptedServer([
      [.receiveHead, .receiveToEnd],
      [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .receiveToEnd],
      [.receiveHead, .wait(isDone)],
    ])
    defer { server.stop() }
    let url = try server.url()
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      for method in ["GET", "GET", "POST"] {
        var request = Self.request(url, method: method) { $0.idleTimeout = .milliseconds(50) }
        if method == "POST" { request.body = .bytes([UInt8](repeating: 65, count: 50_000_000)) }
        let error = await Self.error(client, request)
        #expect(error?.code == .timeout, "\(String(describing: error))")
        #expect(error?.message.hasSuffix("for 0.05 seconds, the idle timeout of the request") == true)
      }
      isDone.set()
      try await server.waitForScripts()
    }
  }

  @Test func `the time in which the caller does not read does not count as idle time`() async throws {
    let stalled = try ScriptedServer(.receiveHead, .receiveToEnd)
    defer { stalled.stop() }
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(pattern, byteCount: 20_000_000, chunked: false))
    }
    defer { server.stop() }
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      let slow = Self.request(try server.url()) { $0.idleTimeout = .milliseconds(100) }
      let (bytes, _) = try await client.bytes(for: slow)
      // The idle timeout of `probe` is three times as long as the idle timeout of `slow`.
      let probe = Self.request(try stalled.url()) { $0.idleTimeout = .milliseconds(300) }
      #expect(await Self.error(client, probe)?.code == .timeout)
      let count = try await bytes.chunks.reduce(into: 0) { $0 += $1.count }
      #expect(count == 20_000_000)
    }
  }

  @Test(arguments: [100, 300])
  func `the size limit of the response can be lower or higher than the limit in the settings`(
    _ limit: Int
  ) async throws {
    let server = try LoopbackServer { _ in .text(String(repeating: "x", count: 200)) }
    defer { server.stop() }
    try await withClient({ $0.transport.maximumResponseBytes = limit == 100 ? 300 : 100 }) { client in
      let request = Self.request(try server.url()) { $0.maximumResponseBytes = limit }
      let collected = await Self.error(client, request)
      let streamed = await failure { () throws(TransactionError) in
        for try await _ in try await client.bytes(for: request).bytes.chunks {}
      }
      let expected: ErrorCode? = limit == 100 ? .responseTooLarge : nil
      #expect(collected?.code == expected && streamed?.code == expected)
    }
  }

  // MARK: Bodies, redirects, attempts

  @Test func `a request can ask for a body that is not decoded`() async throws {
    let coded = EncodedBody.bytes(.gzip, Array("hello".utf8))
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("Content-Encoding", "gzip")], body: .bytes(coded))
    }
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      #expect(try await client.data(for: Self.request(url) { $0.decodesContent = false }).bytes == coded)
      #expect(try await client.data(from: url).bytes == Array("hello".utf8))
    }
    #expect(server.requests.map { $0.value(of: "accept-encoding") != nil } == [false, true])
  }

  @Test(arguments: [0, 1, 2])
  func `a request's own maximum of redirects replaces the maximum in the settings`(_ maximum: Int) async throws {
    let server = try LoopbackServer { request in
      request.target == "/2"
        ? .text("ok")
        : ServerResponse(status: 302, headers: [HeaderLine("Location", request.target == "/0" ? "/1" : "/2")])
    }
    defer { server.stop() }
    try await withClient({ $0.redirects.maximum = maximum == 2 ? 0 : 20 }) { client in
      let request = Self.request(try server.url("/0")) { $0.maximumRedirects = maximum }
      switch maximum {
      case 0: #expect(try await client.data(for: request).response.status == 302)
      case 1: #expect(await Self.error(client, request)?.code == .tooManyRedirects)
      default: #expect(try await client.data(for: request).response.status == 200)
      }
    }
  }

  @Test func `a request can have its own maximum of attempts and its own retry policy`() async throws {
    let server = try LoopbackServer { _ in .text("no", status: 503) }
    defer { server.stop() }
    let retry = RetryPolicy(statuses: StatusSet([503...503]), backoff: Backoff(base: .zero, maximum: .zero))
    func expect(_ count: Int, _ client: Client, _ change: (inout RequestOptions) -> Void) async throws {
      let before = server.requestCount
      _ = try await client.data(for: Self.request(server.url(), change))
      #expect(server.requestCount - before == count)
    }
    try await withClient { client in
      try await expect(1, client) { _ in }
      try await expect(4, client) { ($0.retry, $0.maximumAttempts) = (retry, 4) }
    }
    try await withClient({ ($0.retry, $0.maximumAttempts) = (retry, 3) }) { client in
      try await expect(3, client) { _ in }
      try await expect(1, client) { $0.maximumAttempts = 0 }
      try await expect(1, client) { $0.retry = RetryPolicy() }
    }
  }

  // MARK: The queue for a connection

  @Test func `requests of a higher priority get a connection first, but no request waits forever`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let metrics = Watched<[HopMetrics]>([])
    let ended = Watched(0)
    try await withClient({
      $0.transport.maximumConnectionsPerHost = 1
    }) { client in
      let loop = client.engine.loops[0]
      func submit(_ name: String, _ priority: RequestOptions.Priority) throws {
        let request = Self.request(try server.url("/\(name)")) { $0.priority = priority }
        client.engine.submit(request, delegate: Queue(metrics: metrics)) { _ in ended.update { $0 += 1 } }
      }
      try submit("first", .normal)
      try await server.waitForHeld(1)
      try submit("low", .low)
      for index in 0..<3 { try submit("normal\(index)", .normal) }
      for index in 0..<10 { try submit("high\(index)", .high) }
      // The loop runs the work that was posted before, and one more turn. Then all requests are in the queue.
      for _ in 0..<2 {
        await withCheckedContinuation { continuation in loop.post { continuation.resume() } }
      }
      server.release()
      try await ended.wait(for: "all requests") { $0 == 15 }
    }
    let order = server.requests.map { String($0.target.dropFirst()) }
    #expect(
      order == ["first"] + (0..<7).map { "high\($0)" } + ["low"] + (7..<10).map { "high\($0)" }
        + (0..<3).map { "normal\($0)" })
    // The metrics contain the time in the queue.
    #expect(metrics.value.count == 15)
    #expect(metrics.value.filter { $0.url.path != "/first" }.allSatisfy { $0.timings.queue > .zero })
  }

  private struct Queue: TransactionDelegate {
    let metrics: Watched<[HopMetrics]>

    func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) { self.metrics.update { $0.append(metrics) } }
  }

  // MARK: The connection

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a client certificate is used only for its own request, and not at another origin`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives = """
      location = /who { return 200 $ssl_client_verify; }
      location = /away { return 302 https://127.0.0.1:$server_port/who; }
      """
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    try await withClient({
      $0.transport.tls.ca = certificates.authority
      $0.maximumAttempts = 1
    }) { client in
      func answer(_ path: String, _ identity: RequestOptions.Identity?) async throws -> String {
        let request = Self.request(try HTTPURL(nginx.secureBaseURL + path)) { $0.identity = identity }
        return String(decoding: try await client.data(for: request).bytes, as: UTF8.self)
      }
      let own = RequestOptions.Identity(certificate: certificates.client.certificate, key: certificates.client.key)
      #expect(try await answer("/who", nil) == "NONE")
      #expect(try await answer("/who", own) == "SUCCESS")
      #expect(try await answer("/who", nil) == "NONE")
      #expect(try await answer("/away", own) == "NONE")

      let missing = Self.request(try HTTPURL(nginx.secureBaseURL + "/who")) {
        $0.identity = RequestOptions.Identity(certificate: "/nowhere.pem")
      }
      #expect(await Self.error(client, missing)?.code == .tls)
    }
  }

  @Test func `a request can be sent to a Unix socket`() async throws {
    let folder = try TemporaryDirectory()
    let socket = try EmbeddedServer(on: .unix(path: folder.path("s"))) { _ in .text("unix") }
    defer { socket.stop() }
    let server = try LoopbackServer { _ in .text("tcp") }
    defer { server.stop() }
    try await withClient { client in
      for (path, expected) in [(folder.path("s"), "unix"), (nil, "tcp"), (folder.path("s"), "unix")] {
        let request = Self.request(try server.url()) { $0.unixSocket = path }
        #expect(try await client.data(for: request).bytes == Array(expected.utf8))
      }
      let nowhere = Self.request(try server.url()) { $0.unixSocket = folder.path("none") }
      let error = await Self.error(client, nowhere)
      #expect(error?.code == .connect && error?.message.contains("none") == true)
    }
  }
}
