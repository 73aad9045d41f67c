@testable import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestServers
import Testing

/// What SOCKS proxies get and answer, byte for byte, over real sockets to a real server.
@Suite struct SOCKSProxyTests {
  private static let granted: [UInt8] = [0, 90, 0, 0, 0, 0, 0, 0]

  private func settings(_ proxy: String) -> TransportSettings {
    var settings = TransportSettings.patient
    settings.proxy = proxy
    return settings
  }

  private static func bytes(ofPort port: UInt16) -> [UInt8] { [UInt8(port >> 8), UInt8(port & 0xFF)] }

  private func expectPosts(over wire: Wire, to url: String, _ server: LoopbackServer) async throws {
    let body = [UInt8](repeating: 120, count: 300_000)
    for isReused in [false, true] {
      let post = try await wire.send(Request(method: "POST", url: HTTPURL(url), body: .bytes(body)))
      #expect(post.bodyText == "ok\n" && post.timings.isConnectionReused == isReused, "\(post.ends)")
    }
    #expect(server.requests.map(\.body) == [body, body] && Set(server.requests.map(\.peer)).count == 1)
  }

  @Test(arguments: ["", "me"]) func `SOCKS 4 gets the address that this side has found`(_ user: String) async throws {
    let server = try LoopbackServer()
    let request = [4, 1] + Self.bytes(ofPort: server.port) + [127, 0, 0, 1] + user.utf8 + [0]
    let proxy = try ScriptedServer(.receive(request.count), .send(Self.granted), .tunnel(toPort: server.port))
    defer { proxy.stop() }
    // SOCKS 4 has no IPv6, so the proxy is not asked for the first address.
    let resolver = NameResolver { _ in .success(["::1", "127.0.0.1"]) }
    let login = user.isEmpty ? "" : "\(user)@"
    let wire = try Wire(settings("socks4://\(login)127.0.0.1:\(proxy.port)"), resolver: resolver)
    try await expectPosts(over: wire, to: "http://many.test:\(server.port)/", server)
    #expect(proxy.received == [request])
  }

  @Test(arguments: ["", "me"]) func `SOCKS 4a gets the name, which this side does not look up`(
    _ user: String
  ) async throws {
    let server = try LoopbackServer()
    let request = [4, 1] + Self.bytes(ofPort: server.port) + [0, 0, 0, 1] + user.utf8 + [0] + "far.test".utf8 + [0]
    let proxy = try ScriptedServer(.receive(request.count), .send(Self.granted), .tunnel(toPort: server.port))
    defer { proxy.stop() }
    let resolver = NameResolver { _ in .failure(NameError("nobody may ask")) }
    let login = user.isEmpty ? "" : "\(user)@"
    let wire = try Wire(settings("socks4a://\(login)127.0.0.1:\(proxy.port)"), resolver: resolver)
    try await expectPosts(over: wire, to: "http://far.test:\(server.port)/", server)
    #expect(proxy.received == [request])
  }

  @Test func `TLS and HTTP/2 work through SOCKS 4, and a reply that comes byte by byte is understood`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let reply = Self.granted.map { ScriptStep.send([$0]) }
    let proxy = try ScriptedServer([[.receive(9)] + reply + [.tunnel(toPort: nginx.securePort)]])
    defer { proxy.stop() }
    var settings = settings("socks4://127.0.0.1:\(proxy.port)")
    settings.tls.ca = certificates.authority
    settings.sockets.family = .ipv4
    let record = try await Wire(settings).get(nginx.secureBaseURL + "/")
    #expect(record.bodyText == "ok\n" && record.head?.version == .http2, "\(record.ends)")
  }

  /// A proxy for the addresses 127.0.0.8, 127.0.0.9 and 127.0.0.1, and how it refuses and grants.
  struct Several: Sendable, CustomTestStringConvertible {
    let scheme: String
    var greeting: [ScriptStep] = []
    let requestCount: Int
    /// Where the bytes of the address are in all bytes of the client.
    let address: Range<Int>
    let refused: [UInt8]
    let granted: [UInt8]

    var testDescription: String { "\(scheme), code \(refused[1])" }

    static let four = Several(
      scheme: "socks4", requestCount: 9, address: 4..<8, refused: [0, 91, 0, 0, 0, 0, 0, 0],
      granted: SOCKSProxyTests.granted)

    static func five(_ code: UInt8) -> Several {
      Several(
        scheme: "socks5", greeting: [.receive(3), .send([5, 0])], requestCount: 10, address: 7..<11,
        refused: [5, code, 0, 1, 0, 0, 0, 0, 0, 0], granted: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    func steps(_ last: ScriptStep...) -> [ScriptStep] { greeting + [.receive(requestCount)] + last }
  }

  private static let resolver = NameResolver { _ in .success(["127.0.0.8", "127.0.0.9", "127.0.0.1"]) }

  @Test(arguments: [Several.four, .five(1), .five(3), .five(4), .five(5), .five(6), .five(8)])
  func `a proxy that cannot connect to an address is asked for the next one`(_ several: Several) async throws {
    let server = try LoopbackServer()
    let refusal = several.steps(.send(several.refused))
    let proxy = try ScriptedServer([
      refusal, refusal, several.steps(.send(several.granted), .tunnel(toPort: server.port)),
    ])
    defer { proxy.stop() }
    let wire = try Wire(settings("\(several.scheme)://127.0.0.1:\(proxy.port)"), resolver: Self.resolver)
    try await expectPosts(over: wire, to: "http://many.test:\(server.port)/", server)
    let asked = proxy.received.map { Array($0[several.address]) }
    #expect(asked == [[127, 0, 0, 8], [127, 0, 0, 9], [127, 0, 0, 1]])
  }

  @Test(arguments: [(Several.four, 3, "code 91"), (.five(5), 3, "connection refused"), (.five(2), 1, "not allowed")])
  func `the last refusal is the error, and a refusal of another kind ends the attempts`(
    _ several: Several, _ count: Int, _ words: String
  ) async throws {
    let proxy = try ScriptedServer([several.steps(.send(several.refused))])
    defer { proxy.stop() }
    let wire = try Wire(settings("\(several.scheme)://127.0.0.1:\(proxy.port)"), resolver: Self.resolver)
    let record = try await wire.get("http://many.test:1/")
    #expect(record.code == .proxy && record.error?.isBeforeSending == true, "\(record.ends)")
    #expect(record.error?.message.contains(words) == true, "\(record.ends)")
    #expect(proxy.connectionCount == count && record.ends.count == 1)
  }

  /// Many addresses do not prolong the time for the connection.
  @Test func `the time for the connection is for all addresses together`() async throws {
    let several = Several.five(5)
    let proxy = try ScriptedServer([several.steps(.send(several.refused)), several.steps(.receiveToEnd)])
    defer { proxy.stop() }
    var settings = settings("socks5://127.0.0.1:\(proxy.port)")
    settings.connectTimeout = .milliseconds(300)
    let record = try await Wire(settings, resolver: Self.resolver).get("http://many.test:1/")
    #expect(record.code == .connectTimeout, "\(record.ends)")
  }

  @Test func `an HTTP proxy is asked for each address that the settings give`() async throws {
    let server = try LoopbackServer()
    let refusal: [ScriptStep] = [.receiveHead, .send("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")]
    let proxy = try ScriptedServer([
      refusal, [.receiveHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .tunnel(toPort: server.port)],
    ])
    defer { proxy.stop() }
    var settings = settings("http://127.0.0.1:\(proxy.port)")
    settings.sockets.addresses[SocketSettings.Place(host: "given.test", port: server.port)] = [
      "127.0.0.9", "127.0.0.1",
    ]
    let wire = try Wire(settings)
    try await expectPosts(over: wire, to: "http://given.test:\(server.port)/", server)
    let lines = proxy.receivedText.compactMap { $0.split(separator: "\r\n").first.map(String.init) }
    #expect(lines == ["127.0.0.9", "127.0.0.1"].map { "CONNECT \($0):\(server.port) HTTP/1.1" })
  }
}
