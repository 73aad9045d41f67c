import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The plugin `otlp`, which sends its own requests from inside a program.
///
/// Disabled under a sanitizer: the host library then needs the sanitizer's runtime, which the programs do not have.
@Suite(.enabled(if: !Sanitizer.isOn && CurlCommand.path != nil)) struct AttachExportTests {
  private let curl = CurlCommand.path ?? ""

  @Test(arguments: ["direct", "queued"])
  func `curl exports one span for each hop, with the ids that the server has received`(
    delivery: String
  ) async throws {
    let exporting = try AttachedCollector(
      delivery: delivery,
      server: { request in
        request.path == "/old" ? ServerResponse(status: 302, headers: [HeaderLine("Location", "/new")]) : .text("new\n")
      })
    let requests = try await exporting.fixture.compare([curl, "-sSL", "\(exporting.fixture.url)/old"])
    #expect(requests.map(\.target) == ["/old", "/new"])
    #expect(exporting.spans.count == 2)
    #expect(Set(exporting.spans) == Set(requests.traceIDs))
    #expect(Set(exporting.spans.map(\.trace)).count == 1)
    #expect(exporting.collector.requests.allSatisfy { $0.headers.first("traceparent") == nil })
  }

  @Test func `parallel transfers of curl export all their spans`() async throws {
    let exporting = try AttachedCollector()
    let words = [curl, "-sS", "-Z", "--no-progress-meter", "--parallel-max", "20"]
    let requests = try await exporting.fixture.compare(
      words + ["-o", exporting.fixture.folder.path("out-#1"), "\(exporting.fixture.url)/[1-100]"])
    #expect(requests.traceIDs.count == 100)
    #expect(Set(exporting.spans) == Set(requests.traceIDs))
    #expect(exporting.spans.count == 100)
  }

  @Test func `a Swift program with URLSession exports its spans`() async throws {
    let exporting = try AttachedCollector()
    let requests = try await exporting.fixture.compare([BuiltProducts.executable("url-session"), exporting.fixture.url])
    #expect(requests.traceIDs.count == 10)
    #expect(Set(exporting.spans) == Set(requests.traceIDs))
  }

  @Test(.enabled(if: AttachFixture.hasPycurl)) func `a program in Python exports its spans`() async throws {
    let exporting = try AttachedCollector()
    let program = """
      import pycurl, sys
      curl = pycurl.Curl()
      curl.setopt(pycurl.URL, sys.argv[1])
      for _ in range(3): curl.perform()
      """
    let requests = try await exporting.fixture.compare(["/usr/bin/python3", "-c", program, exporting.fixture.url])
    #expect(requests.traceIDs.count == 3)
    #expect(Set(exporting.spans) == Set(requests.traceIDs))
  }

  @Test func `the service is named after the program, and without a transfer nothing is exported`()
    async throws
  {
    let exporting = try AttachedCollector()
    let none = try await exporting.fixture.attach(["true"])
    #expect(none.status == 0 && none.errorText.isEmpty)
    #expect(exporting.collector.requestCount == 0)
    _ = try await exporting.fixture.compare([curl, "-sS", exporting.fixture.url])
    let texts = exporting.collector.requests.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(Set(exporting.collector.requests.map(\.target)) == ["/v1/traces", "/v1/metrics"])
    #expect(texts.allSatisfy { $0.contains(#""stringValue":"unknown_service:curl""#) })
  }

  /// The exporter itself would wait for longer than the test does.
  @Test func `a collector that never answers does not hold up the program's end, and changes no transfer`()
    async throws
  {
    let exporting = try AttachedCollector(#", "timeout": "600s""#, collector: AttachedCollector.silent)
    let result = try await exporting.fixture.attach([curl, "-sS", "\(exporting.fixture.url)/a"])
    #expect(result.ending == .exited(0))
    #expect(result.outputText == "answer to GET /a\n")
    #expect(exporting.spans == exporting.sent())
    #expect(result.errorText.contains("1 span is missing"), "\(result.errorText)")
  }

  @Test func `a collector that is down changes no transfer, and the command reports it`() async throws {
    let exporting = try AttachedCollector(endpoint: "http://127.0.0.1:\(try Loopback.freePort())")
    let result = try await exporting.fixture.attach([curl, "-sS", "\(exporting.fixture.url)/a"])
    #expect(result.ending == .exited(0))
    #expect(result.outputText == "answer to GET /a\n")
    #expect(result.errorText.contains("cannot export traces"), "\(result.errorText)")
  }

  @Test func `the certificate of a collector with TLS is checked against the authorities in the configuration`()
    async throws
  {
    let certificates = try await TestCertificates.shared()
    var settings = NginxConfiguration()
    settings.accessLogFormat = "$ssl_protocol $request_method $request_uri"
    let nginx = try await NginxServer.start(settings, certificates: certificates)
    let exporting = try AttachedCollector(
      #", "metrics": false"#, endpoint: nginx.secureBaseURL)
    var text = try FileTree.readText(exporting.fixture.configuration)
    text = String(text.dropLast()) + #", "transport": {"tls": {"ca": "\#(certificates.authority)"}}}"#
    _ = try exporting.fixture.folder.write(text, to: "c.json")
    _ = try await exporting.fixture.attach([curl, "-sS", "\(exporting.fixture.url)/a"])
    try await nginx.stop()
    #expect(nginx.accessLog.contains { $0.hasPrefix("TLSv1") && $0.hasSuffix("POST /v1/traces") }, "\(nginx.accessLog)")
  }

  @Test func `a redirect of a collector is not followed`() async throws {
    let port = Watched<UInt16>(0)
    let exporting = try AttachedCollector(
      #", "metrics": false"#,
      collector: { _ in
        ServerResponse(status: 302, headers: [HeaderLine("Location", "http://127.0.0.1:\(port.value)/elsewhere")])
      })
    let chosen = exporting.fixture.server.port
    port.update { $0 = chosen }
    let result = try await exporting.fixture.attach([curl, "-sS", "\(exporting.fixture.url)/a"])
    #expect(result.ending == .exited(0))
    #expect(exporting.fixture.server.requests.map(\.target) == ["/a"])
    #expect(result.errorText.contains("it answered 302"), "\(result.errorText)")
  }

  @Test func `an answer that is too long ends the export`() async throws {
    let exporting = try AttachedCollector(
      #", "metrics": false"#, collector: { _ in .text(String(repeating: "x", count: 100_000)) })
    let result = try await exporting.fixture.attach([curl, "-sS", "\(exporting.fixture.url)/a"])
    #expect(result.ending == .exited(0))
    #expect(result.errorText.contains("response_too_large"), "\(result.errorText)")
  }

  @Test func `a collector is reached through the proxy of the environment, with an API key from the environment`()
    async throws
  {
    let exporting = try AttachedCollector(
      #", "metrics": false, "headers": {"api-key": {"env": "KEY"}}"#, endpoint: "http://collector.invalid:4318")
    let result = try await exporting.fixture.attach(
      [curl, "-sS", "--noproxy", "*", "\(exporting.fixture.url)/a"],
      environment: ["http_proxy": exporting.collector.baseURL, "KEY": "S3CRET"])
    #expect(result.ending == .exited(0))
    #expect(exporting.collector.requests.map(\.target) == ["http://collector.invalid:4318/v1/traces"])
    #expect(exporting.collector.requests.each("api-key") == ["S3CRET"])
    #expect(result.errorText.isEmpty, "\(result.errorText)")
  }
}
