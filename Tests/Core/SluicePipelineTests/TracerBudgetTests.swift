import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

/// Tracers that take time for their events. The clock of the loop moves only when the test or a tracer moves it.
@Suite struct TracerBudgetTests {
  /// A tracer that needs the given time for each event.
  private final class Watcher: Tracer, @unchecked Sendable {
    // Confined to the stub loop.
    let loop: StubLoop
    var times: [Duration] = []
    private(set) var kinds: [TraceEvent.Kind] = []

    init(_ loop: StubLoop) { self.loop = loop }

    func record(_ event: TraceEvent) {
      loop.spend(kinds.count < times.count ? times[kinds.count] : .zero)
      kinds.append(event.kind)
    }
  }

  private let loop = StubLoop()
  private let reasons = Watched<[String]>([])

  private func run(_ pipeline: Pipeline, count: Int = 1) throws {
    let environment = LoopEnvironment(loop: loop, transport: StubTransport(loop: loop))
    let request = Request(url: HTTPURL("http://example.com/"))
    var ended = 0
    for _ in 0..<count {
      loop.perform { Transaction.begin(request, on: environment, through: pipeline) { _ in ended += 1 } }
    }
    loop.run { ended == count }
  }

  private func binding(_ tracer: any Tracer, _ budget: Duration? = .milliseconds(10)) -> TracerBinding {
    TracerBinding(name: "watcher", tracer: tracer, budget: budget) { [reasons] reason in
      reasons.update { $0.append(reason) }
    }
  }

  @Test func `the time of a tracer is counted only during its own events`() throws {
    let (first, second) = (Watcher(loop), Watcher(loop))
    first.times = [.milliseconds(2)]
    second.times = [.milliseconds(5)]
    let pipeline = Pipeline(tracers: [
      TracerBinding(name: "first", tracer: first), TracerBinding(name: "second", tracer: second),
    ])
    try run(pipeline)
    let metrics = try #require(pipeline.metrics.first).snapshot()
    #expect(metrics.tracer("first")?.events == 9)
    #expect(metrics.tracer("first")?.time.sum == 2_000_000)
    #expect(metrics.tracer("second")?.time.sum == 5_000_000)
    #expect(metrics.tracer("second")?.overruns == 0)
  }

  @Test func `a tracer's time does not count as the time of the next stage`() throws {
    let watcher = Watcher(loop)
    watcher.times = [.milliseconds(7)]
    let stage = Passing()
    let pipeline = Pipeline(
      requestStages: [StageBinding(name: "stage", interceptor: stage)], tracers: [binding(watcher)])
    try run(pipeline)
    #expect(pipeline.metrics.first?.snapshot().stage(.request, "stage")?.time.sum == 0)
  }

  @Test func `a tracer that overruns repeatedly is switched off once, and another tracer still gets all events`()
    throws
  {
    let (slow, other) = (Watcher(loop), Watcher(loop))
    slow.times = Array(repeating: .milliseconds(11), count: 100)
    let binding = binding(slow)
    let pipeline = Pipeline(tracers: [binding, TracerBinding(name: "other", tracer: other)])
    try run(pipeline, count: 3)
    #expect(binding.isSwitchedOff)
    #expect(slow.kinds.count == 8)
    #expect(other.kinds.count == 27)
    #expect(reasons.value.count == 1)
    #expect(reasons.value.first?.contains("0.01 seconds") == true)
    #expect(pipeline.metrics.first?.snapshot().tracer("watcher")?.overruns == 8)
  }

  @Test func `a tracer that is switched off during a transaction does not get its last event`() throws {
    let slow = Watcher(loop)
    slow.times = Array(repeating: .zero, count: 4) + Array(repeating: .milliseconds(11), count: 100)
    let pipeline = Pipeline(tracers: [binding(slow)])
    for _ in 0..<3 { try run(pipeline) }
    #expect(slow.kinds.count == 12)
    #expect(slow.kinds.suffix(3) == [.willExecute, .didConfigure, .didIssue])
  }

  @Test func `one overrun among many calls is counted and tolerated`() throws {
    let watcher = Watcher(loop)
    watcher.times = (0..<400).map { $0 % 40 == 0 ? .milliseconds(50) : .zero }
    let binding = binding(watcher)
    let pipeline = Pipeline(tracers: [binding])
    try run(pipeline, count: 50)
    #expect(!binding.isSwitchedOff)
    #expect(watcher.kinds.count == 450)
    #expect(pipeline.metrics.first?.snapshot().tracer("watcher")?.overruns == 10)
  }

  @Test func `a tracer without a budget is neither timed nor switched off`() throws {
    let watcher = Watcher(loop)
    watcher.times = Array(repeating: .seconds(1), count: 100)
    let pipeline = Pipeline(tracers: [binding(watcher, nil)])
    try run(pipeline, count: 5)
    #expect(watcher.kinds.count == 45)
    #expect(pipeline.metrics.first?.snapshot().tracer("watcher")?.events == 0)
  }

  private final class Passing: Interceptor {
    let capabilities: StageCapabilities = [.request]
    func interceptRequest(_ exchange: Exchange) -> Verdict { .proceed }
  }
}
