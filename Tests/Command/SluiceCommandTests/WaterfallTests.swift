import SluiceMessages
import SluicePipeline
import Testing

@testable import SluiceCommand

/// The phases that `send --trace` shows. They are computed from marks, which the events of a request leave.
@Suite struct WaterfallTests {
  private typealias Mark = RequestTimeline.Mark

  private static func timings(
    dns: Int = 0, connect: Int = 0, tls: Int = 0, send: Int = 0, receive: Int = 0
  ) -> TransferTimings {
    var timings = TransferTimings()
    timings.nameLookup = .milliseconds(dns)
    timings.connect = .milliseconds(connect)
    timings.tlsHandshake = .milliseconds(tls)
    timings.send = .milliseconds(send)
    timings.receive = .milliseconds(receive)
    return timings
  }

  /// - Parameter marks: the marks, each with the milliseconds since the beginning.
  private static func rows(_ marks: [(Int, Mark)], stages: [StageSnapshot] = []) -> [Waterfall.Row] {
    var timeline = RequestTimeline()
    for (time, mark) in marks { timeline.append(mark, at: .milliseconds(time)) }
    return Waterfall(timeline, stages: stages).rows
  }

  /// Returns `name milliseconds` for each row that took any time. Checks that each row begins at the end of the
  /// previous row.
  private static func table(_ marks: [(Int, Mark)], stages: [StageSnapshot] = []) -> [String] {
    let rows = rows(marks, stages: stages)
    var end = Duration.zero
    for row in rows {
      #expect(row.start == end && row.time >= .zero, "\(row)")
      end = row.start + row.time
    }
    #expect(end == .milliseconds(marks.last?.0 ?? 0))
    return rows.filter { $0.time > .zero }.map { "\($0.name) \(Int($0.time / .milliseconds(1)))" }
  }

  private static func responseStage() -> StageSnapshot {
    let metrics = PipelineMetrics(
      requestStages: [], issueStages: [], responseStages: ["cache"], hopStages: [], tracers: [])
    metrics.recordStage(.response, 0, nanoseconds: 1_000_000)
    return metrics.snapshot().stages[0]
  }

  @Test func `the phases of one hop add up to the total`() {
    let timings = Self.timings(dns: 5, connect: 10, tls: 20, send: 4, receive: 6)
    let marks: [(Int, Mark)] = [
      (1, .configured), (40, .issued), (60, .received(status: 200, timings)), (70, .completed(timings)),
    ]
    #expect(
      Self.table(marks) == [
        "request 1", "prepare 4", "dns 5", "connect 10", "tls 20", "send 4", "wait 16", "receive 10",
      ])
  }

  @Test func `every phase of one hop has a row, even if it took no time`() {
    let rows = Self.rows([
      (0, .configured), (0, .issued), (0, .received(status: 200, Self.timings())), (0, .completed(Self.timings())),
    ])
    #expect(rows.map(\.name) == ["prepare", "queue", "dns", "connect", "tls", "send", "wait", "receive"])
  }

  @Test func `phases that are longer than the time between their marks are shortened to this time`() {
    let timings = Self.timings(connect: 100, tls: 100, send: 100)
    let marks: [(Int, Mark)] = [
      (0, .configured), (10, .issued), (20, .received(status: 200, timings)), (30, .completed(timings)),
    ]
    #expect(Self.table(marks) == ["connect 10", "send 10", "receive 10"])
  }

  @Test func `the wait of response stages is not counted as the arrival of the body`() {
    let timings = Self.timings(receive: 2)
    let marks: [(Int, Mark)] = [
      (0, .configured), (10, .issued), (20, .received(status: 200, timings)), (300, .completed(timings)),
    ]
    let stage = Self.responseStage()
    #expect(Self.table(marks, stages: [stage]) == ["prepare 10", "wait 10", "receive 2", "response 278"])
    #expect(Self.table(marks) == ["prepare 10", "wait 10", "receive 280"])
  }

  @Test func `redirects and challenges are hops with their own phases`() {
    let marks: [(Int, Mark)] = [
      (0, .configured), (10, .issued), (20, .received(status: 302, Self.timings(connect: 10))), (25, .redirected),
      (30, .issued), (40, .received(status: 401, Self.timings())), (50, .issued),
      (60, .received(status: 200, Self.timings())), (70, .completed(Self.timings())),
    ]
    #expect(
      Self.table(marks) == [
        "0.0 connect 10", "0.0 wait 10", "0.0 receive 5", "0.1 prepare 5", "0.1 wait 10", "0.2 prepare 10",
        "0.2 wait 10", "0.2 receive 10",
      ])
  }

  @Test func `attempts that fail and the time between them are shown`() {
    let marks: [(Int, Mark)] = [
      (5, .configured), (25, .retrying(after: .milliseconds(100))), (130, .configured), (140, .issued),
      (150, .retrying(after: .zero)), (150, .configured), (160, .issued), (170, .received(status: 200, nil)),
      (180, .completed(nil)),
    ]
    #expect(
      Self.table(marks) == [
        "request 5", "0.0 connect 20", "retry delay 100", "request 5", "1.0 prepare 10", "1.0 wait 10",
        "2.0 prepare 10", "2.0 wait 10", "2.0 receive 10",
      ])
  }

  @Test func `if a connection fails, the rest of its time is shown as the phase that did not end`() {
    let refused: [(Int, Mark)] = [(0, .configured), (50, .completed(Self.timings(dns: 20)))]
    #expect(Self.table(refused) == ["dns 20", "connect 30"])
    let untrusted: [(Int, Mark)] = [(0, .configured), (50, .completed(Self.timings(dns: 20, connect: 10)))]
    #expect(Self.table(untrusted) == ["dns 20", "connect 10", "tls 20"])
  }

  @Test func `a request that a stage answers has no hop`() {
    #expect(Self.table([(7, .completed(nil))]) == ["request 7"])
  }

  @Test func `if no response arrives, the row "wait" lasts until the end`() {
    let timings = Self.timings(send: 5)
    let marks: [(Int, Mark)] = [(0, .configured), (10, .issued), (60, .completed(timings))]
    #expect(Self.table(marks) == ["prepare 10", "send 5", "wait 45"])
  }
}
