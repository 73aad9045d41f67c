import SluiceJSON
import SluiceMessages
import SluicePipeline
import Testing

@testable import SluicePluginHost

/// JSON from a plugin that is nested more deeply than recursive functions can follow. Each test runs in its own
/// process, which must not crash.
struct DeepDocumentTests {
  private static func run(_ defines: String...) async throws -> (StageFixture, TransactionResult) {
    let stage = try await StageFixture("nests-deeply", defines: defines) { _ in
      .response(Response(status: 200, headers: ["content-type": "application/json"], body: .text("{}")))
    }
    return (stage, try stage.run(StageFixture.request("POST", ["x-deep": "1"], body: .text("{}"))))
  }

  /// Returns whether the transaction fails, and its error names the stage and contains the words.
  private static func fails(_ defines: String..., saying words: String) async throws -> Bool {
    let stage = try await StageFixture("nests-deeply", defines: defines)
    let result = try stage.run(StageFixture.request("POST", body: .text("{}")))
    return result.error?.stage == "stage" && result.error?.message.contains(words) == true
      && stage.transport.issued.isEmpty
  }

  @Test func `a body nested 200,000 levels deep fails the transaction, and the error names the stage`() async {
    await #expect(processExitsWith: .success) {
      try #require(try await Self.fails("IN_BODY", saying: "nested deeper than 2048 levels"))
    }
  }

  @Test func `a value that contains itself fails the transaction`() async {
    await #expect(processExitsWith: .success) {
      try #require(try await Self.fails("IN_BODY", "CIRCULAR", saying: "contains itself"))
    }
  }

  @Test func `a value with an exponentially long text fails the transaction`() async {
    await #expect(processExitsWith: .success) {
      try #require(try await Self.fails("IN_BODY", "SPREAD", saying: "occur more than"))
    }
  }

  @Test func `a deeply nested value that the host replaces is released`() async {
    await #expect(processExitsWith: .success) {
      for define in ["IN_HEADER", "IN_HEADERS", "IN_LINE", "IN_UNKNOWN"] {
        let (stage, result) = try await Self.run(define)
        try #require(result.error == nil, "\(define): \(String(describing: result.error))")
        try #require(stage.told("set") == stage.told("set").map { _ in "0" })
      }
      let (_, result) = try await Self.run("IN_BODY", "REPLACED")
      try #require(result.error == nil)
    }
  }

  @Test func `a deeply nested response fails the transaction`() async {
    await #expect(processExitsWith: .success) {
      let (_, result) = try await Self.run("IN_RESPONSE")
      try #require(result.error?.stage == "stage")
    }
  }

  @Test func `a call-out with a deeply nested request is refused`() async {
    await #expect(processExitsWith: .success) {
      let (stage, result) = try await Self.run("IN_CALL_OUT")
      try #require(result.error == nil)
      try #require(stage.told("start") == ["-1"])
    }
  }

  @Test func `a deeply nested document is not lent to the next stage`() async {
    await #expect(processExitsWith: .success) {
      let stage = try await StageFixture("nests-deeply", defines: ["IN_UNKNOWN"])
      let next = try await StageFixture("edits-documents")
      stage.nextStages = [StageBinding(name: "next", interceptor: next.instance)]
      let result = try stage.run(StageFixture.request("POST", body: .text("{}")))
      try #require(next.told("view") == ["0"])
      try #require(result.error?.stage == "stage")
      try #require(result.error?.message.contains("nested deeper than 2048 levels") == true)
    }
  }

  @Test func `a deeply nested configuration is refused before the plugin gets it`() async {
    await #expect(processExitsWith: .success) {
      var configuration: JSONValue = [:]
      for _ in 0..<100_000 { configuration = [configuration] }
      let nested = configuration
      let error = try #require(
        await #expect(throws: PluginError.self) { try await StageFixture("minimal", configuration: nested) })
      try #require(error.code == .configuration)
    }
  }

  @Test func `a state nested 50,000 levels deep is refused`() async {
    await #expect(processExitsWith: .success) {
      let stage = try await StageFixture("nests-deeply", defines: ["DEPTH=50000"])
      let error = try #require(
        await #expect(throws: PluginError.self) { _ = try await stage.instance.saveState(within: .seconds(60)) })
      try #require(error.code == .stateRefused)
      try #require(error.reason.contains("nested deeper than 2048 levels"))
    }
  }
}
