import SluiceMessages
import SluicePipeline
import SluiceRecords
import Testing

@testable import SluicePluginHost

/// A stage with a `match` after a stage that writes the request's document.
struct DocumentMatchTests {
  private static let matches = StageMatch(methods: ["PATCH"], paths: [PathGlob("/path")])

  /// - Parameter answers: the actions of the stage after the fixture; with nil it only observes.
  private static func stage(
    _ defines: [String], match: StageMatch?, onFault: FaultPolicy = .fail,
    answer: @escaping @Sendable (Exchange) -> Verdict = { _ in .proceed }
  ) async throws -> (StageFixture, NextStage) {
    let stage = try await StageFixture("edits-documents", defines: defines)
    let next = NextStage(answer)
    stage.nextStages = [StageBinding(name: "next", interceptor: next, match: match, onFault: onFault)]
    return (stage, next)
  }

  private static func request() throws -> Request {
    try StageFixture.request("POST", ["content-type": "application/json"], body: .text(#"{"a": 1}"#))
  }

  @Test(arguments: ["INVALID", "INVALID_METHOD", "INVALID_HEADER"])
  func `an invalid document fails the transaction although the next stage has a match`(define: String) async throws {
    let (stage, _) = try await Self.stage([define], match: Self.matches)
    let result = try stage.run(Self.request())
    #expect(result.error?.stage == "stage")
    #expect(result.error?.code == .stageFault)
    #expect(stage.transport.issued.isEmpty)
    #expect(stage.instance.violations[.invalidDocument] == 1)
  }

  @Test func `a stage is not called for a request whose method or URL cannot be read`() async throws {
    let (stage, next) = try await Self.stage(["INVALID"], match: Self.matches)
    _ = try stage.run(Self.request())
    #expect(next.calls.isEmpty)
  }

  @Test func `a match is compared with the live document, without converting it`() async throws {
    let (stage, next) = try await Self.stage([], match: Self.matches)
    let result = try stage.run(Self.request())
    #expect(result.error == nil)
    #expect(next.calls.first == true, "the document was converted to be matched")
    #expect(stage.transport.issued.first?.method == "PATCH")
  }

  @Test func `a match that holds only for the outdated native request does not hold`() async throws {
    let (stage, next) = try await Self.stage([], match: StageMatch(methods: ["POST"]))
    _ = try stage.run(Self.request())
    #expect(next.calls.isEmpty)
  }

  @Test func `a stage that is skipped for a fault does not hide an invalid document`() async throws {
    let (stage, _) = try await Self.stage(["INVALID_HEADER"], match: nil, onFault: .skip) { exchange in
      do throws(TransactionError) {
        try exchange.settleRequest()
        return .proceed
      } catch { return .fault(StageFailure(code: error.code, message: error.message)) }
    }
    let result = try stage.run(Self.request())
    #expect(result.error?.stage == "stage")
    #expect(stage.transport.issued.isEmpty)
    #expect(stage.instance.violations[.invalidDocument] == 1)
  }

  @Test func `a stage that responds does not hide an invalid request document`() async throws {
    let (stage, _) = try await Self.stage(["INVALID_HEADER"], match: nil) { exchange in
      exchange.nativeResponse = Response(status: 204)
      return .respond
    }
    let result = try stage.run(Self.request())
    #expect(result.error?.stage == "stage")
  }
}

/// Observes at each call whether the request's document is authoritative. Unchecked because it is confined to the loop.
private final class NextStage: Interceptor, @unchecked Sendable {
  let capabilities: StageCapabilities = .request
  private(set) var calls: [Bool] = []
  private let answer: @Sendable (Exchange) -> Verdict

  init(_ answer: @escaping @Sendable (Exchange) -> Verdict) { self.answer = answer }

  func interceptRequest(_ exchange: Exchange) -> Verdict {
    calls.append(exchange.requestDocument?.isTruth == true)
    return answer(exchange)
  }
}
