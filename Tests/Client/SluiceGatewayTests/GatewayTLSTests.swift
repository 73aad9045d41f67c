import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceGateway

/// The gateway over TLS, and over HTTP/2 with and without TLS. The client is an engine.
@Suite struct GatewayTLSTests {
  enum Kind: CaseIterable {
    case http1, http2, http2WithoutTLS

    var version: HTTPVersion { self == .http1 ? .http11 : .http2 }
    var isSecure: Bool { self != .http2WithoutTLS }
  }

  static func listener(
    _ certificates: TestCertificates, clients: ServeSettings.Clients? = nil
  ) -> ServeSettings.Listener {
    let own = ServeSettings.TLS.Certificate(chain: certificates.server.certificate, key: certificates.server.key)
    return ServeSettings.Listener(
      host: "127.0.0.1", port: 0, clients: clients,
      tls: ServeSettings.TLS(
        certificates: [own], clientAuthorities: clients == .certificate ? certificates.authority : nil))
  }

  static func client(
    _ kind: Kind, _ certificates: TestCertificates, _ identity: TestCertificates.Identity? = nil
  ) throws -> Engine {
    var configuration = Configuration()
    configuration.transport.tls.ca = certificates.authority
    configuration.transport.tls.certificate = identity?.certificate
    configuration.transport.tls.key = identity?.key
    configuration.transport.httpVersion = kind.version
    configuration.transport.assumesHTTP2 = !kind.isSecure
    return try Engine(configuration)
  }

  static func url(_ fixture: GatewayFixture, _ kind: Kind, _ path: String) throws -> HTTPURL {
    try HTTPURL("\(kind.isSecure ? "https" : "http")://localhost:\(fixture.gateway.endpoint.port)\(path)")
  }

  @Test(arguments: Kind.allCases)
  func `requests, bodies and trailers pass`(_ kind: Kind) async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try ScriptedServer(
      .receiveRequest,
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"))
    let fixture = try GatewayFixture(
      to: upstream.baseURL, on: kind.isSecure ? Self.listener(certificates) : GatewayFixture.loopback)
    let client = try Self.client(kind, certificates)
    var request = Request(method: "POST", url: try Self.url(fixture, kind, "/a?b"))
    request.headers.append("Cookie", "a=b")
    request.headers.append("Cookie", "c=d")
    request.body = .bytes(Array("hello".utf8))
    let response = try await client.perform(request)
    #expect(response.status == 200 && response.version == kind.version)
    #expect(response.body.bytes == Array("abc".utf8) && response.trailers["x-t"] == "1")
    #expect(response.headers["x-a"] == "b")
    let port = fixture.gateway.endpoint.port
    await client.shutdown()
    #expect(await fixture.end())
    let received = upstream.receivedText[0]
    #expect(received.hasPrefix("POST /a?b HTTP/1.1\r\nHost: localhost:\(port)\r\n") && received.hasSuffix("hello"))
    let scheme = kind.isSecure ? "https" : "http"
    #expect(received.contains("Forwarded: for=127.0.0.1;proto=\(scheme);host=\"localhost:\(port)\"\r\n"))
    #expect(received.contains("Via: \(kind == .http1 ? "1.1" : "2.0") sluice-"))
    if kind != .http1 { #expect(received.lowercased().contains("cookie: a=b; c=d\r\n")) }
  }

  @Test(arguments: Kind.allCases)
  func `large bodies pass in both directions`(_ kind: Kind) async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try EmbeddedServer { ServerResponse(status: 200, body: .bytes($0.body)) }
    let fixture = try GatewayFixture(
      to: upstream.baseURL, on: kind.isSecure ? Self.listener(certificates) : GatewayFixture.loopback)
    let client = try Self.client(kind, certificates)
    let body = BytePattern.alphabet.bytes(from: 0, count: 8 << 20)
    let sinks = (0..<4).map { _ in CollectingSink() }
    let ended = Watched(0)
    for sink in sinks {
      let request = Request(method: "POST", url: try Self.url(fixture, kind, "/"), body: .bytes(body))
      client.submit(request, sink: sink) { _ in ended.update { $0 += 1 } }
    }
    try await ended.wait(for: "the responses") { $0 == sinks.count }
    for sink in sinks { #expect(sink.bytes == body) }
    await client.shutdown()
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test(arguments: Kind.allCases)
  func `a cancelled response leaves its neighbours whole`(_ kind: Kind) async throws {
    let certificates = try await TestCertificates.shared()
    let go = Signal()
    let count = 4 << 20
    let half = ScriptStep.sendPattern(.alphabet, byteCount: count / 2)
    let script = [
      ScriptStep.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"), half, .wait(go), half,
    ]
    let upstream = try ScriptedServer([script, script])
    let fixture = try GatewayFixture(
      to: upstream.baseURL, on: kind.isSecure ? Self.listener(certificates) : GatewayFixture.loopback)
    let client = try Self.client(kind, certificates)
    let (cut, whole) = (CollectingSink(isPausing: true), CollectingSink())
    let cancellation = Cancellation()
    let (cutEnded, wholeEnded) = (Signal(), Signal())
    client.submit(Request(url: try Self.url(fixture, kind, "/cut")), sink: cut, cancellation: cancellation) { _ in
      cutEnded.set()
    }
    client.submit(Request(url: try Self.url(fixture, kind, "/whole")), sink: whole) { _ in wholeEnded.set() }
    try await cut.begun.wait(for: "the first piece")
    cancellation.cancel()
    try await cutEnded.wait(for: "the cancellation")
    go.set()
    try await wholeEnded.wait(for: "the neighbour")
    let bytes = BytePattern.alphabet.bytes(from: 0, count: count / 2)
    #expect(whole.bytes == bytes + bytes)
    await client.shutdown()
    #expect(await fixture.end())
  }

  @Test func `a client certificate is required, and a stranger is refused`() async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try ScriptedServer { _, _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
    let fixture = try GatewayFixture(to: upstream.baseURL, on: Self.listener(certificates, clients: .certificate))
    for (identity, isServed) in [(certificates.client, true), (certificates.stranger, false), (nil, false)] {
      for kind in [Kind.http1, .http2] {
        let client = try Self.client(kind, certificates, identity)
        for _ in 0..<2 {
          let result = await client.transaction(Request(url: try Self.url(fixture, kind, "/")))
          #expect((result.error == nil) == isServed, "\(String(describing: result.error))")
        }
        await client.shutdown()
      }
    }
    #expect(await fixture.end())
  }

  @Test func `certificates are read again, and stay if a file is not valid`() async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try ScriptedServer { _, _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
    let folder = try TemporaryDirectory()
    func use(_ identity: TestCertificates.Identity) throws {
      let bytes = try FileTree.read(identity.certificate) + FileTree.read(identity.key)
      try folder.write(String(decoding: bytes, as: UTF8.self), to: "own.pem")
    }
    try use(certificates.server(.otherName))
    let path = folder.path("own.pem")
    let own = ServeSettings.TLS.Certificate(chain: path, key: path)
    let fixture = try GatewayFixture(
      to: upstream.baseURL,
      on: ServeSettings.Listener(host: "127.0.0.1", port: 0, tls: ServeSettings.TLS(certificates: [own])))
    func error() async throws -> TransactionError? {
      let client = try Self.client(.http2, certificates)
      let result = await client.transaction(Request(url: try Self.url(fixture, .http2, "/")))
      await client.shutdown()
      return result.error
    }
    #expect(try await error()?.detail == .certificate)
    try use(certificates.server)
    try fixture.gateway.reloadCertificates()
    #expect(try await error() == nil)
    try folder.write("nothing", to: "own.pem")
    #expect(throws: ServerError.self) { try fixture.gateway.reloadCertificates() }
    #expect(try await error() == nil)
    #expect(await fixture.end())
  }

  @Test func `the name that a client asks for chooses the certificate`() async throws {
    let certificates = try await TestCertificates.shared()
    let other = try certificates.server(.otherName)
    let upstream = try ScriptedServer { _, _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
    var listener = Self.listener(certificates)
    listener.tls?.certificates.insert(
      ServeSettings.TLS.Certificate(chain: other.certificate, key: other.key), at: 0)
    let fixture = try GatewayFixture(to: upstream.baseURL, on: listener)
    let client = try Self.client(.http2, certificates)
    // `localhost` is the second one.
    #expect(try await client.perform(Request(url: try Self.url(fixture, .http2, "/"))).status == 200)
    let address = try HTTPURL("https://127.0.0.1:\(fixture.gateway.endpoint.port)/")
    // Without a name, the first one is used.
    #expect(await client.transaction(Request(url: address)).error?.detail == .certificate)
    await client.shutdown()
    #expect(await fixture.end())
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\u{16}\u{3}\u{1}", String(repeating: "x", count: 5000)])
  func `bytes that are not TLS end their connection only`(_ text: String) async throws {
    let certificates = try await TestCertificates.shared()
    let upstream = try ScriptedServer { _, _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
    let fixture = try GatewayFixture(to: upstream.baseURL, on: Self.listener(certificates))
    let stranger = try fixture.client()
    try stranger.send(text)
    stranger.socket.shutdownWriting()
    #expect(!String(decoding: (try? stranger.readToEnd()) ?? [], as: UTF8.self).contains("HTTP"))
    let client = try Self.client(.http2, certificates)
    #expect(try await client.perform(Request(url: try Self.url(fixture, .http2, "/"))).status == 200)
    await client.shutdown()
    #expect(await fixture.end())
  }
}

/// Collects a body, or takes only its first piece.
private final class CollectingSink: BodySink {
  let begun = Signal()
  private let isPausing: Bool
  private let collected = Locked<[UInt8]>([])

  init(isPausing: Bool = false) { self.isPausing = isPausing }

  var bytes: [UInt8] { collected.withLock { $0 } }

  func begin(_ head: Response) {}

  func receive(_ piece: [UInt8]) -> BodyProgress {
    collected.withLock { $0 += piece }
    begun.set()
    return isPausing ? .pause : .proceed
  }
}
