import SluiceMessages
import SluicePipeline
import Testing

@testable import SluicePluginHost

/// A stage with a `match`, which runs after a stage that changes the request's document.
struct DocumentMatchTests {
  private static let matches = StageMatch(methods: ["PATCH"], paths: [PathGlob("/path")])

  /// - Parameter answer: what the stage after the fixture does. By default, it only observes.
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
  func `an invalid document fails the transaction even if the next stage has a match`(define: String) async throws {
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

  @Test func `a match is compared with the live document, without a conversion of the document`() async throws {
    let (stage, next) = try await Self.stage([], match: Self.matches)
    let result = try stage.run(Self.request())
    #expect(result.error == nil)
    #expect(next.calls.first == true, "the document was converted for the comparison")
    #expect(stage.transport.issued.first?.method == "PATCH")
  }

  @Test func `a match is not compared with the outdated native request`() async throws {
    let (stage, next) = try await Self.stage([], match: StageMatch(methods: ["POST"]))
    _ = try stage.run(Self.request())
    #expect(next.calls.isEmpty)
  }

  @Test func `an invalid document fails the transaction even if the next stage is skipped for a fault`() async throws {
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

  @Test func `an invalid request document fails the transaction even if the next stage responds`() async throws {
    let (stage, _) = try await Self.stage(["INVALID_HEADER"], match: nil) { exchange in
      exchange.responseForms.native = Response(status: 204)
      return .respond
    }
    let result = try stage.run(Self.request())
    #expect(result.error?.stage == "stage")
  }
}

/// Records at each call whether the request's document is authoritative. `@unchecked Sendable`: used only on the loop.
private final class NextStage: Interceptor, @unchecked Sendable {
  let capabilities: StageCapabilities = .request
  private(set) var calls: [Bool] = []
  private let answer: @Sendable (Exchange) -> Verdict

  init(_ answer: @escaping @Sendable (Exchange) -> Verdict) { self.answer = answer }

  func interceptRequest(_ exchange: Exchange) -> Verdict {
    calls.append(exchange.requestForms.document?.isCurrent == true)
    return answer(exchange)
  }
}
