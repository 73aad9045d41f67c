import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

/// How error messages name the request and the source of the response.
@Suite struct WordingTests {
  private static let url = "http://user:password@example.com/items?page=2&sig=secret#top"
  private static let shown = "http://REDACTED:REDACTED@example.com/items?page=2&sig=REDACTED"

  /// Runs one transaction to its end.
  private static func run(
    _ reply: StubTransport.Reply, to url: String = url,
    _ settings: PipelineSettings = PipelineSettings(maximumAttempts: 1), request: StubStage? = nil,
    response: StubStage? = nil
  ) throws -> TransactionResult {
    let loop = StubLoop()
    let environment = LoopEnvironment(loop: loop, transport: StubTransport(loop: loop) { _ in reply })
    let pipeline = Pipeline(
      requestStages: [request].compactMap(\.self).map { StageBinding(name: "first", interceptor: $0) },
      responseStages: [response].compactMap(\.self).map { StageBinding(name: "second", interceptor: $0) },
      settings: settings)
    let request = Request(url: try HTTPURL(url))
    var result: TransactionResult?
    loop.perform { Transaction.begin(request, on: environment, through: pipeline) { result = $0 } }
    for _ in 0..<10 where result == nil { loop.advance(by: .seconds(60)) }
    guard let result else { throw TestKitError("the transaction did not end") }
    return result
  }

  private static func answer(_ status: Int) -> StubStage {
    StubStage([.request, .response, .failure]) {
      $0.responseForms.native = Response(status: status)
      return .respond
    }
  }

  @Test func `the error for a server's status has the whole URL, with secrets hidden`() throws {
    let error = try #require(try Self.run(.response(Response(status: 404))).error)
    #expect(error.message == "the server answered 404 to GET \(Self.shown)")
    #expect(error.stage == nil)
  }

  @Test func `errors hide the secrets that the configuration names`() throws {
    let settings = PipelineSettings(journal: JournalSettings(secrets: Redactor(query: ["page"])))
    let error = try #require(try Self.run(.response(Response(status: 404)), settings).error)
    #expect(error.message.hasSuffix("/items?page=REDACTED&sig=REDACTED"))
  }

  @Test func `a status from a request stage is not reported as a status of the server`() throws {
    let error = try #require(try Self.run(.response(Response(status: 200)), request: Self.answer(403)).error)
    #expect(error.message == "it answered 403 to GET \(Self.shown)")
    #expect(error.stage == "first")
    #expect(error.description.hasPrefix("http_status: stage \"first\": it answered 403 to GET "))
  }

  @Test func `a status from a response stage is not reported as a status of the server`() throws {
    let error = try #require(try Self.run(.response(Response(status: 200)), response: Self.answer(502)).error)
    #expect(error.message == "it answered 502 to GET \(Self.shown)")
    #expect(error.stage == "second")
  }

  @Test func `if a stage answers a failure with a status, the error names the stage`() throws {
    let refused = StubTransport.Reply.connectFailure(TransportError(.connect, "refused", isBeforeSending: true))
    let error = try #require(try Self.run(refused, response: Self.answer(504)).error)
    #expect(error.message == "it answered 504 to GET \(Self.shown)")
    #expect(error.stage == "second")
  }

  @Test func `a status that a stage changed is reported together with the server's status`() throws {
    let stage = StubStage(.response) {
      $0.responseForms.native?.status = 500
      return .proceed
    }
    let error = try #require(try Self.run(.response(Response(status: 200)), response: stage).error)
    #expect(error.message == "the server answered 200 to GET \(Self.shown), which a stage changed to 500")
    #expect(error.stage == nil)
  }

  @Test func `after a retry, a stage's answer in the previous attempt does not appear in the error`() throws {
    let stage = StubStage([.request, .response]) { exchange in
      guard exchange.attempt == 0 else { return .proceed }
      guard exchange.hasResponse else {
        exchange.responseForms.native = Response(status: 403)
        return .respond
      }
      return .retry(after: .zero)
    }
    let settings = PipelineSettings(maximumAttempts: 2)
    let result = try Self.run(.response(Response(status: 404)), settings, request: stage, response: stage)
    let error = try #require(result.error)
    #expect(result.attempts == 2)
    #expect(error.message == "the server answered 404 to GET \(Self.shown)")
    #expect(error.stage == nil)
  }

  @Test func `a failure of the transport is reported with the whole URL`() throws {
    let lost = TransportError(.connectionLost, "the connection broke", to: try HTTPURL(Self.url))
    #expect(lost.message == "http://example.com: the connection broke")
    let error = try #require(try Self.run(.failure(lost)).error)
    #expect(error.message == "\(Self.shown): the connection broke")
  }

  @Test func `a failure that is not about a request is reported unchanged`() throws {
    let full = TransportError(.bodyFile, "the disk is full")
    #expect(full.naming("http://example.com/a").message == "the disk is full")
    #expect(try Self.run(.failure(full)).error?.message == "the disk is full")
  }

  @Test func `the error of an attempt or a transaction that takes too long has the whole URL`() throws {
    let attempt = try Self.run(
      .silence, PipelineSettings(deadline: nil, attemptTimeout: .seconds(1), maximumAttempts: 1))
    #expect(attempt.error?.message == "no whole response from \(Self.shown) within 1.0 seconds (transport.timeout)")
    let whole = try Self.run(.silence, PipelineSettings(deadline: .seconds(1), maximumAttempts: 1))
    #expect(whole.error?.message == "GET \(Self.shown) was not done within its deadline of 1.0 seconds (deadline)")
  }

  @Test func `errors name settings by the names that the program gives`() throws {
    var names = SettingNames()
    names.deadline = "-m"
    names.maximumRedirects = "--max-redirs"
    let late = try Self.run(.silence, PipelineSettings(deadline: .seconds(1), maximumAttempts: 1, names: names))
    #expect(late.error?.message.hasSuffix("within its deadline of 1.0 seconds (-m)") == true)
    let settings = PipelineSettings(maximumAttempts: 1, redirects: RedirectSettings(maximum: 1), names: names)
    let many = try Self.run(.response(Response(status: 302, headers: ["Location": "deeper/"])), settings)
    #expect(many.error?.message.hasSuffix("raise --max-redirs") == true)
  }

  @Test func `a redirect that is not followed is reported with the whole URL`() throws {
    let redirect = Response(status: 302, headers: ["Location": "/items?page=2&sig=secret"])
    let error = try #require(try Self.run(.response(redirect), to: "http://example.com/items?page=2&sig=secret").error)
    #expect(error.code == "redirect_loop")
    #expect(
      error.message.hasPrefix(
        "the server answered 302 to GET http://example.com/items?page=2&sig=REDACTED, which leads back"))
  }

  @Test func `a very long URL is cut off in the error`() throws {
    let long = "http://example.com/" + String(repeating: "a", count: 60_000)
    let error = try #require(try Self.run(.response(Response(status: 404)), to: long).error)
    #expect(error.message.utf8.count < 3000)
    #expect(error.message.hasSuffix("a…"))
  }
}
