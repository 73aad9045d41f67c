import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What stages do to the transfers of a program under `sluice attach`.
@Suite(.enabled(if: !Sanitizer.isOn && CurlCommand.path != nil)) struct AttachStageTests {
  private let curl = CurlCommand.path ?? ""

  /// A plugin in C, whose stage has this body.
  private static func stage(_ body: String, name: String = "stage", wants: String = "0") async throws
    -> PluginCompiler.Product
  {
    try await PluginCompiler.compile(
      source: """
        #include <sluice/sluice.h>
        static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
          const sluice_host *host = (const sluice_host *)instance;
          const sluice_exchange_api *api = host->exchange;
          (void)api;
          \(body)
          return SLUICE_VERDICT_CONTINUE;
        }
        static const sluice_interceptor interceptor =
            SLUICE_TABLE(sluice_interceptor, SLUICE_SET(wants, \(wants)), SLUICE_SET(on_request, on_request));
        SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
        SLUICE_PLUGIN("\(name)", "1.0.0", SLUICE_SET(summary, "A stage."), SLUICE_UNCONFIGURED,
                      SLUICE_SET(extension, extension));
        """, name: name)
  }

  private static func fixture(
    _ plugin: PluginCompiler.Product, member: String = "",
    answer: @escaping @Sendable (ServerRequest) -> ServerResponse = { .text("answer to \($0.method) \($0.target)\n") }
  ) throws -> AttachFixture {
    try AttachFixture(
      more: #", "stage": {"library": "\#(plugin.path)"\#(member)}"#,
      stages: #""request": ["stage"], "issue": ["trace"]"#, answer: answer)
  }

  private static let failing = #"return sluice_fail(host, exchange, "closed", "the shop is closed");"#

  @Test(arguments: [false, true])
  func `a stage that fails ends the transfer before anything is sent`(isParallel: Bool) async throws {
    let plugin = try await Self.stage(Self.failing)
    let fixture = try Self.fixture(plugin)
    let words = [curl, "-sS"] + (isParallel ? ["-Z", "--no-progress-meter"] : []) + [fixture.url]
    let result = try await fixture.attach(words, options: ["--events", fixture.folder.path("events")])
    #expect(result.status == 42)
    #expect(result.outputText == "")
    #expect(result.errorText.hasPrefix("curl: (42) sluice: "))
    #expect(result.errorText.contains("the shop is closed"))
    #expect(fixture.server.requestCount == 0)
    #expect(try await fixture.verifiedTransactions() == 1)
  }

  @Test func `a stage with onFault "skip" does not end the transfer`() async throws {
    let plugin = try await Self.stage("(void)exchange; return (sluice_verdict)77;")
    let fixture = try Self.fixture(plugin, member: #", "onFault": "skip""#)
    let result = try await fixture.attach([curl, "-sS", fixture.url])
    #expect(result.status == 0)
    #expect(result.outputText == "answer to GET /\n")
    #expect(fixture.server.requestCount == 1)
  }

  private static let rewriting = """
    sluice_text url;
    char changed[256] = {0};
    api->url_get(exchange, &url);
    memcpy(changed, url.data, url.size < 200 ? url.size : 200);
    strcat(changed, "?changed=1");
    api->url_set(exchange, sluice_text_make(changed));
    api->method_set(exchange, sluice_text_make("PATCH"));
    api->body_set(exchange, SLUICE_SIDE_REQUEST, sluice_text_bytes(sluice_text_make("another body, which is longer")));
    api->header_set(exchange, SLUICE_SIDE_REQUEST, sluice_text_make("x-own"), sluice_text_make("stage"));
    api->header_remove(exchange, SLUICE_SIDE_REQUEST, sluice_text_make("x-gone"));
    """

  @Test(arguments: [false, true])
  func `a stage can change method, URL, headers and a body in memory`(isParallel: Bool) async throws {
    let plugin = try await Self.stage(Self.rewriting, wants: "SLUICE_WANTS_REQUEST_BODY")
    let fixture = try Self.fixture(plugin)
    let headers = ["-H", "X-Own: program", "-H", "X-Gone: 1", "-H", "X-Kept: 1"]
    let words =
      [curl, "-sS"] + (isParallel ? ["-Z", "--no-progress-meter"] : []) + headers + ["-d", "a=1", "\(fixture.url)/x"]
    let result = try await fixture.attach(words, options: ["--events", fixture.folder.path("events")])
    #expect(result.outputText == "answer to PATCH /x?changed=1\n", "\(result.errorText)")
    let requests = fixture.server.requests
    #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["another body, which is longer"])
    #expect(requests.each("content-length") == ["29"])
    #expect(requests.each("x-own") == ["stage"])
    #expect(requests.each("x-gone") == [nil])
    #expect(requests.each("x-kept") == ["1"])
    #expect(try await fixture.verifiedTransactions() == 1)
  }

  private static let reusing = """
    import io, pycurl, sys
    curl = pycurl.Curl()
    body = io.BytesIO()
    curl.setopt(pycurl.WRITEDATA, body)
    curl.setopt(pycurl.URL, sys.argv[1])
    curl.setopt(pycurl.POSTFIELDS, 'a=1')
    for _ in range(3): curl.perform()
    print(body.getvalue().decode(), end='')
    print(curl.getinfo(pycurl.EFFECTIVE_URL).endswith('/x'))
    """

  @Test(.enabled(if: AttachFixture.hasPycurl))
  func `a reused handle starts from the program's settings, without the stage's changes`() async throws {
    let plugin = try await Self.stage(Self.rewriting, wants: "SLUICE_WANTS_REQUEST_BODY")
    let fixture = try Self.fixture(plugin)
    let result = try await fixture.attach(["/usr/bin/python3", "-c", Self.reusing, "\(fixture.url)/x"])
    #expect(
      result.outputText == String(repeating: "answer to PATCH /x?changed=1\n", count: 3) + "True\n",
      "\(result.errorText)")
  }

  private static let reading = """
    sluice_bytes body = {0};
    if (api->body_get(exchange, SLUICE_SIDE_REQUEST, &body) != SLUICE_STATUS_OK) body.size = 0;
    char text[32];
    snprintf(text, sizeof text, "%zu", body.size);
    api->header_set(exchange, SLUICE_SIDE_REQUEST, sluice_text_make("x-length"), sluice_text_make(text));
    """

  @Test func `a stage sees a body in memory`() async throws {
    let plugin = try await Self.stage(Self.reading, wants: "SLUICE_WANTS_REQUEST_BODY")
    let fixture = try Self.fixture(plugin)
    _ = try await fixture.attach([curl, "-sS", "-d", "twelve bytes", fixture.url])
    #expect(fixture.server.requests.each("x-length") == ["12"])
  }

  @Test(arguments: [["-T", "{file}"], ["-F", "a=1"]])
  func `if a stage wants a body that the program produces during the transfer, the transfer fails`(words: [String])
    async throws
  {
    let plugin = try await Self.stage(Self.reading, wants: "SLUICE_WANTS_REQUEST_BODY")
    let fixture = try Self.fixture(plugin)
    let file = try fixture.folder.write("content", to: "file")
    let arguments = words.map { $0.replacing("{file}", with: file) }
    let result = try await fixture.attach([curl, "-sS"] + arguments + [fixture.url])
    #expect(result.status == 42)
    #expect(result.errorText.contains("the program produces the body while libcurl sends it"))
    #expect(fixture.server.requestCount == 0)
  }
}
