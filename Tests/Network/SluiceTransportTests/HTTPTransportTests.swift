import Dispatch
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// How the transport uses its connections and its settings.
@Suite struct HTTPTransportTests {
  private func wire(
    _ resolver: NameResolver = .shared, _ change: (inout TransportSettings) -> Void = { _ in }
  ) throws -> Wire {
    var settings = TransportSettings.patient
    change(&settings)
    return try Wire(settings, resolver: resolver)
  }

  // MARK: Connections

  @Test func `if an address refuses the connection, the next address is tried`() async throws {
    let server = try ScriptedServer(ScriptStep.respond(body: "here"))
    // Nothing listens on the first two addresses.
    let resolver = NameResolver { _ in .success(["127.0.0.3", "::1", "127.0.0.1"]) }
    let record = try await wire(resolver).get("http://many.test:\(server.port)/")
    #expect(record.bodyText == "here", "\(String(describing: record.error))")
    #expect(record.timings.peerAddress == "127.0.0.1")
  }

  @Test func `if an address never answers, the next one is tried before the connect timeout`() async throws {
    let server = try ScriptedServer(ScriptStep.respond(body: "here"))
    // Nothing answers on the first address.
    let resolver = NameResolver { _ in .success(["192.0.2.1", "127.0.0.1"]) }
    let record = try await wire(resolver).get("http://many.test:\(server.port)/")
    #expect(record.bodyText == "here", "\(String(describing: record.error))")
  }

  @Test func `address families alternate, and the family of the first address stays first`() throws {
    let addresses = ["::1", "::2", "127.0.0.1", "127.0.0.2", "127.0.0.3"].compactMap { SocketAddress($0, port: 1) }
    #expect(
      SocketAddress.interleaved(addresses).map(\.text) == ["::1", "127.0.0.1", "::2", "127.0.0.2", "127.0.0.3"])
    #expect(SocketAddress("name.test", port: 1) == nil && SocketAddress("", port: 1) == nil)
    #expect(SocketAddress(unixSocket: String(repeating: "x", count: 200)) == nil)
  }

  @Test func `requests are sent to a Unix socket, and a path that is too long is an error`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("socket")
    let server = try EmbeddedServer(on: .unix(path: path)) { _ in .text("over a file") }
    let record = try await wire { $0.unixSocket = path }.get("http://any.test/")
    #expect(record.bodyText == "over a file", "\(String(describing: record.error))")
    server.stop()
    let failed = try await wire { $0.unixSocket = "/" + String(repeating: "x", count: 200) }.get("http://any.test/")
    #expect(failed.code == .connect && failed.error?.message.contains("too long") == true)
    #expect(failed.error?.isBeforeSending == true)
  }

  @Test func `a transfer that is cancelled while it waits gives its place to the next transfer`() async throws {
    let server = try LoopbackServer()
    server.hold()
    let wire = try wire { $0.maximumConnectionsPerHost = 1 }
    let probes = (0..<3).map { _ in Probe() }
    let slot = TransferSlot()
    for probe in probes {
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe) { if probe === probes[1] { slot.transfer = $0 } }
    }
    try await server.waitForHeld(1)
    await wire.onLoop { slot.transfer?.cancel() }
    #expect(try await probes[1].waitForEnd().code == .cancelled)
    server.release()
    #expect(try await probes[0].waitForEnd().error == nil)
    #expect(try await probes[2].waitForEnd().error == nil)
    #expect(probes[1].record.value.issued.isEmpty)
  }

  @Test func `many requests that wait for a connection all fail when the server goes away`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("socket")
    let go = DispatchSemaphore(value: 0)
    let server = try EmbeddedServer(on: .unix(path: path)) { _ in
      _ = go.wait(timeout: .now() + .seconds(600))
      return .hangUp
    }
    let wire = try wire {
      $0.unixSocket = path
      $0.maximumConnectionsPerHost = 1
    }
    let first = Probe()
    let crowd = Probe()
    let request = Request(url: HTTPURL("http://any.test/"))
    wire.start(request, first)
    try await first.record.wait(for: "the first request") { !$0.issued.isEmpty }
    for _ in 0..<20_000 { wire.start(request, crowd) }
    await wire.onLoop {}
    // Without its file, new connections to the socket fail at once.
    FileTree.remove(path)
    go.signal()
    try await crowd.record.wait(for: "the end of the crowd") { $0.ends.count == 20_000 }
    #expect(crowd.record.value.ends.allSatisfy { $0.error?.code == .connect })
    withExtendedLifetime(server) {}
  }

  // MARK: Bodies

  @Test func `a body waits for a 100 response if the request expects one`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(4),
      .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    let request = Request(
      method: "PUT", url: try HTTPURL(server.baseURL), headers: ["Expect": "100-continue"], body: .text("body"))
    let record = try await wire().send(request)
    #expect(record.bodyText == "ok" && record.informational == [100], "\(String(describing: record.error))")
    #expect(server.receivedText.first?.hasSuffix("\r\n\r\nbody") == true)
  }

  @Test func `a body is not sent to a server that refuses it, and the connection is not reused`() async throws {
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"), .receiveToEnd],
      ScriptStep.respond(body: "next"),
    ])
    let wire = try wire()
    let request = Request(
      method: "PUT", url: try HTTPURL(server.baseURL), headers: ["Expect": "100-continue"], body: .text("body"))
    #expect(try await wire.send(request).bodyText == "no")
    #expect(try await wire.get(server.baseURL).bodyText == "next")
    #expect(server.receivedText.first?.contains("body") == false)
  }

  @Test func `a body is sent after a second if the server sends no 100 response`() async throws {
    let server = try ScriptedServer(.receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    let request = Request(
      method: "PUT", url: try HTTPURL(server.baseURL), headers: ["Expect": "100-continue"], body: .text("body"))
    #expect(try await wire().send(request).bodyText == "ok")
  }

  private static let largeBody = [UInt8](repeating: 65, count: (1 << 20) + 1)

  private func put(_ server: ScriptedServer, _ body: Body) throws -> Request {
    Request(method: "PUT", url: try HTTPURL(server.baseURL), body: body)
  }

  @Test func `by default a large body waits for a 100 response, and a smaller body does not`() async throws {
    let server = try ScriptedServer([
      [
        .receiveHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(Self.largeBody.count),
        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .receiveHead, .receive(1 << 20),
        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .receiveHead, .receive(Self.largeBody.count),
        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
      ]
    ])
    let wire = try wire()
    let record = try await wire.send(put(server, .bytes(Self.largeBody)))
    #expect(record.bodyText == "ok" && record.informational == [100], "\(String(describing: record.error))")
    #expect(try await wire.send(put(server, .bytes(Array(Self.largeBody.dropLast())))).bodyText == "ok")
    var omitting = try put(server, .bytes(Self.largeBody))
    omitting.omittedDefaults = .expect
    #expect(try await wire.send(omitting).bodyText == "ok")
    let heads = try #require(server.receivedText.first).ranges(of: "Expect: 100-continue\r\n")
    #expect(heads.count == 1)
  }

  @Test func `a request whose expectation the server answers with 417 fails as not processed`() async throws {
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"), .receiveToEnd],
      [
        .receiveHead, .receive(Self.largeBody.count), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
      ],
    ])
    let wire = try wire()
    let refused = try await wire.send(put(server, .bytes(Self.largeBody)))
    #expect(refused.error?.code == .notProcessed && refused.error?.message.contains("(417)") == true)
    #expect(try await wire.send(put(server, .bytes(Self.largeBody))).bodyText == "ok")
    #expect(server.receivedText.map { $0.contains("Expect: ") } == [true, false])
  }

  @Test func `a request that is resent does not expect a 100 response`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .receive(Self.largeBody.count), .send("HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno"))
    var options = TransferOptions()
    options.refusals = 1
    let record = try await wire().send(put(server, .bytes(Self.largeBody)), options: options)
    #expect(record.head?.status == 417 && server.receivedText.first?.contains("Expect: ") == false)
  }

  @Test func `a 417 that comes after the body was sent also refuses the expectation`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .receive(Self.largeBody.count), .send("HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno"))
    let record = try await wire().send(put(server, .bytes(Self.largeBody)))
    #expect(record.error?.code == .notProcessed)
  }

  @Test func `a server that begins its response before it has read the body still gets the body`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), .receive(Self.largeBody.count), .send("k"))
    let record = try await wire().send(put(server, .bytes(Self.largeBody)))
    #expect(record.bodyText == "ok", "\(String(describing: record.error))")
  }

  @Test func `if no 100 response came for a large body, later requests to the server expect none`() async throws {
    let server = try ScriptedServer([
      [
        .receiveHead, .receive(Self.largeBody.count), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        .receiveHead, .receive(Self.largeBody.count), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
      ]
    ])
    let wire = try wire()
    for _ in 0..<2 { #expect(try await wire.send(put(server, .bytes(Self.largeBody))).bodyText == "ok") }
    #expect(try #require(server.receivedText.first).ranges(of: "Expect: ").count == 1)
  }

  @Test(arguments: [true, false])
  func `a response is complete even if it comes before the end of the request`(_ isStream: Bool) async throws {
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"), .receiveToEnd],
      ScriptStep.respond(body: "next"),
    ])
    let wire = try wire()
    let bytes = [UInt8](repeating: 65, count: 16 << 20)
    let body = isStream ? Body.stream(BodyStream { Array(bytes.prefix($0)) }) : .bytes(bytes)
    let record = try await wire.send(Request(method: "PUT", url: HTTPURL(server.baseURL), body: body))
    #expect(record.head?.status == 413 && record.bodyText == "big", "\(String(describing: record.error))")
    #expect(try await wire.get(server.baseURL).bodyText == "next")
  }

  @Test func `if a server responds and closes while a request is being sent, the response is received`() async throws {
    // The response is in the socket before the sending of the request fails.
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"), .shutdownWriting, .receiveToEnd)
    let body = Body.bytes([UInt8](repeating: 65, count: 16 << 20))
    let record = try await wire().send(Request(method: "PUT", url: HTTPURL(server.baseURL), body: body))
    #expect(record.head?.status == 403 && record.bodyText == "no", "\(String(describing: record.error))")
  }

  @Test func `a body stream that had no data is read again only after resumeSending was called`() async throws {
    let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 3)
    let server = try ScriptedServer([
      [.receiveHead, .send(hints), .receive(14), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
    ])
    let wire = try wire()
    let reads = Watched(0)
    let pieces = Watched([[UInt8](), Array("body".utf8)][...])
    let stream = BodyStream { _ in
      reads.update { $0 += 1 }
      return pieces.update { $0.popFirst() }
    }
    let probe = Probe()
    let slot = TransferSlot()
    wire.start(Request(method: "PUT", url: try HTTPURL(server.baseURL), body: .stream(stream)), probe) {
      slot.transfer = $0
    }
    try await probe.record.wait(for: "the hints") { $0.informational.count == 3 }
    #expect(reads.value == 1)
    await wire.onLoop { slot.transfer?.resumeSending() }
    #expect(try await probe.waitForEnd().bodyText == "ok")
    #expect(reads.value == 3)
  }

  // MARK: Limits

  @Test func `each limit of a response has its own error`() async throws {
    let responses = [
      (String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 101), "more than 100 informational responses"),
      ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 300_000), "262144 bytes"),
      ("HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 4097) + "\r\n", "4096 fields"),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 17_000) + "\r\n",
        "chunk extensions of more than 16384 bytes"
      ),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + String(repeating: "x", count: 300_000),
        "trailers of more than 262144 bytes"
      ),
    ]
    for (response, words) in responses {
      let server = try ScriptedServer(.receiveHead, .send(response), .receiveToEnd)
      let record = try await wire().get(server.baseURL)
      #expect(
        record.code == .invalidResponse && record.error?.message.contains(words) == true, "\(words): \(record.ends)")
    }
  }

  @Test func `the settings determine the limits of a response`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .receiveToEnd
    )
    let record = try await wire { $0.responseLimits.maximumInformationalResponses = 0 }.get(server.baseURL)
    #expect(record.error?.message.contains("more than 0 informational responses") == true)
  }

  // MARK: TLS

  @Test func `a head that comes in many TLS records is read completely`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server, ["-max_send_frag", "512"])
    let wire = try wire { $0.tls.ca = certificates.authority }
    let probe = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), probe)
    try await server.waitForInput(containing: "GET / HTTP/1.1")
    let fields = (0..<200).map { "X-\($0): \(String(repeating: "v", count: 60))\r\n" }.joined()
    try server.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n".utf8))
    let record = try await probe.waitForEnd()
    #expect(record.error == nil && record.head?.headers.count == 201, "\(record.ends)")
  }

  @Test func `a body that ends with its connection is complete after a TLS close`() async throws {
    let certificates = try await TestCertificates.shared()
    // With `-www` the server responds with its own page in HTTP/1.0, without a length.
    let server = try await TLSServer.start(certificates.server, ["-www"])
    let record = try await wire { $0.tls.ca = certificates.authority }.get(server.baseURL)
    #expect(record.error == nil && record.bodyText.contains("</HTML>"), "\(record.ends)")
    #expect(record.head?.headers.contains("content-length") == false)
  }

  @Test func `a body that ends with its connection, without a TLS close, fails as truncated`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server)
    let wire = try wire { $0.tls.ca = certificates.authority }
    let probe = Probe()
    probe.disposition = .stream
    wire.start(Request(url: try HTTPURL(server.baseURL)), probe)
    try await server.waitForInput(containing: "GET / HTTP/1.1")
    try server.send(Array("HTTP/1.1 200 OK\r\n\r\nall of it\n".utf8))
    try await probe.record.wait(for: "the body") { $0.streamedBytes == 10 }
    try server.close()
    let record = try await probe.waitForEnd()
    #expect(record.code == .connectionLost && record.head?.status == 200, "\(record.ends)")
  }

  @Test(.enabled(if: NginxServer.isAvailable), arguments: ["TLSv1.2", "TLSv1.3"])
  func `a second connection to a server resumes the TLS session`(_ version: String) async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives =
      "ssl_protocols \(version); location = /session { return 200 '$ssl_session_reused $ssl_protocol'; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let wire = try wire { $0.tls.ca = certificates.authority }
    let request = Request(url: try HTTPURL(nginx.secureBaseURL + "/session"))
    var fresh = TransferOptions()
    fresh.wantsFreshConnection = true
    let bodies = [
      try await wire.send(request, options: fresh).bodyText, try await wire.send(request, options: fresh).bodyText,
    ]
    #expect(bodies == [". \(version)", "r \(version)"])
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a certificate must name the URL's IP address`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(NginxConfiguration(), certificates: certificates)
    let resolver = NameResolver { _ in .success(["127.0.0.1"]) }
    let wire = try wire(resolver) { $0.tls.ca = certificates.authority }
    let port = try #require(nginx.secureBaseURL.split(separator: ":").last)
    let record = try await wire.get("https://stranger.test:\(port)/")
    #expect(record.code == .tls && record.error?.message.contains("'stranger.test'") == true, "\(record.ends)")
  }
}
