import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Tests stages that suspend in programs with a multi handle. The program must not wait in curl_multi_add_handle.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachPendingTests {
  /// A stage. It suspends a request for `/held` or `/refused` until a request for `/release` arrives, and a request for
  /// `/never` forever. It resumes a request for `/early` before the call has returned. Each request that has waited has
  /// the header `x-waited`.
  private static func stage() async throws -> PluginCompiler.Product {
    try await PluginCompiler.compile(
      source: """
        #define _GNU_SOURCE
        #include <sluice/sluice.h>
        #include <stdbool.h>
        #include <string.h>
        static sluice_token token;
        static sluice_verdict verdict;
        static bool is_waiting;
        static bool is_for(const sluice_exchange_api *api, sluice_exchange *exchange, const char *path) {
          sluice_text url;
          api->url_get(exchange, &url);
          return memmem(url.data, url.size, path, strlen(path)) != NULL;
        }
        static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
          const sluice_host *host = (const sluice_host *)instance;
          const sluice_exchange_api *api = host->exchange;
          sluice_token own;
          if (is_for(api, exchange, "/release") && is_waiting) {
            is_waiting = false;
            host->resume(host, token, verdict);
          }
          const bool is_refused = is_for(api, exchange, "/refused"), is_early = is_for(api, exchange, "/early");
          const bool is_held = is_refused || is_for(api, exchange, "/held");
          if (!is_held && !is_early && !is_for(api, exchange, "/never")) return SLUICE_VERDICT_CONTINUE;
          api->header_set(exchange, SLUICE_SIDE_REQUEST, sluice_text_make("x-waited"), sluice_text_make("yes"));
          if (is_refused) sluice_fail(host, exchange, "closed", "the shop is closed");
          if (api->suspend(exchange, &own) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
          if (is_early) host->resume(host, own, SLUICE_VERDICT_CONTINUE);
          if (is_held) {
            token = own;
            verdict = is_refused ? SLUICE_VERDICT_FAIL : SLUICE_VERDICT_CONTINUE;
            is_waiting = true;
          }
          return SLUICE_VERDICT_SUSPENDED;
        }
        static const sluice_interceptor interceptor =
            SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, on_request));
        SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
        SLUICE_PLUGIN("stage", "1.0.0", SLUICE_SET(summary, "A stage."), SLUICE_UNCONFIGURED,
                      SLUICE_SET(extension, extension));
        SLUICE_REQUIRES(suspend);
        """, name: "stage")
  }

  private static func fixture(_ member: String = "") async throws -> (AttachFixture, PluginCompiler.Product) {
    let plugin = try await stage()
    let fixture = try AttachFixture(
      more: #", "stage": {"library": "\#(plugin.path)"\#(member)}"#,
      stages: #""request": ["stage"], "issue": ["trace"]"#)
    return (fixture, plugin)
  }

  private static let expected = """
    running: 1
    /fast is done => 0
    /release is done => 0
    /held is done => 0
    running: 0
    /early is done => 0
    /release is done => 0
    /refused is done => 42
    added twice: 7
    added elsewhere: 7
    removed elsewhere: 2
    performed: 2
    removed: 0
    removed twice: 0
    running: 0
    added again: 0
    running: 0
    a handle that was reset is done => 3
    => 0 200
    running in another thread: 1
    in a child: 0/never is done => 0
    the child ended with 0
    cleaned up: 0
    => 0 200

    """

  /// Of two transfers that run at once, either can finish first.
  private static func sorted(_ text: String) -> [String] {
    text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("answer") }.sorted()
  }

  @Test(arguments: ["poll", "wait", "select", "events"])
  func `a suspended transfer begins later, and the other transfers continue`(how: String) async throws {
    let (fixture, plugin) = try await Self.fixture()
    let program = try await ForeignProgram.compile("pending")
    let result = try await fixture.attach(
      [program.path, fixture.url, how], options: ["--events", fixture.folder.path("events")])
    withExtendedLifetime(plugin) {}
    #expect(Self.sorted(result.outputText) == Self.sorted(Self.expected), "\(result.outputText)\(result.errorText)")
    #expect(result.ending == .exited(0))
    #expect(fixture.server.requests.filter { $0.path == "/held" }.each("x-waited") == ["yes"])
    #expect(fixture.server.requests.filter { $0.path == "/early" }.each("x-waited") == ["yes"])
    // The child makes its transfer without the pipeline, because the parent's stage has not decided.
    #expect(fixture.server.requests.filter { $0.path == "/never" }.each("x-waited") == [nil])
    #expect(!fixture.server.requests.contains { $0.path == "/refused" })
    #expect(result.errorText.contains("1 transfer went without the pipeline"))
    _ = try await fixture.verifiedTransactions()
  }

  @Test func `if a pipeline is required, a forked child does not send a request that was suspended in its parent`()
    async throws
  {
    let plugin = try await Self.stage()
    let fixture = try AttachFixture(
      more: #", "stage": {"library": "\#(plugin.path)"}"#,
      stages: #""request": ["stage"], "attach": {"onMissing": "fail"}"#)
    let program = try await ForeignProgram.compile("pending")
    let result = try await fixture.attach([program.path, fixture.url, "poll"])
    #expect(result.outputText.contains("in a child: 0/never is done => 42\n"), "\(result.outputText)")
    #expect(!fixture.server.requests.contains { $0.path == "/never" })
  }

  @Test(arguments: ["poll", "wait", "select", "events"])
  func `a stage that is not resumed ends its transfer at its deadline`(how: String) async throws {
    let (fixture, plugin) = try await Self.fixture(#", "deadline": "300ms""#)
    let program = try await ForeignProgram.compile("deadline")
    let result = try await fixture.attach([program.path, "\(fixture.url)/never", how])
    withExtendedLifetime(plugin) {}
    #expect(result.outputText.hasPrefix("=> 42 sluice: stage \"stage\": "), "\(result.outputText)\(result.errorText)")
    #expect(fixture.server.requestCount == 0)
  }

  @Test(.enabled(if: CurlCommand.path != nil)) func `curl makes other transfers while one is suspended`() async throws {
    let (fixture, plugin) = try await Self.fixture()
    let paths = ["/held", "/1", "/2", "/release"].map { fixture.url + $0 }
    let words = [CurlCommand.path ?? "", "-sS", "-Z", "--no-progress-meter", "--parallel-max", "3", "-w", "%{url}\n"]
    let result = try await fixture.attach(words + ["-o", "/dev/null", "-o", "/dev/null"] + paths)
    withExtendedLifetime(plugin) {}
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.outputText.split(separator: "\n").count { $0.hasPrefix("http://") } == 4)
    #expect(fixture.server.requests.filter { $0.path == "/held" }.each("x-waited") == ["yes"])
  }

  @Test func `URLSession makes other transfers while one is suspended`() async throws {
    let (fixture, plugin) = try await Self.fixture()
    let result = try await fixture.attach([BuiltProducts.executable("url-session"), fixture.url, "suspended"])
    withExtendedLifetime(plugin) {}
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText.contains("/held arrived"))
    #expect(fixture.server.requests.filter { $0.path == "/held" }.each("x-waited") == ["yes"])
  }

  private static let pycurl = #"""
    import io, pycurl, sys
    multi = pycurl.CurlMulti()
    handles = {}
    def add(path):
        curl = handles[path] = pycurl.Curl()
        curl.body = io.BytesIO()
        curl.path = path
        curl.setopt(pycurl.URL, sys.argv[1] + path)
        curl.setopt(pycurl.WRITEDATA, curl.body)
        multi.add_handle(curl)
    def run(*paths):
        left = set(paths)
        while left:
            multi.perform()
            _, good, bad = multi.info_read()
            for curl in good:
                print(curl.path)
                left.discard(curl.path)
                multi.remove_handle(curl)
            for curl, code, words in bad: print(curl.path, code, words)
            if left: multi.select(min(1, max(multi.timeout(), 0) / 1000))
    add('/held')
    add('/fast')
    run('/fast')
    add('/release')
    run('/held', '/release')
    """#

  @Test(.enabled(if: AttachFixture.hasPycurl))
  func `pycurl makes other transfers while one is suspended`() async throws {
    let (fixture, plugin) = try await Self.fixture()
    let result = try await fixture.attach(["/usr/bin/python3", "-c", Self.pycurl, fixture.url])
    withExtendedLifetime(plugin) {}
    let lines = result.outputText.split(separator: "\n").map(String.init)
    #expect(lines.first == "/fast")
    #expect(lines.dropFirst().sorted() == ["/held", "/release"], "\(result.errorText)")
  }
}
