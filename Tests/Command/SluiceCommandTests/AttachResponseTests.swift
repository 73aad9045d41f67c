import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Response stages under `sluice attach`. The key `attach.response` allows them.
@Suite(.enabled(if: !Sanitizer.isOn && CurlCommand.path != nil)) struct AttachResponseTests {
  private let curl = CurlCommand.path ?? ""

  // MARK: The server

  /// Responses, some of them odd, that are the same in both runs of a program.
  private static func answer(_ head: MessageHead) -> String {
    let words = head.startLine.split(separator: " ")
    let path = words.count > 1 ? String(words[1]) : ""
    func whole(_ status: String, _ lines: [String] = [], _ body: String = "") -> String {
      let body = words[0] == "HEAD" ? "" : body
      return (["HTTP/1.1 \(status)"] + lines).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
    func echo() -> String {
      let body = "\(words[0]) \(["user-agent", "x-own", "cookie"].map { head.headers.first($0) ?? "-" })\n"
      return whole("200 OK", ["Content-Length: \(body.utf8.count)"], body)
    }
    if words[0] == "CONNECT" { return "HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n" }
    switch path {
    case "/empty": return whole("204 No Content", ["X-Empty:"])
    case "/none": return whole("200 OK", ["Content-Length: 0"])
    case "/missing": return whole("404 Not Found", ["Content-Length: 8"], "missing\n")
    case "/big":
      return whole("200 OK", ["Content-Length: 300000"], String(repeating: "0123456789", count: 30_000))
    case "/trailer":
      return whole(
        "200 OK", ["Transfer-Encoding: chunked", "Trailer: X-Sum"], "6\r\nhello\n\r\n0\r\nX-Sum: 1\r\n\r\n")
    case "/long": return whole("200 OK", ["X-Long: " + String(repeating: "x", count: 60_000), "Content-Length: 0"])
    case "/odd":
      return "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"
        + whole("299 Odd", ["a:b", "Folded: 1\r\n  2", "A:  c ", "Content-Length: 4"], "odd\n")
    case "/redirect": return whole("302 Found", ["Location: /plain", "Content-Length: 6"], "moved\n")
    case "/loop": return whole("302 Found", ["Location: /loop", "Content-Length: 0"])
    case "/to-echo": return whole("302 Found", ["Location: /echo", "Content-Length: 6"], "moved\n")
    case "/twice": return whole("302 Found", ["Content-Length: 0", "location:/to-echo"])
    case "/echo": return echo()
    case "/digest", "/digest-echo":
      let isLetIn = head.headers.first("authorization")?.hasPrefix("Digest") ?? false
      if isLetIn, path == "/digest-echo" { return echo() }
      if isLetIn { return whole("200 OK", ["Content-Length: 7"], "let in\n") }
      return whole("401 Unauthorized", [#"WWW-Authenticate: Digest realm="r", nonce="n""#, "Content-Length: 0"])
    case "/spoof":
      // A trailer that looks like another response.
      return whole("401 Unauthorized", ["Transfer-Encoding: chunked"], "0\r\nHTTP/1.1 200 OK: 1\r\n\r\n")
    default: return whole("200 OK", ["X-Plain: 1", "Content-Length: 6"], "plain\n")
    }
  }

  private static func makeServer() throws -> ScriptedServer {
    try ScriptedServer { head, _ in [.send(answer(head))] }
  }

  // MARK: The stage

  /// A plugin in C, whose functions have these bodies.
  private static func stage(_ response: String, failure: String = "", flags: String = "0") async throws
    -> PluginCompiler.Product
  {
    try await PluginCompiler.compile(
      source: """
        #define _GNU_SOURCE
        #include <sluice/sluice.h>
        #include <pthread.h>
        #include <stdlib.h>
        #include <unistd.h>
        static const sluice_host *kept;
        static sluice_token token;
        static void *resume(void *unused) {
          usleep(100000);
          kept->resume(kept, token, unused ? SLUICE_VERDICT_FAIL : SLUICE_VERDICT_CONTINUE);
          return NULL;
        }
        static inline void resume_later(void) {
          pthread_t thread;
          if (pthread_create(&thread, NULL, resume, NULL) == 0) pthread_detach(thread);
        }
        static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
          const sluice_host *host = kept = (const sluice_host *)instance;
          const sluice_exchange_api *api = host->exchange;
          (void)api; (void)exchange; (void)resume_later;
          \(response)
          return SLUICE_VERDICT_CONTINUE;
        }
        static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
          const sluice_host *host = (const sluice_host *)instance;
          (void)host; (void)exchange; (void)failure;
          \(failure)
          return SLUICE_VERDICT_CONTINUE;
        }
        static const sluice_interceptor interceptor =
            SLUICE_TABLE(sluice_interceptor, SLUICE_SET(flags, \(flags)), SLUICE_SET(on_response, on_response),
                         SLUICE_SET(on_failure, on_failure));
        SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
        SLUICE_PLUGIN("stage", "1.0.0", SLUICE_SET(summary, "A stage."), SLUICE_UNCONFIGURED,
                      SLUICE_SET(extension, extension));
        SLUICE_REQUIRES(response);
        """, name: "stage")
  }

  private static func configuration(_ plugin: PluginCompiler.Product, member: String = "") -> String {
    """
    {"plugins": {"stage": {"library": "\(plugin.path)"\(member)}}, "response": ["stage"],
     "attach": {"response": "staged"}}
    """
  }

  private struct Run {
    let plain: CommandResult
    let attached: CommandResult
    let events: String
  }

  /// Runs a program alone, and then under `sluice attach`.
  private static func run(
    _ plugin: PluginCompiler.Product, member: String = "", _ words: (_ url: String) -> [String]
  ) async throws -> Run {
    let folder = try TemporaryDirectory()
    let file = try folder.write(configuration(plugin, member: member), to: "c.json")
    try folder.makeFolder("events")
    let server = try makeServer()
    defer { server.stop() }
    let words = words(server.baseURL)
    let plain = try await Command.run(words[0], Array(words.dropFirst()), environment: Tool.cleared)
    let attached = try await Command.run(
      Tool.path, ["attach", "-c", file, "--events", folder.path("events"), "--"] + words, environment: Tool.cleared)
    var events: [String] = []
    for name in FileTree.names(in: folder.path("events")) {
      let file = folder.path("events/\(name)")
      events.append(try FileTree.readText(file))
      let verified = try await Tool.run("verify-trace", file)
      #expect(verified.status == 0, "\(verified.outputText)\(verified.errorText)")
    }
    return Run(plain: plain, attached: attached, events: events.joined())
  }

  private func fetch(_ plugin: PluginCompiler.Product, member: String = "", _ words: String...) async throws -> Run {
    try await Self.run(plugin, member: member) { url in
      [curl, "-sS"] + words.map { $0.hasPrefix("/") ? url + $0 : $0 }
    }
  }

  private static func expectSame(_ run: Run, _ location: SourceLocation = #_sourceLocation) {
    #expect(run.attached.outputText == run.plain.outputText, sourceLocation: location)
    #expect(run.attached.errorText == run.plain.errorText, sourceLocation: location)
    #expect(run.attached.ending == run.plain.ending, sourceLocation: location)
  }

  private static let failing = #"return sluice_fail(host, exchange, "closed", "the shop is closed");"#
  private static let editing = """
    api->header_set(exchange, SLUICE_SIDE_RESPONSE, sluice_text_make("x-plain"), sluice_text_make("2"));
    api->header_set(exchange, SLUICE_SIDE_RESPONSE, sluice_text_make("X-New"), sluice_text_make("3"));
    api->header_remove(exchange, SLUICE_SIDE_RESPONSE, sluice_text_make("content-length"));
    """
  private static let suspending = """
    if (api->suspend(exchange, &token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
    resume_later();
    return SLUICE_VERDICT_SUSPENDED;
    """
  private static let forgetting = """
    return api->suspend(exchange, &token) == SLUICE_STATUS_OK ? SLUICE_VERDICT_SUSPENDED : SLUICE_VERDICT_FAIL;
    """

  // MARK: Stages that change nothing

  @Test(arguments: ["", suspending])
  func `stages that change nothing leave each response as it is`(_ body: String) async throws {
    let program = try await ForeignProgram.compile("responses")
    let run = try await Self.run(try await Self.stage(body)) { [program.path, $0] }
    Self.expectSame(run)
  }

  @Test func `an option that a program sets when a head arrives takes effect with the next hop`() async throws {
    let program = try await ForeignProgram.compile("set_later")
    let run = try await Self.run(try await Self.stage("")) { [program.path, $0] }
    Self.expectSame(run)
    #expect(run.plain.outputText.contains("later"))
  }

  @Test(arguments: [
    ["/plain"], ["-i", "/plain"], ["-I", "/plain"], ["-iL", "/redirect"], ["-D", "-", "/plain"], ["-f", "/missing"],
    ["-i", "/odd"], ["-Z", "--no-progress-meter", "-i", "/plain", "-i", "/redirect"], ["-i", "-d", "a=1", "/empty"],
    ["--digest", "-u", "me:pw", "-i", "/digest"], ["--digest", "-u", "me:pw", "-i", "-d", "a=1", "/digest"],
    ["-o", "/dev/null", "-w", "%{http_code} %{size_download} %{header_json}", "/plain"],
  ])
  func `curl's output is the same as without the command`(words: [String]) async throws {
    let plugin = try await Self.stage("")
    Self.expectSame(
      try await Self.run(plugin) { url in
        [curl, "-sS"] + words.map { $0.hasPrefix("/") && !$0.hasPrefix("/dev") ? url + $0 : $0 }
      })
  }

  @Test func `stages do not see the answer of a proxy to CONNECT`() async throws {
    func words(_ url: String) -> [String] {
      [curl, "-sSi", "-p", "-x", url, "http://a.invalid/plain", "http://a.invalid/empty"]
    }
    Self.expectSame(try await Self.run(try await Self.stage(""), words))
    let refused = try await Self.run(try await Self.stage(Self.failing), words)
    // Each request opens a tunnel.
    let tunnel = "HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n"
    #expect(refused.attached.outputText == tunnel + tunnel)
    #expect(refused.attached.ending == .exited(42))
  }

  @Test func `without memory for a held head, the program sees no difference`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let memory = try await ForeignProgram.compileLibrary("failing_malloc", [])
    let loop = #"for n in $(seq 1 60); do FAIL_AT=$n LD_PRELOAD=$LD_PRELOAD:$0 "$@" || echo "ended with $?"; done"#
    let run = try await Self.run(try await Self.stage("")) { ["sh", "-c", loop, memory.path, program.path, $0] }
    #expect(run.attached.outputText == run.plain.outputText)
    #expect(run.attached.errorText.contains("went without the pipeline"))
  }

  // MARK: What stages do

  @Test(arguments: [
    ["/plain"], ["-i", "/plain"], ["-I", "/plain"], ["-D", "-", "/empty"], ["-i", "/big"], ["-iL", "/redirect"],
    ["-i", "-d", "a=1", "/empty"], ["-i", "/trailer"], ["-Z", "--no-progress-meter", "-i", "/plain"],
  ])
  func `the program gets nothing of a response that a stage refuses`(words: [String]) async throws {
    let plugin = try await Self.stage(Self.failing)
    let run = try await Self.run(plugin) { url in [curl, "-sS"] + words.map { $0.hasPrefix("/") ? url + $0 : $0 } }
    #expect(run.attached.ending == .exited(42))
    let isRedirected = words.contains("-iL")
    // The program already got the head of the redirect, which belongs to the previous hop.
    #expect(run.attached.outputText.hasPrefix("HTTP/1.1 302 Found") == isRedirected)
    #expect(run.attached.outputText.isEmpty != isRedirected)
    #expect(!run.attached.outputText.contains("X-Plain"))
    #expect(run.attached.errorText.contains("curl: (42) sluice: stage \"stage\": the shop is closed"))
  }

  @Test func `stages can change headers, and lines that they do not change keep their bytes`() async throws {
    let plugin = try await Self.stage(Self.editing)
    let plain = try await fetch(plugin, "-i", "/plain")
    #expect(plain.attached.outputText == "HTTP/1.1 200 OK\r\nx-plain: 2\r\nX-New: 3\r\n\r\nplain\n")
    let odd = try await fetch(plugin, "-i", "/odd")
    #expect(
      odd.attached.outputText
        == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"
        + "HTTP/1.1 299 Odd\r\na:b\r\nFolded: 1\r\n  2\r\nA:  c \r\nx-plain: 2\r\nX-New: 3\r\n\r\nodd\n")
  }

  @Test(arguments: [
    ("api->status_set(exchange, 503);", "a stage has changed the status of the response"),
    ("api->respond(exchange, 200); return SLUICE_VERDICT_RESPOND;", "stage"),
    (
      "if (api->body_set(exchange, SLUICE_SIDE_RESPONSE, sluice_text_bytes(sluice_text_make(\"x\")))"
        + " != SLUICE_STATUS_UNSUPPORTED) return SLUICE_VERDICT_CONTINUE;\n\(failing)", "the shop is closed"
    ),
  ])
  func `a change that a stage cannot make ends the transfer`(_ body: String, _ reason: String) async throws {
    let run = try await fetch(try await Self.stage(body), "-i", "/plain")
    #expect(run.attached.ending == .exited(42))
    #expect(run.attached.outputText == "")
    #expect(run.attached.errorText.contains("curl: (42) sluice: "))
    #expect(run.attached.errorText.contains(reason))
  }

  @Test(arguments: [(forgetting, "0"), ("usleep(100000);\(failing)", "SLUICE_FLAG_BLOCKING")])
  func `the program waits for a suspended stage until the stage's deadline`(_ body: String, _ flags: String)
    async throws
  {
    let plugin = try await Self.stage(body, flags: flags)
    let run = try await fetch(plugin, member: #", "deadline": "200ms""#, "-i", "/plain")
    #expect(run.attached.ending == .exited(42))
    #expect(run.attached.outputText == "")
    #expect(run.attached.errorText.contains("curl: (42) sluice: stage \"stage\": "))
  }

  @Test func `stages learn of a failure without a response`() async throws {
    let plugin = try await Self.stage("", failure: #"return sluice_fail(host, exchange, "seen", "it was seen");"#)
    let run = try await Self.run(plugin) { _ in [curl, "-s", "http://127.0.0.1:1/"] }
    Self.expectSame(run)
    #expect(run.events.contains("it was seen"))
  }

  @Test func `a trailer that looks like a response cannot bypass the response stages`() async throws {
    let run = try await fetch(try await Self.stage(""), "-i", "-u", "me:pw", "/spoof")
    #expect(run.attached.ending == .exited(42))
    #expect(run.attached.errorText.contains("no valid head to show to the stages"))
  }

  @Test func `the program gets nothing of a head that breaks off or is too large`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(Self.configuration(try await Self.stage("")), to: "c.json")
    let long = String(repeating: "X-Long: \(String(repeating: "x", count: 90_000))\r\n", count: 5)
    for text in ["HTTP/1.1 200 OK\r\nX-Half: 1\r\n", "HTTP/1.1 200 OK\r\n\(long)\r\n"] {
      let server = try ScriptedServer(.receiveHead, .send(text), .reset)
      defer { server.stop() }
      let run = try await Tool.run("attach", "-c", file, "--", curl, "-sSi", server.baseURL)
      #expect(run.outputText == "")
      #expect(run.status != 0)
    }
  }

  @Test(.enabled(if: AttachFixture.hasPycurl)) func `pycurl and URLSession get nothing of a refused response`()
    async throws
  {
    let script = """
      import io, pycurl, sys
      lines, body = [], io.BytesIO()
      curl = pycurl.Curl()
      curl.setopt(pycurl.URL, sys.argv[1] + '/plain')
      curl.setopt(pycurl.HEADERFUNCTION, lines.append)
      curl.setopt(pycurl.WRITEDATA, body)
      multi = pycurl.CurlMulti()
      multi.add_handle(curl)
      running = 1
      while running:
          running = multi.perform()[1]
          if running: multi.select(1.0)
      _, good, bad = multi.info_read()
      print(lines, body.getvalue(), len(good), [(code, words) for _, code, words in bad])
      """
    let plugin = try await Self.stage(Self.failing)
    let run = try await Self.run(plugin) { ["/usr/bin/python3", "-c", script, $0] }
    #expect(
      run.attached.outputText == "[] b'' 0 [(42, 'sluice: stage \"stage\": the shop is closed')]\n",
      "\(run.attached.errorText)")
    let session = try await Self.run(plugin) { [BuiltProducts.executable("url-session"), $0] }
    #expect(session.attached.ending != session.plain.ending || session.attached.outputText != session.plain.outputText)
    #expect(!session.attached.outputText.contains("plain"))
  }

  @Test func `response stages also work with URLSession and with curl over HTTP/2`() async throws {
    let plugin = try await Self.stage("")
    Self.expectSame(try await Self.run(plugin) { [BuiltProducts.executable("url-session"), $0] })
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(NginxConfiguration(), certificates: certificates)
    let url = nginx.secureBaseURL.replacing("localhost", with: "127.0.0.1")
    let run = try await Self.run(try await Self.stage(Self.editing)) { _ in
      [curl, "-sSiL", "--http2", "--cacert", certificates.authority, "\(url)/redirect"]
    }
    try await nginx.stop()
    #expect(run.attached.outputText.contains("HTTP/2 200"))
    #expect(run.attached.outputText.contains("X-New: 3\r\n\r\n"))
    #expect(run.attached.ending == .exited(0))
  }
}
