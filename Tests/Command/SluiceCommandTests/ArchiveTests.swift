import Glibc
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `send --har`, which writes an HTTP Archive.
@Suite struct ArchiveTests {
  private let folder: TemporaryDirectory
  private let path: String

  init() throws {
    folder = try TemporaryDirectory()
    path = folder.path("out.har")
  }

  private func send(_ words: String..., input: String = "") async throws -> (CommandResult, WrittenArchive) {
    let result = try await Tool.run(arguments: ["send", "--har", path] + words, input: input)
    return (result, try WrittenArchive(path))
  }

  @Test func `an entry has the request and the response as they were on the wire`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(
        status: 201, headers: [HeaderLine("Content-Type", "application/json"), HeaderLine("X-A", "1")],
        body: .bytes(Array(#"{"é": "\u0000"}"#.utf8)))
    }
    defer { server.stop() }
    let (_, archive) = try await send("-d", #"{"a":"ü"}"#, "-H", "Content-Type: a/b", "\(server.baseURL)/x?b=c+d&e")
    let entry = try #require(archive.entries.first)
    #expect(archive.entries.count == 1)
    let request = try #require(entry["request"])
    #expect(request["method"] == "POST" && request["url"]?.string == "\(server.baseURL)/x?b=c+d&e")
    #expect(request["httpVersion"] == "HTTP/1.1" && request["bodySize"] == 10)
    let names = request["headers"]?.elements.compactMap { $0["name"]?.string }
    #expect(names == ["Host", "Accept", "Accept-Encoding", "User-Agent", "Content-Type", "Content-Length"])
    let query: JSONValue = [["name": "b", "value": "c d"], ["name": "e", "value": ""]]
    #expect(request["queryString"] == query)
    #expect(request["postData"] == ["mimeType": "a/b", "text": #"{"a":"ü"}"#])
    let response = try #require(entry["response"])
    #expect(response["status"] == 201 && response["statusText"] == "Created")
    #expect(response["headers"]?.pair("X-A") == "1")
    #expect(
      response["content"] == ["size": 16, "mimeType": "application/json", "text": #"{"é": "\u0000"}"#])
    #expect(response["bodySize"] == 16)
    #expect(entry["serverIPAddress"] == "127.0.0.1" && entry["connection"]?.string != nil)
    #expect(entry["_attempt"] == 0 && entry["_hop"] == 0)
  }

  @Test func `the time of an entry is the sum of its phases, and a phase that did not happen is -1`() async throws {
    let certificates = try await TestCertificates.shared()
    let secure = try await TLSServer.start(certificates.server, ["-www"])
    let url = "https://127.0.0.1:\(secure.port)/"
    let (result, archive) = try await send("--cacert", certificates.authority, "--http1.1", url)
    #expect(result.status == 0, "\(result.errorText)")
    let entry = try #require(archive.entries.first)
    let timings = try #require(entry["timings"])
    func phase(_ name: String) throws -> Double { try #require(timings[name]?.number) }
    let phases = try ["blocked", "dns", "connect", "send", "wait", "receive"].map(phase).filter { $0 >= 0 }
    #expect(abs(phases.reduce(0, +) - (entry["time"]?.number ?? 0)) < 0.000_1)
    #expect(try phase("dns") == -1)
    #expect(try phase("ssl") > 0 && phase("connect") > phase("ssl"))
    let server = try LoopbackServer { $0.target == "/a" ? Self.redirect("/b") : .text("ok") }
    defer { server.stop() }
    let plain = try await send(server.baseURL + "/a").1.entries.map { $0["timings"] }
    #expect(plain.map { $0?["ssl"] } == [-1, -1])
    #expect(plain.last??["connect"] == -1, "the connection is used again")
  }

  private static func redirect(_ target: String, body: String = "") -> ServerResponse {
    ServerResponse(status: 302, headers: [HeaderLine("Location", target)], body: .bytes(Array(body.utf8)))
  }

  @Test func `each redirect, challenge and retry is an entry`() async throws {
    let failures = Watched(1)
    let server = try LoopbackServer { request in
      if request.target == "/a" { return Self.redirect("/b?sig=s3cret", body: "gone") }
      guard request.headers.contains(where: { $0.isNamed("authorization") }) else {
        return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=x")])
      }
      let fails = failures.update { left in
        left -= 1
        return left >= 0
      }
      return fails ? ServerResponse(status: 503) : .text("ok")
    }
    defer { server.stop() }
    let url = "\(server.baseURL)/a".replacing("http://", with: "http://u:p@")
    let (result, archive) = try await send("--anyauth", "--retry", "1", "--retry-delay", "1ms", url)
    #expect(result.status == 0, "\(result.errorText)")
    let status = archive.entries.map { $0["response"]?["status"]?.integer ?? -1 }
    #expect(status == [302, 401, 503, 302, 401, 200])
    #expect(archive.entries.map { $0["_attempt"]?.integer ?? -1 } == [0, 0, 0, 1, 1, 1])
    #expect(archive.entries.map { $0["_hop"]?.integer ?? -1 } == [0, 1, 2, 0, 1, 2])
    #expect(Set(archive.entries.map { $0["_requestId"]?.string }).count == 1)
    #expect(archive.entries.first?["response"]?["redirectURL"] == "/b?sig=REDACTED")
    let content = try #require(archive.entries.first?["response"]?["content"])
    #expect(content["comment"]?.string?.hasPrefix("not kept") == true, "\(content)")
    #expect(!archive.text.contains("s3cret"))
  }

  @Test func `a hop that fails has status 0 and the error`() async throws {
    let (result, archive) = try await send("http://127.0.0.1:1/")
    #expect(result.status == 7)
    let response = try #require(archive.entries.first?["response"])
    #expect(response["status"] == 0 && response["_error"]?["code"] == "connect")
    #expect(response["_error"]?["message"]?.string?.contains("Connection refused") == true)
  }

  @Test func `the entry of a response that breaks off has the part that arrived, and the error`() async throws {
    let server = try ScriptedServer([
      [.receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]
    ])
    defer { server.stop() }
    let (_, archive) = try await send("-X", "POST", server.baseURL)
    let response = try #require(archive.entries.first?["response"])
    #expect(response["status"] == 200 && response["_error"]?["code"] == "connection_lost", "\(response)")
    #expect(response["content"]?["comment"]?.string?.hasPrefix("incomplete") == true, "\(response)")
  }

  @Test func `a hop that a time limit ends is an entry`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let (result, archive) = try await send("-m", "200ms", server.baseURL)
    #expect(result.status == 28)
    #expect(archive.entries.map { $0["response"]?["_error"]?["code"] } == ["deadline"])
    #expect(archive.entries.first?["request"]?["headers"]?.pair("Host") != nil)
  }

  @Test func `secrets are hidden in headers, cookies, URLs and forms`() async throws {
    let cookies = [
      "sid=s3cret; Path=/a; Domain=example.com; Secure; HttpOnly; SameSite=Lax; Max-Age=60",
      "old=s3cret; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "s3cret",
    ]
    let server = try LoopbackServer { _ in
      ServerResponse(headers: cookies.map { HeaderLine("Set-Cookie", $0) } + [HeaderLine("X-Mine", "s3cret")])
    }
    defer { server.stop() }
    let config = try folder.write(#"{"redact": {"headers": ["X-Mine"], "query": ["mine"]}}"#, to: "c.json")
    let url = "\(server.baseURL)/?sig=s3cret&mine=s3cret&a=b".replacing("http://", with: "http://u:s3cret@")
    let (result, archive) = try await send(
      "-c", config, url, "-b", "sid=s3cret; x", "-H", "X-Mine: s3cret", "-d", "a=1&pass%77ord=s3cret&mine=s3cret",
      "-d", "b=\u{301}2&\u{301}c", "-H", "X-Api-Key: s3cret")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(!archive.text.contains("s3cret"))
    let entry = try #require(archive.entries.first)
    let request = try #require(entry["request"])
    #expect(request["url"]?.string?.hasSuffix("/?sig=REDACTED&mine=REDACTED&a=b") == true)
    #expect(request["headers"]?.pair("Authorization") == "REDACTED")
    #expect(request["headers"]?.pair("X-Mine") == "REDACTED" && request["headers"]?.pair("X-Api-Key") == "REDACTED")
    #expect(request["cookies"]?.pair("sid") == "REDACTED")
    #expect(
      request["postData"]?["text"]?.string == "a=1&pass%77ord=REDACTED&mine=REDACTED&b=\u{301}2&\u{301}c")
    #expect(request["postData"]?["params"]?.pair("password") == "REDACTED")
    #expect(entry["response"]?["headers"]?.pair("X-Mine") == "REDACTED")
    let received = try #require(entry["response"]?["cookies"]).elements.map { $0 }
    #expect(received.map { $0["name"] } == ["sid", "old", ""])
    #expect(received.first?["path"] == "/a" && received.first?["domain"] == "example.com")
    #expect(received.first?["secure"] == true && received.first?["httpOnly"] == true)
    #expect(received.first?["_sameSite"] == "Lax" && received.first?["expires"]?.string != nil)
    #expect(received[1]["expires"] == "1994-11-06T08:49:37.000Z")
  }

  @Test func `a field that a stage marks as a secret is hidden`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let config = try folder.write(
      """
      {"plugins": {"auth": {"library": "\(BuiltProducts.library("bearer-auth"))", "config": \
      {"header": "x-own", "scheme": "", "token": "s3cret", "hosts": ["127.0.0.1"]}}}, "issue": ["auth"]}
      """, to: "c.json")
    let (result, archive) = try await send("-c", config, server.baseURL)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.first?.headers.first("x-own") == "s3cret")
    #expect(archive.entries.first?["request"]?["headers"]?.pair("x-own") == "REDACTED")
    #expect(!archive.text.contains("s3cret"))
  }

  @Test func `a body that is not text is written as base64`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(body: .bytes([0xFF, 0x00])) }
    defer { server.stop() }
    let file = try folder.write([0xE9, 0x41], to: "body")
    let (_, archive) = try await send("--data-binary", "@\(file)", "-o", folder.path("body.out"), server.baseURL)
    let entry = try #require(archive.entries.first)
    let data = try #require(entry["request"]?["postData"])
    #expect(data["text"] == "6UE=" && data["_encoding"] == "base64", "a body in a file is read")
    let content = try #require(entry["response"]?["content"])
    #expect(content["text"] == "/wA=" && content["encoding"] == "base64" && content["size"] == 2)
  }

  @Test func `the text of a compressed response is decoded`() async throws {
    let text = String(repeating: "text ", count: 500)
    let body = EncodedBody.bytes(.gzip, Array(text.utf8))
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("Content-Encoding", "gzip")], body: .bytes(body))
    }
    defer { server.stop() }
    let response = try await send(server.baseURL).1.entries.first?["response"]
    #expect(response?["content"]?["text"]?.string == text)
    #expect(response?["bodySize"]?.integer == Int64(body.count))
    #expect(response?["content"]?["compression"]?.integer == Int64(text.utf8.count - body.count))
  }

  /// The body has 128 MiB, or 1 GiB if SLUICE_SOAK is set.
  @Test func `a large body is left out of the archive, and is not kept in memory`() async throws {
    let count = Tool.isSoak ? 1 << 30 : 128 << 20
    let (isSent, end) = (Signal(), Signal())
    let server = try ScriptedServer(
      .receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: \(count + 1)\r\n\r\n"),
      .sendPattern(.alphabet, byteCount: count), .signal(isSent), .wait(end), .send("x"), .close)
    defer { server.stop() }
    let big = try folder.writeSparse(byteCount: 4 << 20, to: "big")
    let running = try Tool.start("send", "-T", big, "-o", "/dev/null", "--har", path, server.baseURL + "/x")
    try await isSent.wait()
    let peak = try #require(ProcessFacts(of: running.processID).peakResidentBytes)
    end.set()
    let result = try await running.wait()
    #expect(result.status == 0, "\(result.errorText)")
    #expect(Sanitizer.isOn || peak < 64 << 20, "\(peak >> 20) MiB")
    let entry = try #require(try WrittenArchive(path).entries.first)
    let content = try #require(entry["response"]?["content"])
    #expect(content["size"]?.integer == Int64(count + 1) && content["text"] == nil)
    #expect(content["comment"]?.string?.contains("left out: it has \(count + 1) bytes") == true)
    #expect(entry["request"]?["bodySize"]?.integer == 4 << 20)
    #expect(entry["request"]?["postData"]?["comment"]?.string?.contains("left out") == true)
  }

  @Test func `a body that stages change is written as it was on the wire`() async throws {
    let server = try LoopbackServer { .text(String(decoding: $0.body, as: UTF8.self)) }
    defer { server.stop() }
    let request = try await PluginCompiler.compile(
      "marks-bodies", name: "marks-a", defines: ["KIND=PIECES", "SIDE_IS_REQUEST=1"])
    let response = try await PluginCompiler.compile("marks-bodies", defines: ["KIND=PIECES", "SIDE_IS_REQUEST=0"])
    for product in [request, response] { chmod(product.path, 0o755) }
    let config = try folder.write(
      """
      {"plugins": {"a": {"library": "\(request.path)"}, "b": {"library": "\(response.path)"}}, "request": ["a"], \
      "response": ["b"]}
      """, to: "c.json")
    let (result, archive) = try await send("-c", config, "-d", "abc", server.baseURL)
    #expect(result.outputText == "abc|a|b", "\(result.errorText)")
    let entry = try #require(archive.entries.first)
    #expect(entry["request"]?["postData"]?["text"] == "abc|a")
    #expect(entry["response"]?["content"]?["text"] == "abc|a")
    withExtendedLifetime([request, response]) {}
  }

  @Test func `a request that a stage answers itself has no entry in the archive`() async throws {
    let product = try await PluginCompiler.compile("answers")
    chmod(product.path, 0o755)
    let (result, archive) = try await send(
      "--plugin", product.path, "-H", "x-answer: respond", "http://127.0.0.1:1/")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(archive.entries.isEmpty)
    withExtendedLifetime(product) {}
  }

  @Test(arguments: [["--http2"], ["-v"]])
  func `with each version of HTTP, and also with -v, the archive has the headers of the wire`(
    _ words: [String]
  ) async throws {
    guard NginxServer.isAvailable else { return }
    let certificates = try await TestCertificates.shared()
    let server = try await NginxServer.start(certificates: certificates)
    let url = words == ["--http2"] ? server.secureBaseURL : server.baseURL
    let result = try await Tool.run(
      arguments: ["send", "--har", path, "--cacert", certificates.authority, url + "/json"] + words)
    #expect(result.status == 0, "\(result.errorText)")
    let entry = try #require(try WrittenArchive(path).entries.first)
    let headers = try #require(entry["request"]?["headers"])
    let agent = headers.pair("User-Agent") ?? headers.pair("user-agent")
    #expect(agent?.hasPrefix("sluice/") == true, "\(headers)")
    #expect(entry["request"]?["httpVersion"]?.string == (words == ["--http2"] ? "HTTP/2" : "HTTP/1.1"))
    if words == ["-v"] { #expect(result.errorText.contains("> GET /json")) }
  }
}
