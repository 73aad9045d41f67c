import SluiceMessages
import SluicePipeline
import SluiceTestServers
import Testing

/// Servers that want a request over HTTP/1.1 (RFC 9113 §7).
@Suite struct HTTP2DowngradeTests {
  @Test(arguments: [HTTP2Frame.reset(13), HTTP2Frame.goAway(lastStream: 0, 13)])
  func `a server that requires HTTP 1_1 gets it from then on`(_ refusal: [UInt8]) async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server, ["-alpn", "h2,http/1.1"])
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let first = Probe()
    wire.start(Request(method: "POST", url: try HTTPURL(server.baseURL), body: .text("pay")), first)
    try await server.waitForInput(containing: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    try server.send(HTTP2Frame.settings + refusal)
    let refused = try await first.waitForEnd()
    // The engine sends such a request again.
    #expect(refused.code == .notProcessed && refused.error?.isBeforeSending == true)
    #expect(refused.error?.message.contains("only over HTTP/1.1 (HTTP_1_1_REQUIRED)") == true)
    for number in 0..<2 {
      let next = Probe()
      wire.start(Request(method: "POST", url: try HTTPURL(server.baseURL + "/\(number)"), body: .text("pay")), next)
      try await server.waitForInput(containing: "POST /\(number) HTTP/1.1\r\n")
      try server.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
      #expect(try await next.waitForEnd().bodyText == "ok")
    }
  }

  @Test(arguments: ["GET", "POST"])
  func `a GOAWAY that requires HTTP 1_1 lets safe requests be sent again that the server may have processed`(
    _ method: String
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server, ["-alpn", "h2,http/1.1"])
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let probe = Probe()
    wire.start(Request(method: method, url: try HTTPURL(server.baseURL)), probe)
    try await server.waitForInput(containing: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    try server.send(HTTP2Frame.settings + HTTP2Frame.goAway(lastStream: 1, 13))
    let acknowledgement = HTTP2Frame.frame(type: 4, flags: 1)
    try await server.waitForInput(containing: String(decoding: acknowledgement, as: UTF8.self))
    try server.close()
    let end = try await probe.waitForEnd()
    #expect(end.code == (method == "GET" ? .notProcessed : .connectionLost))
    #expect(end.error?.message.contains("HTTP_1_1_REQUIRED") == true)
  }

  @Test func `with prior knowledge of HTTP 2, a demand for HTTP 1_1 is an error that says what to set`() async throws {
    let server = try ScriptedServer([
      [.receive(24), .receiveFrame(type: 1), .send(HTTP2Frame.settings + HTTP2Frame.reset(13)), .receiveToEnd]
    ])
    var settings = TransportSettings.patient
    settings.assumesHTTP2 = true
    let record = try await Wire(settings).get(server.baseURL)
    #expect(record.code == .invalidResponse)
    #expect(record.error?.message.contains("set transport.httpVersion \"1.1\"") == true)
  }
}
