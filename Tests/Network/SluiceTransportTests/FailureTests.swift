import Glibc
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Transfers that fail, and their error messages.
@Suite struct FailureTests {
  @Test func `the error for a refused connection names the address, and nothing was sent`() async throws {
    let port = try Loopback.freePort()
    let record = try await Wire().get("http://127.0.0.1:\(port)/")
    #expect(record.code == .connect)
    #expect(record.error?.message.hasPrefix("http://127.0.0.1:\(port): ") == true)
    #expect(record.error?.isBeforeSending == true)
    #expect(record.issued.isEmpty)
  }

  @Test(arguments: [
    "this is no HTTP at all\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nNo colon here\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 200 OK\r\nB ad: x\r\n\r\n",
  ])
  func `if the server sends data that is not HTTP, the response is invalid`(_ answer: String) async throws {
    let server = try ScriptedServer(.receiveHead, .send(answer), .receiveToEnd)
    let record = try await Wire().get(server.baseURL)
    #expect(record.code == .invalidResponse, "\(record.error.map(String.init(describing:)) ?? "no error")")
    #expect(record.ends.count == 1)
    #expect(record.error?.isBeforeSending == false)
  }

  @Test func `trailers beyond their limit fail the transfer, and the error names the limit`() async throws {
    let trailer = "X-Trailer: \(String(repeating: "v", count: 2000))\r\n"
    let answer =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
      + String(repeating: trailer, count: 200) + "\r\n"
    let server = try ScriptedServer(.receiveHead, .send(answer))
    let record = try await Wire().get(server.baseURL)
    #expect(record.code == .invalidResponse, "\(record.error.map(String.init(describing:)) ?? "no error")")
    #expect(record.error?.message.contains("trailers of more than 262144 bytes") == true)
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Len", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"])
  func `a connection that ends before the response is complete fails as lost`(_ answer: String) async throws {
    let server = try ScriptedServer(.receiveHead, .send(answer))
    let record = try await Wire().get(server.baseURL)
    #expect(record.code == .connectionLost, "\(record.error.map(String.init(describing:)) ?? "no error")")
    #expect(record.error?.isBeforeSending == false)
  }

  @Test func `a connection that is reset in the body fails as lost`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .reset)
    #expect(try await Wire().get(server.baseURL).code == .connectionLost)
  }

  @Test func `a POST on a connection that died is never sent twice`() async throws {
    // The server reads the second request and closes the connection.
    let server = try ScriptedServer([
      ScriptStep.respond(body: "1") + [.receiveRequest], ScriptStep.respond(body: "2"),
    ])
    let wire = try Wire()
    #expect(try await wire.get(server.baseURL).bodyText == "1")
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL), body: .text("pay"))
    let record = try await wire.send(request)
    #expect(record.code == .resent, "\(record.error.map(String.init(describing:)) ?? "no error")")
    #expect(record.issued.count == 1)
    #expect(record.ends.count == 1)
    #expect(record.error?.isBeforeSending == false)
    #expect(server.receivedText.joined().components(of: "POST ") == 1)
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `the error for an untrusted certificate says what to do`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let record = try await Wire().get(nginx.secureBaseURL)
    #expect(record.code == .tls)
    #expect(record.error?.message.contains("transport.tls.ca") == true)
    #expect(record.error?.isBeforeSending == true)
  }

  @Test func `a TLS file that cannot be read is refused at once`() throws {
    var settings = TransportSettings.patient
    settings.tls.ca = "/nonexistent/ca.pem"
    let error = #expect(throws: TransportError.self) { try Wire(settings) }
    #expect(error?.message.contains("transport.tls.ca: cannot read /nonexistent/ca.pem") == true)
  }

  @Test func `a pipe in place of a TLS file is refused at once, because a loop would wait for its writer`() throws {
    let folder = try TemporaryDirectory()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    for file in [\TLSSettings.ca, \.certificate, \.key] {
      var settings = TransportSettings.patient
      settings.tls[keyPath: file] = pipe
      let error = #expect(throws: TransportError.self) { try Wire(settings) }
      #expect(error?.message.contains("cannot read \(pipe): it is a pipe or a device") == true)
    }
  }

  @Test func `a connection that the server does not accept times out`() async throws {
    // A listener whose queue is full does not answer.
    let listener = try FullListener()
    var settings = TransportSettings.patient
    settings.connectTimeout = .milliseconds(200)
    let record = try await Wire(settings).get("http://127.0.0.1:\(listener.port)/")
    #expect(record.code == .connectTimeout, "\(record.error.map(String.init(describing:)) ?? "no error")")
    #expect(record.error?.isBeforeSending == true)
  }

  @Test func `if a proxy refuses a request, the error names the proxy and its status`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"))
    var settings = TransportSettings.patient
    settings.proxy = server.baseURL
    let record = try await Wire(settings).get("https://example.invalid/")
    #expect(record.code == .proxy, "\(record.error.map(String.init(describing:)) ?? "no error")")
    #expect(record.error?.message.contains("407") == true)
    #expect(record.head == nil)
  }

  @Test(arguments: ["http://user:secret@127.0.0.1:1", "127.0.0.1:1", "socks5h://127.0.0.1:1/"])
  func `if the proxy is missing, the error names the proxy and not the server`(_ proxy: String) async throws {
    var settings = TransportSettings.patient
    settings.proxy = proxy
    for url in ["http://127.0.0.1:2/", "https://example.invalid/"] {
      let record = try await Wire(settings).get(url)
      #expect(record.code == .proxy, "\(record.error.map(String.init(describing:)) ?? "no error")")
      let message = try #require(record.error?.message)
      #expect(message.contains("no connection to the proxy \"127.0.0.1:1\": "), "\(message)")
      #expect(message.contains("transport.proxy") && !message.contains("secret"))
      #expect(record.error?.isBeforeSending == true)
    }
  }

  @Test func `the error for a proxy whose name cannot be resolved names the proxy`() async throws {
    var settings = TransportSettings.patient
    settings.proxy = "http://proxy.invalid:3128"
    let record = try await Wire(settings).get("http://127.0.0.1:2/")
    #expect(record.code == .proxy)
    #expect(record.error?.message.contains("cannot resolve the proxy \"proxy.invalid\": ") == true)
  }

  @Test
  func `an http request to a proxy has the whole URL, and only the proxy looks up the host`() async throws {
    let server = try ScriptedServer(ScriptStep.respond(body: "via"))
    var settings = TransportSettings.patient
    settings.proxy = server.baseURL
    let record = try await Wire(settings).get("http://example.invalid/a")
    #expect(record.bodyText == "via")
    #expect(server.receivedText[0].hasPrefix("GET http://example.invalid/a HTTP/1.1\r\n"))
  }
}

extension String {
  func components(of text: String) -> Int { ranges(of: text).count }
}
