import SluiceMessages
import Testing

@testable import SluicePipeline

/// The decisions of ``BodyFlow`` about one body. The tests use literal events, without a loop, a stage or a wire.
@Suite struct BodyFlowTests {
  /// Passes events to a flow, and returns the actions that it asks for, in a short notation.
  private static func script(stages: Int, _ events: [BodyFlow.Event]) -> [String] {
    var flow = BodyFlow(stages: stages)
    return events.map { short(flow.handle($0)) }
  }

  private static func short(_ action: BodyFlow.Action) -> String {
    switch action {
    case .wait: "wait"
    case .pull: "pull"
    case .callChunk(let stage, let piece): "chunk \(stage) \(text(piece))"
    case .callEnd(let stage): "end \(stage)"
    case .deliver(let piece): "deliver \(text(piece))"
    case .finish: "finish"
    case .fail(let failure, let stage): "fail \(stage) \(failure.code)"
    }
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
  private static func piece(_ text: String) -> BodyFlow.Event { .piece(Array(text.utf8)) }
  private static func taken(_ text: String) -> BodyFlow.Event { .answered(.taken, output: Array(text.utf8)) }
  private static func suspended(_ text: String = "") -> BodyFlow.Event {
    .answered(.suspended, output: Array(text.utf8))
  }
  private static func resumed(_ stage: Int, _ text: String = "") -> BodyFlow.Event {
    .resumed(stage: stage, output: Array(text.utf8))
  }
  private static let pass = BodyFlow.Event.answered(.pass, output: [])
  private static let delivered = BodyFlow.Event.delivered(pauses: false)

  @Test func `a piece passes all stages in order before the next piece is pulled`() {
    #expect(
      Self.script(
        stages: 2, [Self.piece("a"), Self.taken("A"), Self.pass, Self.delivered, .ended, Self.pass, Self.pass])
        == ["chunk 0 a", "chunk 1 A", "deliver A", "pull", "end 0", "end 1", "finish"])
  }

  @Test func `without stages, a body is delivered to the receiver directly`() {
    #expect(
      Self.script(stages: 0, [Self.piece("a"), Self.delivered, .ended]) == ["deliver a", "pull", "finish"])
  }

  @Test func `each stage gets the end of an empty body exactly once`() {
    #expect(Self.script(stages: 2, [.ended, Self.pass, Self.pass]) == ["end 0", "end 1", "finish"])
  }

  @Test func `a piece that a stage adds at the end passes the later stages before they end`() {
    #expect(
      Self.script(stages: 2, [.ended, Self.taken("z"), Self.taken("Z"), Self.delivered, Self.pass])
        == ["end 0", "chunk 1 z", "deliver Z", "end 1", "finish"])
  }

  @Test func `if a stage takes a piece and writes nothing, the source continues`() {
    #expect(Self.script(stages: 2, [Self.piece("a"), Self.taken("")]) == ["chunk 0 a", "pull"])
  }

  @Test func `while a stage is suspended, the source stops, but what the stage has written is passed on`() {
    #expect(
      Self.script(stages: 2, [Self.piece("a"), Self.suspended("A"), Self.pass, Self.delivered, Self.resumed(0)])
        == ["chunk 0 a", "chunk 1 A", "deliver A", "wait", "pull"])
  }

  @Test func `two stages can suspend on one piece, and each continues independently`() {
    #expect(
      Self.script(
        stages: 2,
        [
          Self.piece("a"), Self.suspended("A"), Self.suspended(), Self.resumed(0, "B"), Self.resumed(1, "C"),
          Self.delivered, Self.pass, Self.delivered,
        ])
        == ["chunk 0 a", "chunk 1 A", "wait", "wait", "deliver C", "chunk 1 B", "deliver B", "pull"])
  }

  @Test func `the later of two suspended stages can continue first`() {
    #expect(
      Self.script(
        stages: 2,
        [
          Self.piece("a"), Self.suspended("A"), Self.suspended(), Self.resumed(1, "C"), Self.delivered,
          Self.resumed(0, "B"), Self.pass, Self.delivered,
        ])
        == ["chunk 0 a", "chunk 1 A", "wait", "deliver C", "wait", "chunk 1 B", "deliver B", "pull"])
  }

  @Test func `a stage that suspends at the end of the body delays the end of the flow`() {
    #expect(
      Self.script(stages: 2, [.ended, Self.suspended("y"), Self.pass, Self.delivered, Self.resumed(0, "z"), Self.pass])
        == ["end 0", "chunk 1 y", "deliver y", "wait", "chunk 1 z", "deliver z"])
    #expect(
      Self.script(stages: 1, [.ended, Self.suspended(), Self.resumed(0), .ended]) == [
        "end 0", "wait", "finish", "wait",
      ])
  }

  @Test func `if a body ends while a stage is suspended, the flow ends after the stage has continued`() {
    #expect(
      Self.script(
        stages: 1, [Self.piece("a"), Self.suspended(), .ended, Self.resumed(0, "A"), Self.delivered, Self.pass])
        == ["chunk 0 a", "wait", "wait", "deliver A", "end 0", "finish"])
  }

  @Test func `a skipped stage returns the piece that it held`() {
    #expect(
      Self.script(stages: 1, [Self.piece("a"), Self.suspended(), .skipped(stage: 0), Self.delivered])
        == ["chunk 0 a", "wait", "deliver a", "pull"])
  }

  @Test func `a skipped stage does not return a piece for which it wrote something`() {
    #expect(
      Self.script(stages: 1, [Self.piece("a"), Self.suspended("A"), Self.delivered, .skipped(stage: 0)])
        == ["chunk 0 a", "deliver A", "wait", "pull"])
  }

  @Test func `while the receiver pauses, no piece moves, and the end of the body waits too`() {
    #expect(
      Self.script(
        stages: 1,
        [Self.piece("a"), Self.pass, .delivered(pauses: true), .ended, .receiverResumed, Self.pass])
        == ["chunk 0 a", "deliver a", "wait", "wait", "end 0", "finish"])
  }

  @Test func `a receiver that continues does not resume a body that a stage has suspended`() {
    #expect(
      Self.script(
        stages: 1,
        [Self.piece("a"), Self.suspended("A"), .delivered(pauses: true), .receiverResumed, Self.resumed(0)])
        == ["chunk 0 a", "deliver A", "wait", "wait", "pull"])
  }

  @Test func `a stage that fails ends the flow, and no action follows`() {
    let failure = StageFailure(code: "no", message: "")
    #expect(
      Self.script(stages: 2, [Self.piece("a"), .answered(.fail(failure), output: []), .ended, Self.piece("b")])
        == ["chunk 0 a", "fail 0 no", "wait", "wait"])
  }

  @Test func `a second resumption of a stage has no effect`() {
    #expect(
      Self.script(
        stages: 1, [Self.piece("a"), Self.suspended(), Self.resumed(0, "A"), Self.resumed(0, "B"), Self.delivered])
        == ["chunk 0 a", "wait", "deliver A", "pull", "pull"])
  }
}
