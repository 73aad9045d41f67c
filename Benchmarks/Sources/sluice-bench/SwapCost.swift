import CBareLoop
import Dispatch
import Sluice

/// What requests notice of the snapshots that are published while they run: their 99th percentile with ten a second, against
/// that of rounds without.
///
/// Each snapshot is a whole pipeline with new instances of its plugins; those it replaces drain meanwhile.
struct SwapCost {
  static let name = "swap"
  private static let interval = Duration.milliseconds(100)

  private let plan: Plan
  private let load: TimedLoad
  private let configurations: [Configuration]

  private let processor: Int

  /// - Parameter processor: the loop's. Snapshots are prepared wherever there is room, as they are in a program.
  init(_ plan: Plan, processor: Int) throws {
    self.processor = processor
    self.plan = plan
    configurations = try ["a", "b"].map { try Self.configuration(plan, $0) }
    load = TimedLoad(try Engine(configurations[0]), Request(url: try HTTPURL(plan.url)), plan.connections)
  }

  func report() async throws {
    print("\(plan.url): \(plan.rounds) rounds of \(plan.requests) requests, \(plan.connections) at a time")
    let isPinned = await Task(executorPreference: load.engine.executors.first) { [processor] in
      bench_pin_thread(Int32(processor))
    }.value
    guard isPinned else { throw BenchmarkError("cannot pin to processor \(processor)") }
    _ = try await load.run(requests: plan.requests)
    var (still, moving, ratios): ([Double], [Double], [Double]) = ([], [], [])
    var published: [Double] = []
    for round in 0..<plan.rounds {
      // Each second round the other way round: none is always first.
      var times = (still: 0.0, moving: 0.0)
      for isMoving in round % 2 == 0 ? [false, true] : [true, false] {
        if isMoving {
          let publishing = Task { try await publish() }
          times.moving = try await load.run(requests: plan.requests)
          publishing.cancel()
          published.append(Double(try await publishing.value))
        } else {
          times.still = try await load.run(requests: plan.requests)
        }
      }
      still.append(times.still)
      moving.append(times.moving)
      ratios.append(times.moving / times.still)
    }
    print("p99 without: \(Spread(still).text(digits: 0)) µs, with: \(Spread(moving).text(digits: 0)) µs")
    print("ratio: \(Spread(ratios).text(digits: 3)), with \(Spread(published).text(digits: 0)) snapshots a round")
  }

  /// Until it is cancelled.
  private func publish() async throws -> Int {
    let clock = ContinuousClock()
    var next = clock.now
    var count = 0
    while !Task.isCancelled {
      do throws(SwapError) { _ = try await load.engine.reload(configurations[(count + 1) % 2]) } catch {
        // The round may end while one is made.
        if error.report.outcome == .cancelled { break }
        throw error
      }
      count += 1
      next += Self.interval
      try? await Task.sleep(until: next, clock: clock)
    }
    return count
  }

  private static func configuration(_ plan: Plan, _ value: String) throws -> Configuration {
    let stages = plan.stageHeaders.indices.map { "stage-\($0)" }
    let instances = zip(stages, plan.stageHeaders).map { stage, header in
      """
      "\(stage)": {"library": "\(plan.plugins)/libstatic-headers.so",
                   "config": {"request": {"\(header.name)": "\(value)"}}}
      """
    }
    let list = stages.map { "\"\($0)\"" }.joined(separator: ", ")
    let text = """
      {"plugins": {\(instances.joined(separator: ",\n"))}, "request": [\(list)],
       "swap": {"probation": {"duration": "0s"}}, "transport": {"loops": 1}}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.transport.tls.ca = plan.certificateAuthority
    return configuration
  }
}

/// Requests, so many at a time, each timed from its submission to its end.
private final class TimedLoad: @unchecked Sendable {
  // Sendable: what changes is touched on the engine's one loop alone; the continuation hands it over.
  let engine: Engine
  private let request: Request
  private let connections: Int
  private var toStart = 0
  private var running = 0
  private var failed = 0
  private var times: [Double] = []

  init(_ engine: Engine, _ request: Request, _ connections: Int) {
    self.engine = engine
    self.request = request
    self.connections = connections
  }

  /// - Returns: the 99th percentile, in microseconds.
  func run(requests: Int) async throws -> Double {
    await withCheckedContinuation { continuation in
      engine.submit(request) { [self] _ in
        (toStart, failed, times) = (requests, 0, [])
        times.reserveCapacity(requests)
        for _ in 0..<min(connections, requests) { startNext { continuation.resume() } }
      }
    }
    guard failed == 0 else { throw BenchmarkError("\(SwapCost.name): \(failed) of \(requests) requests failed") }
    return times.sorted()[requests * 99 / 100]
  }

  private func startNext(_ done: @escaping @Sendable () -> Void) {
    toStart -= 1
    running += 1
    let start = bench_nanoseconds()
    engine.submit(request) { [self] result in
      times.append(Double(bench_nanoseconds() - start) / 1000)
      running -= 1
      if result.error != nil { failed += 1 }
      if toStart > 0 { startNext(done) } else if running == 0 { done() }
    }
  }
}
