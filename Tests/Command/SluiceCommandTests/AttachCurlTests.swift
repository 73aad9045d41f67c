import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The command curl under `sluice attach`. Disabled under a sanitizer, which does not know the host library's own
/// runtime.
@Suite(.enabled(if: !Sanitizer.isOn && CurlCommand.path != nil)) struct AttachCurlTests {
  private let curl = CurlCommand.path ?? ""

  @Test func `curl sends the headers of the stages, and its output is the same as without stages`() async throws {
    let fixture = try AttachFixture()
    let requests = try await fixture.compare([curl, "-sS", "\(fixture.url)/a"])
    #expect(requests.each("x-c") == ["plugin"])
    #expect(requests.traceIDs.count == 1)
    #expect(requests[0].headers.first("user-agent")?.hasPrefix("curl/") == true)
    #expect(try await fixture.verifiedTransactions() == 1)
  }

  @Test func `each redirect has its own span, and an unlisted origin gets no header`() async throws {
    let port = Watched<UInt16>(0)
    let fixture = try AttachFixture { request in
      func redirect(_ target: String) -> ServerResponse {
        ServerResponse(status: 302, headers: [HeaderLine("Location", target)], body: .bytes(Array("moved\n".utf8)))
      }
      switch request.path {
      case "/1": return redirect("/2")
      case "/2": return redirect("http://localhost:\(port.value)/3")
      case "/3": return redirect("http://127.0.0.1:\(port.value)/4")
      default: return .text("arrived\n")
      }
    }
    let chosen = fixture.server.port
    port.update { $0 = chosen }
    let requests = try await fixture.compare([curl, "-sSL", "-w", "%{num_redirects} %{http_code}", "\(fixture.url)/1"])
    #expect(requests.map(\.target) == ["/1", "/2", "/3", "/4"])
    #expect(requests.map { TraceIDs($0) != nil } == [true, true, false, true])
    // A header that a stage adds for the transfer belongs to the origin for which it was added.
    #expect(requests.each("x-c") == ["plugin", "plugin", nil, nil])
    #expect(Set(requests.traceIDs.map(\.trace)).count == 1)
    #expect(Set(requests.traceIDs.map(\.span)).count == 3)
    #expect(try await fixture.verifiedTransactions() == 1)
  }

  @Test func `each of a hundred simultaneous transfers has its own trace`() async throws {
    let fixture = try AttachFixture()
    let words = [curl, "-sS", "-Z", "--no-progress-meter", "--parallel-max", "20", "-o", fixture.folder.path("out-#1")]
    let requests = try await fixture.compare(words + ["\(fixture.url)/[1-100]"])
    #expect(requests.count == 100)
    #expect(Set(requests.map(\.target)).count == 100)
    #expect(requests.each("x-c") == Array(repeating: "plugin", count: 100))
    #expect(Set(requests.traceIDs.map(\.trace)).count == 100)
    #expect(try FileTree.readText(fixture.folder.path("out-77")) == "answer to GET /77\n")
    #expect(try await fixture.verifiedTransactions() == 100)
  }

  @Test(arguments: [
    ("-T", "@", "PUT"), ("--data-binary", "name=value", "POST"), ("-F", "name=value", "POST"),
    ("--data-urlencode", "name=a b", "POST"), ("-F", "file=@{file}", "POST"), ("--data-binary", "@{file}", "POST"),
  ]) func `a body arrives as the program sends it`(option: String, value: String, method: String) async throws {
    let fixture = try AttachFixture()
    let file = try fixture.folder.write((0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) }, to: "file")
    let word = value == "@" ? file : value.replacing("{file}", with: file)
    let requests = try await fixture.compare([curl, "-sS", option, word, "\(fixture.url)/up"])
    let plain = fixture.server.requests[0]
    #expect(requests.map(\.method) == [method])
    // The boundary of a form is random.
    if option != "-F" { #expect(requests[0].body == plain.body) }
    #expect(requests[0].body.count == plain.body.count)
    #expect(requests[0].headers.first("content-length") == plain.headers.first("content-length"))
    #expect(requests.each("x-c") == ["plugin"])
    #expect(requests.traceIDs.count == 1)
    #expect(try await fixture.verifiedTransactions() == 1)
  }

  @Test(arguments: [true, false])
  func `a body is sent again after a redirect that keeps the method and the body`(isParallel: Bool) async throws {
    let fixture = try AttachFixture { request in
      request.path == "/old"
        ? ServerResponse(status: 307, headers: [HeaderLine("Location", "/new")]) : .text("\(request.body.count)\n")
    }
    let requests = try await fixture.compare(
      [curl, "-sSL"] + (isParallel ? ["-Z", "--no-progress-meter"] : []) + ["-d", "name=value", "\(fixture.url)/old"])
    #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["name=value", "name=value"])
    #expect(Set(requests.traceIDs.map(\.span)).count == 2)
    #expect(try await fixture.verifiedTransactions() == 1)
  }

  @Test func `a header of the program wins over the same header of an issue stage`() async throws {
    let fixture = try AttachFixture()
    let own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let requests = try await fixture.compare([curl, "-sS", "-H", "traceparent: \(own)", fixture.url])
    #expect(requests.each("traceparent") == [own])
  }

  @Test func `headers that the program removes, empties or repeats stay removed, empty or repeated`() async throws {
    let fixture = try AttachFixture()
    let words = ["-H", "Accept:", "-H", "User-Agent:", "-H", "X-Empty;", "-H", "X-Twice: 1", "-H", "x-twice:  2"]
    let requests = try await fixture.compare([curl, "-sS"] + words + [fixture.url])
    #expect(requests.each("accept") == [nil])
    #expect(requests.each("user-agent") == [nil])
    #expect(requests.each("x-empty") == [""])
    #expect(requests.each("x-twice") == ["1 | 2"])
    #expect(requests.each("x-c") == ["plugin"])
    #expect(requests.traceIDs.count == 1)
    let plain = fixture.server.requests[0].headers.map { "\($0.name): \($0.value)" }
    let added = requests[0].headers.map { "\($0.name): \($0.value)" }
    #expect(added.filter { plain.contains($0) } == plain)
  }

  @Test func `a token does not replace the password that curl sends`() async throws {
    let token = #"{"token": "t0k", "hosts": ["127.0.0.1"]}"#
    let fixture = try AttachFixture(
      more: #", "token": {"library": "\#(BuiltProducts.library("bearer-auth"))", "config": \#(token)}"#,
      stages: #""issue": ["token", "trace"]"#)
    #expect(try await fixture.compare([curl, "-sS", fixture.url]).each("authorization") == ["Bearer t0k"])
    let requests = try await fixture.compare([curl, "-sS", "-u", "me:pw", fixture.url])
    #expect(requests.each("authorization") == ["Basic bWU6cHc="])
    let inURL = try await fixture.compare([curl, "-sS", fixture.url.replacing("://", with: "://me:pw@")])
    #expect(inURL.each("authorization") == ["Basic bWU6cHc="])
  }

  @Test func `at another origin, libcurl sends neither the credentials of the program nor those of a stage`()
    async throws
  {
    let token = #"{"token": "t0k", "hosts": ["127.0.0.1", "localhost"]}"#
    let port = Watched<UInt16>(0)
    let fixture = try AttachFixture(
      more: #", "token": {"library": "\#(BuiltProducts.library("bearer-auth"))", "config": \#(token)}"#,
      stages: #""issue": ["token", "trace"]"#,
      answer: { request in
        request.path == "/1"
          ? ServerResponse(status: 302, headers: [HeaderLine("Location", "http://localhost:\(port.value)/2")])
          : .text("arrived\n")
      })
    let chosen = fixture.server.port
    port.update { $0 = chosen }
    let withToken = try await fixture.compare([curl, "-sSL", "\(fixture.url)/1"])
    #expect(withToken.each("authorization") == ["Bearer t0k", nil])
    let withPassword = try await fixture.compare([curl, "-sSL", "-u", "me:pw", "-b", "c=1", "\(fixture.url)/1"])
    #expect(withPassword.each("authorization") == ["Basic bWU6cHc=", nil])
    #expect(withPassword.each("cookie") == ["c=1", "c=1"])
  }

  @Test func `the request that answers a challenge is a separate hop of the same transaction`() async throws {
    let fixture = try AttachFixture { request in
      request.headers.first("authorization")?.hasPrefix("Digest") == true
        ? .text("let in\n")
        : ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", #"Digest realm="r", nonce="n""#)])
    }
    let requests = try await fixture.compare([curl, "-sS", "--digest", "-u", "me:pw", fixture.url])
    #expect(requests.count == 2)
    #expect(Set(requests.traceIDs.map(\.trace)).count == 1)
    #expect(Set(requests.traceIDs.map(\.span)).count == 2)
    #expect(try await fixture.verifiedTransactions() == 1)
  }

  @Test func `failed transfers end in the same way with and without the command`() async throws {
    let fixture = try AttachFixture { _ in .hangUp }
    let port = try Loopback.freePort()
    for words in [
      ["\(fixture.url)/"], ["http://127.0.0.1:\(port)/"], ["-m", "30", "--max-filesize", "1", fixture.url],
    ] {
      // `-S` is left out, because curl's message contains a time.
      _ = try await fixture.compare([curl, "-s"] + words)
    }
    #expect(try await fixture.verifiedTransactions() == 3)
  }

  @Test func `over TLS with HTTP/2, each hop has the headers of the stages`() async throws {
    let certificates = try await TestCertificates.shared()
    var settings = NginxConfiguration()
    settings.accessLogFormat = "$server_protocol $request_uri $http_x_c $http_traceparent"
    let nginx = try await NginxServer.start(settings, certificates: certificates)
    let fixture = try AttachFixture()
    let words = [curl, "-sSL", "--http2", "--cacert", certificates.authority]
    let url = nginx.secureBaseURL.replacing("localhost", with: "127.0.0.1")
    let paths = ["/redirect", "/text", "/big"].map { "\(url)\($0)" }
    let outputs = paths.flatMap { _ in ["-o", "/dev/null"] }
    _ = try await fixture.compare(
      words + ["-Z", "--no-progress-meter"] + outputs + paths)
    try await nginx.stop()
    let requests = nginx.accessLog.dropFirst(4).map { $0.split(separator: " ").map(String.init) }
    #expect(requests.count == 4)
    #expect(requests.allSatisfy { $0[0] == "HTTP/2.0" && $0[2] == "plugin" })
    #expect(Set(requests.compactMap { TraceIDs($0[3])?.trace }).count == 3)
    #expect(Set(requests.compactMap { TraceIDs($0[3])?.span }).count == 4)
    #expect(try await fixture.verifiedTransactions() == 3)
  }

  @Test func `transfers of other protocols bypass the pipeline`() async throws {
    let fixture = try AttachFixture()
    let file = try fixture.folder.write("content\n", to: "file")
    let result = try await fixture.attach([curl, "-sS", "file://\(file)"], options: ["--explain"])
    #expect(result.outputText == "content\n")
    #expect(
      result.errorText
        == "sluice: attach: 0 transfers went through the pipeline; attach --list PROGRAM says whether a program can be reached\n"
    )
  }

  @Test func `the command starts no thread in curl`() async throws {
    let fixture = try AttachFixture()
    fixture.server.hold()
    let running = try Command(
      Tool.path, ["attach", "-c", fixture.configuration, "--", "sh", "-c", "echo $$; exec \(curl) -sS \(fixture.url)"],
      environment: Tool.cleared
    ).start()
    try await fixture.server.waitForHeld(1)
    let process = running.outputSoFar.split(separator: "\n").first.map(String.init) ?? ""
    #expect(FileTree.names(in: "/proc/\(process)/task").count == 1)
    fixture.server.release()
    #expect(try await running.wait().status == 0)
    #expect(fixture.server.requests.each("x-c") == ["plugin"])
  }
}
