import SluicePipeline
import Testing

struct PipelineMetricsTests {
  @Test func `each phase of a stage is counted separately`() throws {
    let metrics = PipelineMetrics(
      requestStages: ["auth", "edit"], issueStages: ["headers"], responseStages: ["edit"], tracers: ["log"])
    metrics.recordStage(.request, 1, nanoseconds: 10)
    metrics.recordStage(.issue, 0, nanoseconds: 20)
    metrics.recordStage(.response, 0, nanoseconds: 30)
    metrics.recordStage(.failure, 0, nanoseconds: 31)
    metrics.recordTracer(0, nanoseconds: 5)
    let snapshot = metrics.snapshot()
    #expect(snapshot.stages.map(\.name) == ["auth", "edit", "headers", "edit", "edit"])
    #expect(snapshot.stages.map(\.calls) == [0, 1, 1, 1, 1])
    #expect(snapshot.stages.map(\.time.sum) == [0, 10, 20, 30, 31])
    #expect(try #require(snapshot.tracer("log")).events == 1)
    #expect(snapshot.stage(.issue, "auth") == nil)
  }

  @Test func `faults, timeouts and skips are counted separately`() throws {
    let metrics = PipelineMetrics(requestStages: ["a"], issueStages: [], responseStages: [], tracers: ["t"])
    metrics.countFault(.request, 0, isSkipped: false)
    metrics.countFault(.request, 0, isSkipped: true)
    metrics.countTimeout(.request, 0, isSkipped: true)
    metrics.countTracerOverrun(0)
    metrics.countTracerDrop(0)
    metrics.countTracerDrop(0)
    let stage = try #require(metrics.snapshot().stage(.request, "a"))
    #expect([stage.faults, stage.timeouts, stage.skips] == [2, 1, 2])
    let tracer = try #require(metrics.snapshot().tracer("t"))
    #expect([tracer.overruns, tracer.drops] == [1, 2])
  }

  @Test func `a transaction is in flight from its beginning to its end`() {
    let metrics = empty()
    for _ in 0..<5 { metrics.transactionDidBegin() }
    metrics.transactionDidComplete(.succeeded, status: 204, nanoseconds: 100)
    metrics.transactionDidComplete(.failed, status: 503, nanoseconds: 200)
    metrics.transactionDidComplete(.cancelled, status: 0, nanoseconds: 300)
    let snapshot = metrics.snapshot()
    #expect(snapshot.begun == 5)
    #expect(snapshot.completed == 3)
    #expect(snapshot.inFlight == 2)
    #expect(OutcomeClass.allCases.map { snapshot[$0] } == [1, 1, 1])
    #expect([snapshot[.success], snapshot[.serverError], snapshot[StatusClass.none]] == [1, 1, 1])
    #expect(snapshot.duration.count == 3)
    #expect(snapshot.duration.sum == 600)
  }

  @Test(
    arguments: [
      (OutcomeClass.succeeded, 200, false, 0), (.succeeded, 499, false, 0), (.succeeded, 503, false, 1),
      (.succeeded, 200, true, 1), (.failed, 0, false, 1), (.failed, 503, true, 1), (.cancelled, 0, false, 0),
      (.cancelled, 503, true, 0),
    ] as [(OutcomeClass, Int, Bool, UInt64)])
  func `a transaction is unhealthy if it failed, has a 5xx, or a stage was at fault, and counts once`(
    _ outcome: OutcomeClass, _ status: Int, _ hadStageFault: Bool, _ count: UInt64
  ) {
    let metrics = empty()
    metrics.transactionDidComplete(outcome, status: status, hadStageFault: hadStageFault, nanoseconds: 1)
    #expect(metrics.snapshot().unhealthy == count)
    #expect(MetricsSnapshot(merging: [metrics.snapshot(), metrics.snapshot()]).unhealthy == 2 * count)
  }

  @Test(arguments: [
    (0, "none"), (-1, "none"), (99, "none"), (100, "1xx"), (200, "2xx"), (399, "3xx"), (404, "4xx"), (599, "5xx"),
    (600, "none"), (999, "none"), (.max, "none"), (.min, "none"),
  ])
  func `a status belongs to the class of its first digit`(_ status: Int, _ text: String) {
    #expect(StatusClass(status: status).text == text)
  }

  @Test func `a negative number of bytes counts as zero`() {
    let metrics = empty()
    metrics.addBytes(sent: 100, received: -1)
    metrics.addBytes(sent: 20, received: 3)
    #expect(metrics.snapshot().bytesSent == 120)
    #expect(metrics.snapshot().bytesReceived == 3)
  }

  @Test func `snapshots of several loops are merged into one`() throws {
    let loops = (0..<3).map { _ in
      PipelineMetrics(requestStages: ["a"], issueStages: [], responseStages: ["a"], tracers: ["t"])
    }
    for (index, loop) in loops.enumerated() {
      loop.transactionDidBegin()
      for _ in 0...index { loop.countAttempt() }
      for _ in 0..<index { loop.countRetry() }
      loop.countHop()
      loop.countRedirect()
      loop.recordStage(.request, 0, nanoseconds: UInt64(index))
      loop.recordTracer(0, nanoseconds: 1)
      loop.transactionDidComplete(.succeeded, status: 200, nanoseconds: 1000)
    }
    let merged = MetricsSnapshot(merging: loops.map { $0.snapshot() })
    #expect(
      [merged.begun, merged.completed, merged.attempts, merged.retries, merged.hops, merged.redirects] == [
        3, 3, 6, 3, 3, 3,
      ])
    #expect(merged[.success] == 3)
    #expect(merged.stages.count == 3)
    #expect(try #require(merged.stage(.request, "a")).calls == 3)
    #expect(try #require(merged.tracer("t")).events == 3)
  }

  @Test func `stages that only another pipeline has are added to the stages of their phase`() {
    let old = PipelineMetrics(requestStages: ["a"], issueStages: ["h"], responseStages: [], tracers: ["t"])
    let new = PipelineMetrics(requestStages: ["b", "a"], issueStages: [], responseStages: ["b"], tracers: ["u"])
    old.recordStage(.request, 0, nanoseconds: 1)
    new.recordStage(.request, 1, nanoseconds: 1)
    var merged = old.snapshot()
    merged.merge(new.snapshot())
    #expect(
      merged.stages.map { "\($0.phase) \($0.name)" } == [
        "request a", "request b", "issue h", "response b", "failure b",
      ])
    #expect(merged.stage(.request, "a")?.calls == 2)
    #expect(merged.tracers.map(\.name) == ["t", "u"])
  }

  @Test func `a stage that is listed twice has one entry with the calls of both`() {
    let metrics = PipelineMetrics(requestStages: ["a", "a"], issueStages: [], responseStages: [], tracers: [])
    metrics.recordStage(.request, 0, nanoseconds: 1)
    metrics.recordStage(.request, 1, nanoseconds: 1)
    #expect(metrics.snapshot().stages.map(\.calls) == [2])
  }

  private func empty() -> PipelineMetrics {
    PipelineMetrics(requestStages: [], issueStages: [], responseStages: [], tracers: [])
  }
}
