import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestServers
import SluiceTransport
import Testing

/// One request and its response over real sockets.
@Suite struct TransferTests {
  @Test func `a response arrives completely, with its head, version and timings`() async throws {
    let server = try ScriptedServer(
      .receiveHead,
      .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nX-A:  two \r\nX-Empty:\r\n\r\nhello"))
    let record = try await Wire().get(server.baseURL + "/a?b=c")
    #expect(record.error == nil)
    #expect(record.bodyText == "hello")
    #expect(record.head?.status == 200)
    #expect(record.head?.version == .http11)
    #expect(record.head?.headers[values: "x-a"] == ["1", "two"])
    #expect(record.head?.headers["x-empty"] == "")
    #expect(record.timings.peerAddress == "127.0.0.1")
    #expect(record.timings.bytesReceived == 5)
    #expect(!record.timings.isConnectionReused)
    #expect(record.ends.count == 1)
  }

  @Test func `headers that an observer sets when the request is issued are sent, except framing headers`()
    async throws
  {
    let server = try ScriptedServer(ScriptStep.respond())
    let probe = Probe()
    probe.onIssue = { headers in
      headers["X-Late"] = "yes"
      headers["X-Empty"] = ""
      headers["X-Empty-Too"] = ""
      headers["Transfer-Encoding"] = "chunked"
      headers["Connection"] = "close"
      headers["Content-Length"] = "7"
      headers["X-Early"] = nil
      return true
    }
    let request = Request(url: try HTTPURL(server.baseURL), headers: ["X-Early": "gone", "Host": "other.example"])
    let record = try await Wire().send(request, probe)
    #expect(record.error == nil)
    let sent = try #require(server.receivedText.first)
    #expect(sent.contains("\r\nX-Late: yes\r\n"))
    #expect(sent.contains("\r\nX-Empty:\r\n"))
    #expect(sent.contains("\r\nX-Empty-Too:\r\n"))
    #expect(sent.contains("\r\nHost: other.example\r\n"))
    for absent in ["X-Early", "Transfer-Encoding", "Connection", "Content-Length"] { #expect(!sent.contains(absent)) }
  }

  @Test func `headers are sent in their order, even headers that the transport would add`() async throws {
    let server = try ScriptedServer([ScriptStep.respond() + ScriptStep.respond()])
    var settings = TransportSettings.patient
    settings.decodesContent = false
    let wire = try Wire(settings)
    let headers: HeaderFields = [
      "X-A": "1", "x-b": "2", "Accept": "text/html", "X-C": "3", "traceparent": "00-a-b-01", "X-A": "4", "X-Empty": "",
      "baggage": "k=v", "User-Agent": "test", "b3": "0", "Api-Key": "5", "X-": "6", "X-D": "7",
    ]
    let lines =
      "X-A: 1\r\nx-b: 2\r\nAccept: text/html\r\nX-C: 3\r\ntraceparent: 00-a-b-01\r\nX-A: 4\r\nX-Empty:\r\nbaggage: k=v\r\n"
      + "User-Agent: test\r\nb3: 0\r\nApi-Key: 5\r\nX-: 6\r\nX-D: 7\r\n\r\n"
    _ = try await wire.send(Request(url: HTTPURL(server.baseURL), headers: headers))
    // The second request uses the same connection and has fewer lines.
    _ = try await wire.send(Request(url: HTTPURL(server.baseURL), headers: ["X-E": "8", "X-F": "9"]))
    let sent = try #require(server.receivedText.first)
    let start = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
    let wanted = start + lines + start + "Accept: */*\r\nX-E: 8\r\nX-F: 9\r\n\r\n"
    #expect(sent == wanted)
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `adjacent headers stay separate over HTTP-2`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives =
      "location = /seen { return 200 '$server_protocol $http_x_a $http_x_b $http_accept $http_x_c $http_traceparent'; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let headers: HeaderFields = [
      "X-A": "1", "X-B": "2", "Accept": "text/html", "X-C": "3", "traceparent": "00-a-b-01",
    ]
    let record = try await Wire(settings).send(
      Request(url: HTTPURL(nginx.secureBaseURL + "/seen"), headers: headers))
    #expect(record.error == nil)
    #expect(record.bodyText == "HTTP/2.0 1 2 text/html 3 00-a-b-01")
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a server's certificate is verified even on a handle that was used for clear text before`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let trusting = try Wire(settings)
    let wary = try Wire()
    for wire in [trusting, wary] { #expect(try await wire.get(nginx.baseURL + "/json").error == nil) }
    #expect(try await trusting.get(nginx.secureBaseURL + "/json").error == nil)
    #expect(try await wary.get(nginx.secureBaseURL + "/json").error?.code == .tls)
    #expect(try await trusting.get(nginx.baseURL + "/json").error == nil)
    #expect(try await trusting.get(nginx.secureBaseURL + "/json").error == nil)
  }

  @Test func `the URL's user and password are sent as Authorization unless the request has this header`() async throws {
    // Without `Connection: close` the second request could use a connection that the server is about to close.
    let server = try ScriptedServer(ScriptStep.respond(headers: ["Connection: close"]))
    let wire = try Wire()
    let url = try HTTPURL("http://us%40er:p%3Ass@127.0.0.1:\(server.port)/")
    let first = try await wire.send(Request(url: url))
    #expect(server.receivedText.first?.contains("\r\nAuthorization: Basic dXNAZXI6cDpzcw==\r\n") == true)
    #expect(first.issued.first?.marks(at: 0) == .sensitive)
    _ = try await wire.send(Request(url: url, headers: ["authorization": "Bearer x"]))
    let second = try #require(server.receivedText.dropFirst().first)
    #expect(second.contains("\r\nauthorization: Bearer x\r\n"))
    #expect(!second.contains("Basic"))
  }

  @Test func `if an observer refuses to issue a request, the transfer ends before a byte is sent`() async throws {
    let server = try ScriptedServer(.receiveToEnd)
    let probe = Probe()
    probe.onIssue = { _ in false }
    // The transport may keep the connection until the transport itself ends.
    let record = try await Wire().send(Request(url: HTTPURL(server.baseURL)), probe)
    #expect(record.code == .cancelled)
    #expect(record.issued.count == 1)
    try await server.waitForScripts()
    #expect(server.received == [[]])
  }

  @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"])
  func `each method is sent unchanged, even if the handle sent another method before`(_ method: String) async throws {
    let server = try LoopbackServer()
    let wire = try Wire()
    for (name, body) in [("POST", Body.text("abc")), (method, .empty), ("HEAD", .empty), (method, .empty)] {
      let record = try await wire.send(Request(method: name, url: HTTPURL(server.baseURL + "/x"), body: body))
      #expect(record.error == nil)
      #expect(record.head?.status == 200)
    }
    #expect(server.requests.map(\.method) == ["POST", method, "HEAD", method])
    #expect(server.requests.dropFirst().first?.body.isEmpty == true)
  }

  @Test func `informational responses are reported, and the trailers are reported at the end`() async throws {
    let server = try ScriptedServer(
      .receiveHead,
      .send(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
          + "3\r\nabc\r\n0\r\nX-Sum: 42\r\n\r\n"))
    let record = try await Wire().get(server.baseURL)
    #expect(record.error == nil)
    #expect(record.informational == [103])
    #expect(record.head?.headers["Link"] == nil)
    #expect(record.bodyText == "abc")
    #expect(record.ends.first?.trailers?["X-Sum"] == "42")
    #expect(record.head?.headers["X-Sum"] == nil)
  }

  @Test func `a folded header line is unfolded`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nX-A: one\r\n  two\r\nX-B:\r\n three\r\nContent-Length: 0\r\n\r\n"))
    let record = try await Wire().get(server.baseURL)
    #expect(record.error == nil)
    #expect(record.head?.headers["X-A"] == "one two" && record.head?.headers["X-B"] == "three")
  }

  @Test func `a header folded into twenty thousand lines has its whole value`() async throws {
    let folds = String(repeating: " x\r\n", count: 20_000)
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nX-A: one\r\n\(folds)X-B: two\r\nContent-Length: 0\r\n\r\n"))
    let record = try await Wire().get(server.baseURL)
    #expect(record.error == nil)
    let isWhole = record.head?.headers["X-A"] == "one" + String(repeating: " x", count: 20_000)
    #expect(isWhole, "\(record.head?.headers["X-A"]?.utf8.count ?? 0) bytes")
    #expect(record.head?.headers["X-B"] == "two")
  }

  @Test func `a long first header line is read as one line, wherever it is cut`()
    async throws
  {
    // A reader that cuts at 16 KiB would see a second piece that begins with a space.
    let value = String(repeating: "a", count: 16_384 - 8) + " b"
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nX-Long: \(value)\r\nContent-Length: 2\r\n\r\nhi"))
    let record = try await Wire().get(server.baseURL)
    #expect(record.error == nil && record.bodyText == "hi", "\(String(describing: record.error))")
    #expect(record.head?.headers["X-Long"] == value)
  }

  @Test func `a connection is used again`() async throws {
    let server = try ScriptedServer([ScriptStep.respond(body: "1") + ScriptStep.respond(body: "2") + [.receiveToEnd]])
    let wire = try Wire()
    #expect(try await wire.get(server.baseURL).bodyText == "1")
    let second = try await wire.get(server.baseURL)
    #expect(second.bodyText == "2")
    #expect(second.timings.isConnectionReused)
    #expect(second.timings.connect == .zero)
    #expect(server.connectionCount == 1)
  }

  @Test func `a callback of a transfer can start another transfer`() async throws {
    let server = try LoopbackServer()
    let wire = try Wire()
    let outer = Probe()
    let inner = Probe()
    let url = try HTTPURL(server.baseURL)
    outer.onIssue = { [transport = wire.transport] _ in
      _ = transport.start(Request(url: url), TransferOptions(), observer: inner)
      return true
    }
    #expect(try await wire.send(Request(url: url), outer).bodyText == "ok\n")
    #expect(try await inner.waitForEnd().bodyText == "ok\n")
  }
}

extension ScriptedServer {
  /// Runs the same script on every connection, which is then closed.
  convenience init(_ script: [ScriptStep]) throws { try self.init([script]) }
}
