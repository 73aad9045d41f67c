import Foundation
import FoundationNetworking
import SluiceAssembly
import SluiceClient
import Sluice
import SluiceFoundation
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The calls of `Client` that use Foundation's types.
@Suite struct FoundationCallTests {
  @Test func `a URL is read as Data and an HTTPURLResponse`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(
        status: 404, headers: [HeaderLine("X-A", "1"), HeaderLine("x-a", "2")], body: .bytes(Array("none".utf8)))
    }
    defer { server.stop() }
    try await withClient { client in
      let (data, response) = try await client.data(from: url(server.baseURL + "/x?y"))
      #expect(data == Data("none".utf8) && response.statusCode == 404)
      #expect(response.value(forHTTPHeaderField: "x-a") == "1, 2")
      #expect(response.url?.absoluteString == server.baseURL + "/x?y")
    }
  }

  @Test func `method, header fields and body of a URLRequest are sent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    try await withClient { client in
      var request = URLRequest(url: try url(server.baseURL))
      request.httpMethod = "PUT"
      request.setValue("yes", forHTTPHeaderField: "X-Mark")
      request.httpBody = Data("body".utf8)
      _ = try await client.data(for: request)
      _ = try await client.upload(for: request, from: Data("other".utf8))
    }
    #expect(server.requests.map(\.method) == ["PUT", "PUT"])
    #expect(server.requests.map { $0.value(of: "x-mark") } == ["yes", "yes"])
    #expect(server.requests.map(\.body) == [Array("body".utf8), Array("other".utf8)])
  }

  @Test(arguments: [false, true]) func `a body stream is sent while it is read`(hasLength: Bool) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let bytes = pattern.bytes(from: 0, count: 300_000)
    try await withClient { client in
      var request = URLRequest(url: try url(server.baseURL))
      request.httpMethod = "POST"
      request.httpBodyStream = InputStream(data: Data(bytes))
      if hasLength { request.setValue("300000", forHTTPHeaderField: "Content-Length") }
      _ = try await client.data(for: request)
    }
    #expect(server.requests.first?.body == bytes)
    #expect(server.requests.first?.value(of: "content-length") == (hasLength ? "300000" : nil))
  }

  @Test func `a file is uploaded, and a response is downloaded into a file`() async throws {
    let folder = try TemporaryDirectory()
    let server = try LoopbackServer { request in .text("got \(request.body.count)") }
    defer { server.stop() }
    try await withClient { client in
      var request = URLRequest(url: try url(server.baseURL))
      request.httpMethod = "POST"
      let path = URL(fileURLWithPath: try folder.write(pattern.bytes(from: 0, count: 100_000), to: "up"))
      let (data, _) = try await client.upload(for: request, fromFile: path)
      #expect(data == Data("got 100000".utf8))
      let (file, response) = try await client.download(from: url(server.baseURL))
      #expect(try Data(contentsOf: file) == Data("got 0".utf8) && response.statusCode == 200)
      try FileManager.default.removeItem(at: file)
      let missing = URL(fileURLWithPath: folder.path("missing"))
      let error = await failure { () throws(URLError) in _ = try await client.upload(for: request, fromFile: missing) }
      #expect(error?.code == .cannotOpenFile && error?.engineCode == "body_file")
    }
  }

  @Test func `bytes are read while they arrive`() async throws {
    let rest = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na\n"), .wait(rest), .send("b\n"))
    defer { server.stop() }
    try await withClient { client in
      let (bytes, response) = try await client.bytes(from: url(server.baseURL))
      #expect(response.expectedContentLength == 4)
      rest.set()
      var lines: [String] = []
      for try await line in bytes.lines { lines.append(line) }
      #expect(lines == ["a", "b"])
    }
  }

  @Test func `the response has the URL of the last hop`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/end"
        ? .text("ok") : ServerResponse(status: 302, headers: [HeaderLine("Location", "/end")])
    }
    defer { server.stop() }
    struct Refusal: TransactionDelegate {
      func transaction(
        _ context: ResponseContext, willFollow redirect: Redirect
      ) async throws -> RedirectDecision { .takeResponse }
    }
    try await withClient { client in
      let start = try url(server.baseURL + "/start")
      let (_, followed) = try await client.data(from: start)
      #expect(followed.url?.path == "/end")
      let (_, taken) = try await client.data(from: start, delegate: Refusal())
      #expect(taken.url?.path == "/start" && taken.statusCode == 302)
      let second = Client(engine: client.engine, delegate: Refusal())
      let (_, alsoTaken) = try await second.data(from: start)
      #expect(alsoTaken.url?.path == "/start" && alsoTaken.statusCode == 302)
    }
  }

  // MARK: Errors

  private struct Unconcerned: TransactionDelegate {}

  private struct Pin: ServerTrustDelegate {
    let asked = Watched(0)

    func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision {
      asked.update { $0 += 1 }
      return .refuse
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `the call's delegate decides about the server, even if the client has another delegate`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    try await withClient(delegate: Unconcerned()) {
      $0.transport.tls.ca = certificates.authority
    } _: { client in
      let (pin, url) = (Pin(), try url(nginx.secureBaseURL))
      let error = await failure { () throws(URLError) in _ = try await client.data(from: url, delegate: pin) }
      #expect(error?.engineCode == "tls" && pin.asked.value == 1)
    }
  }

  @Test func `errors have the codes of URLSession, and the engine's error as their underlying error`() async throws {
    let cut = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close)
    defer { cut.stop() }
    let odd = try ScriptedServer(.receiveHead, .send("not HTTP\r\n\r\n"), .close)
    defer { odd.stop() }
    let circle = try LoopbackServer { _ in ServerResponse(status: 302, headers: [HeaderLine("Location", "/")]) }
    defer { circle.stop() }
    try await withClient { client in
      for (text, code, engineCode) in [
        ("http://127.0.0.1:1/", URLError.Code.cannotConnectToHost, "connect"),
        (cut.baseURL, .networkConnectionLost, "connection_lost"), (odd.baseURL, .badServerResponse, "invalid_response"),
        (circle.baseURL + "/", .httpTooManyRedirects, "redirect_loop"),
      ] {
        let url = try url(text)
        let error = await failure { () throws(URLError) in _ = try await client.data(from: url) }
        #expect(error?.code == code && error?.engineCode == engineCode, "\(text): \(String(describing: error))")
      }
      let ftp = try url("ftp://a.example/")
      let error = await failure { () throws(URLError) in _ = try await client.data(from: ftp) }
      #expect(error?.code == .unsupportedURL)
      let nowhere = try url("http://127.0.0.1:1/")
      let download = await failure { () throws(URLError) in _ = try await client.download(from: nowhere) }
      #expect(download?.code == .cannotConnectToHost && download?.engineCode == "connect")
    }
  }

  @Test(arguments: [0, 70_000], ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"])
  func `timeoutInterval ends a call that receives nothing`(bodyBytes: Int, head: String) async throws {
    let server = try ScriptedServer(.receiveHead, .send(head), .receiveToEnd)
    defer { server.stop() }
    try await withClient { client in
      var request = URLRequest(url: try url(server.baseURL), timeoutInterval: 0.05)
      request.httpMethod = "POST"
      request.httpBody = Data(count: bodyBytes)
      let error = await failure { () throws(URLError) in _ = try await client.data(for: request) }
      #expect(error?.code == .timedOut && error?.engineCode == "timeout")
      // The time limit of the attempt has the same code. The message shows that the idle timeout ended the call.
      #expect(error?.localizedDescription.contains("idle timeout") == true)
      try await server.waitForScripts()
    }
  }

  @Test func `timeoutInterval ends a download that stops, and an upload that nobody reads`() async throws {
    let stopped: [ScriptStep] = [
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), .receiveToEnd,
    ]
    let hasEnded = Signal()
    let server = try ScriptedServer([stopped, [.receiveHead, .wait(hasEnded)]])
    defer { server.stop() }
    try await withClient { client in
      var request = URLRequest(url: try url(server.baseURL), timeoutInterval: 0.05)
      let get = request
      let download = await failure { () throws(URLError) in _ = try await client.download(for: get) }
      #expect(download?.code == .timedOut && download?.localizedDescription.contains("idle timeout") == true)

      request.httpMethod = "POST"
      let post = request
      let body = Data(count: 64 << 20)
      let upload = await failure { () throws(URLError) in _ = try await client.upload(for: post, from: body) }
      #expect(upload?.code == .timedOut && upload?.localizedDescription.contains("idle timeout") == true)
      hasEnded.set()
      try await server.waitForScripts()
    }
  }

  @Test(arguments: [0, -1, .infinity, .nan, 1e300])
  func `a timeoutInterval that is not a usable duration sets no limit`(
    seconds: Double
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    try await withClient { client in
      let request = URLRequest(url: try url(server.baseURL), timeoutInterval: seconds)
      #expect(try await client.data(for: request).1.statusCode == 200)
    }
  }

  @Test func `a download fails if the response has an error status`() async throws {
    let server = try LoopbackServer { _ in .text("no", status: 404) }
    defer { server.stop() }
    try await withClient { client in
      let url = try url(server.baseURL)
      let error = await failure { () throws(URLError) in _ = try await client.download(from: url) }
      #expect(error?.code == .badServerResponse && error?.engineCode == "http_status")
    }
  }

  @Test func `a body above the size limit is an error`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(pattern, byteCount: 200_000, chunked: true))
    }
    defer { server.stop() }
    try await withClient {
      $0.transport.maximumResponseBytes = 100_000
    } _: { client in
      let url = try url(server.baseURL)
      let error = await failure { () throws(URLError) in _ = try await client.data(from: url) }
      #expect(error?.code == .dataLengthExceedsMaximum)
    }
  }

  @Test func `a cancelled task ends the call`() async throws {
    let server = try ScriptedServer(.receiveHead, .receiveToEnd)
    defer { server.stop() }
    try await withClient { client in
      let url = try url(server.baseURL)
      let task = Task { await failure { () throws(URLError) in _ = try await client.data(from: url) } }
      try await server.waitForConnections(1)
      task.cancel()
      #expect(await task.value?.code == .cancelled)
      try await server.waitForScripts()
    }
  }

  // MARK: URLs

  @Test func `a URL of Foundation becomes an HTTPURL only if it follows HTTPURL's strict rules`() throws {
    #expect(try HTTPURL(url("http://a.example:8080/x?y#z")).string == "http://a.example:8080/x?y#z")
    #expect(try HTTPURL(url("http://bücher.example/")).host == "xn--bcher-kva.example")
    for text in ["file:///etc/passwd", "http:///x", "/relative", "http://127.1/"] {
      #expect(throws: MessageError.self, "\(text)") { try HTTPURL(url(text)) }
    }
  }

  @Test func `the shared client stores and sends cookies`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("Set-Cookie", "shared=1")])
    }
    defer { server.stop() }
    for _ in 0..<2 { _ = try await Client.shared.data(from: url(server.baseURL)) }
    #expect(server.requests.map { $0.value(of: "cookie") } == [nil, "shared=1"])
    #expect(try Client.shared === Client.shared)
  }
}
