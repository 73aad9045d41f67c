import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Stages that see bodies piece by piece, and tracers.
struct PieceAndTracerTests {
  private func stage(_ pieces: [String], trailers: HeaderFields = [:]) async throws -> StageFixture {
    try await StageFixture("changes-pieces") { _ in
      .response(Response(status: 200, trailers: trailers), pieces: pieces.map { Array($0.utf8) })
    }
  }

  @Test func `a stage can change the pieces of a body and add a piece at the end`() async throws {
    let result = try await stage(["ab", "cd"]).run(StageFixture.request())
    #expect(result.error == nil)
    #expect(result.response?.body.bytes == Array("ABCD.".utf8))
  }

  @Test func `a stage can remove a trailer and add another one`() async throws {
    let stage = try await stage(["a"], trailers: ["x-drop": "1", "x-keep": "2"])
    let result = try stage.run(StageFixture.request())
    #expect(stage.told("trailer-name") == ["x-drop", "x-keep"])
    #expect(stage.told("trailer") == ["0"])
    #expect(result.response?.trailers == ["x-keep": "2", "x-end": "yes"])
  }

  @Test func `a stage can suspend the flow of a body, and write a piece before the flow continues`() async throws {
    let stage = try await stage(["a", "!", "b"])
    let result = try stage.run(StageFixture.request())
    #expect(stage.told("late") == ["0"])
    #expect(result.response?.body.bytes == Array("A<late>B.".utf8))
  }

  @Test func `a stage can fail a transaction when it gets a piece`() async throws {
    let result = try await stage(["a", "?"]).run(StageFixture.request())
    #expect(result.error == TransactionError(code: "bad_piece", message: "a question", stage: "stage"))
  }

  @Test func `a tracer gets every event and can change nothing`() async throws {
    let stage = try await StageFixture("traces") { _ in .failure(TransportError(.connectionLost, "gone")) }
    let result = try stage.run(StageFixture.request("GET", ["x-a": "1"]))
    #expect(stage.told("event") == ["1", "2", "3", "12", "8"])
    #expect(Set(stage.told("x-a")) == ["1"])
    #expect(Set(stage.told("write")) == ["-2"])
    #expect(stage.told("outcome") == ["2"])
    #expect(stage.told("code") == ["connection_lost"])
    #expect(stage.told("url") == ["http://example.com/path?a=1"])
    #expect(result.error?.code == "connection_lost")
  }
}
