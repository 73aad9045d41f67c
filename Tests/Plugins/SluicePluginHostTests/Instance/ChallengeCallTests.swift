import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// `on_challenge` of real libraries.
struct ChallengeCallTests {
  /// Returns a 401 response with two challenges, unless the request has a token.
  private static func answer(_ request: Request) -> StubTransport.Reply {
    if request.headers["authorization"] == "Bearer secret" { return .response(Response(status: 200)) }
    return .response(
      Response(
        status: 401, headers: ["www-authenticate": #"Basic realm="a", Bearer realm="b", scope="x y""#],
        body: .text("who?")))
  }

  private static func stage(
    _ defines: String..., answer: @escaping (Request) -> StubTransport.Reply = ChallengeCallTests.answer
  ) async throws -> StageFixture {
    try await StageFixture("answers-challenges", defines: defines, answer: answer)
  }

  @Test func `a stage gets the challenges in order, and its answer is sent with the next hop`() async throws {
    let stage = try await Self.stage()
    let result = try stage.run(StageFixture.request("POST", body: .text("x")))
    #expect(result.response?.status == 200)
    #expect(stage.told("scheme") == ["Basic", "Bearer"])
    #expect(stage.told("parameters") == [#"realm="a""#, #"realm="b", scope="x y""#])
    #expect(stage.told("answered") == ["0", "0"])
    #expect(stage.told("set") == ["0"])
    #expect(stage.told("method") != ["0"])
    #expect(stage.transport.issued.map(\.method) == ["POST", "POST"])
    #expect(stage.transport.issued.map { $0.headers["authorization"] } == [nil, "Bearer secret"])
    #expect(stage.transport.issued.last?.body.bytes == Array("x".utf8))
    let headers = try #require(stage.transport.issued.last?.headers)
    let index = headers.firstIndex(named: "authorization".utf8.span)
    #expect(index.map { headers.marks(at: $0).contains(.sensitive) } == true)
  }

  @Test func `if the server refuses the answer to a challenge, its second 401 is the response`() async throws {
    let stage = try await Self.stage(answer: { _ in
      .response(Response(status: 401, headers: ["www-authenticate": "Bearer"], body: .text("no")))
    })
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.code == .status)
    #expect(result.response?.body.bytes == Array("no".utf8))
    #expect(stage.told("answered") == ["0", "1"])
    #expect(stage.transport.issued.count == 2)
  }

  @Test func `the number of answers to challenges is limited`() async throws {
    let stage = try await Self.stage(
      "FOR_EVER=1",
      answer: { _ in
        .response(Response(status: 401, headers: ["www-authenticate": "Bearer"]))
      })
    let result = try stage.run(StageFixture.request())
    #expect(result.response?.status == 401)
    #expect(stage.transport.issued.count == 9)
  }

  @Test func `a stage can fail a transaction at a challenge, or suspend and answer later`() async throws {
    let failing = try await Self.stage("FAIL=1")
    #expect(
      try failing.run(StageFixture.request()).error
        == TransactionError(code: "no_token", message: "there is no token", stage: "stage"))
    let late = try await Self.stage("LATE=1")
    #expect(try late.run(StageFixture.request()).response?.status == 200)
    #expect(late.told("resume") == ["0"])
  }

  @Test func `a stage that never answers is cancelled`() async throws {
    let stage = try await Self.stage("NEVER=1")
    stage.stageDeadline = .milliseconds(200)
    let outcome = stage.begin(try StageFixture.request())
    #expect(!stage.loop.run(upTo: .zero) { outcome.result != nil })
    stage.loop.advance(by: .seconds(1))
    #expect(outcome.result?.error?.code == .stageTimeout)
    #expect(stage.told("cancel") == ["1"])
  }

  @Test func `a verdict of RETRY is not allowed as the answer to a challenge`() async throws {
    let stage = try await Self.stage("RETRY=1")
    #expect(try stage.run(StageFixture.request()).error?.code == .stageFault)
  }

  @Test func `an answer to a challenge fails if the body can be produced only once`() async throws {
    let stage = try await Self.stage()
    let body = Body.stream(BodyStream { _ in nil })
    let result = try stage.run(StageFixture.request("POST", body: body))
    #expect(result.error?.code == .bodyNotReplayable)
    #expect(result.response?.status == 401)
    #expect(stage.transport.issued.count == 1)
  }

  @Test func `a server that answers 407 as if it were a proxy gets no proxy credentials`() async throws {
    let stage = try await Self.stage(answer: { _ in
      .response(Response(status: 407, headers: ["proxy-authenticate": "Bearer"]))
    })
    #expect(try stage.run(StageFixture.request()).response?.status == 407)
    #expect(stage.told("scheme").isEmpty)
  }
}
