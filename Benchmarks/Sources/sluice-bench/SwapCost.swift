import CBareLoop
import Dispatch
import Sluice

/// How requests are affected by snapshots that are published under load. The 99th percentile of the latency is measured
/// while ten snapshots a second are published, and compared with rounds without snapshots.
///
/// Each snapshot is a whole pipeline with new instances of its plugins; the replaced instances drain at the same time.
/// The first figure includes the preparation of the snapshots. The second figure is for snapshots that were prepared
/// earlier, and excludes the requests that ran during a preparation.
struct SwapCost {
  static let name = "swap"
  private static let interval = Duration.milliseconds(100)
  /// The time from the beginning of an interval to the publication. The snapshot is prepared in this time.
  private static let lead = Duration.milliseconds(40)

  private let plan: Plan
  private let load: TimedLoad
  private let configurations: [Configuration]
  /// A configuration with probation: while the new snapshot serves, the previous one is on standby.
  private let probationary: Configuration

  private let processor: Int

  /// - Parameter processor: the processor of the loop. Snapshots are prepared on any processor, as in a program.
  init(_ plan: Plan, processor: Int) throws {
    self.processor = processor
    self.plan = plan
    configurations = try ["a", "b"].map { try Self.configuration(plan, $0, probation: "0s") }
    probationary = try Self.configuration(plan, "c", probation: "1h")
    load = TimedLoad(try Engine(configurations[0]), Request(url: try HTTPURL(plan.url)), plan.connections)
  }

  func report() async throws {
    print("\(plan.url): \(plan.rounds) rounds of \(plan.requests) requests, \(plan.connections) at a time")
    let isPinned = await Task(executorPreference: load.engine.executors.first) { [processor] in
      bench_pin_thread(Int32(processor))
    }.value
    guard isPinned else { throw BenchmarkError("cannot pin to processor \(processor)") }
    _ = try await load.run(requests: plan.requests)
    try await compare("prepared meanwhile") { try await publish() }
    try await compare("prepared before") { try await publishPrepared() }
  }

  /// The snapshots that were published in a round.
  private struct Publications {
    var count = 0
    /// When snapshots were prepared for a later publication, on the clock of the timings.
    var preparations: [ClosedRange<UInt64>] = []
  }

  /// - Parameter publish: publishes snapshots until its task is cancelled.
  private func compare(_ title: String, _ publish: @escaping @Sendable () async throws -> Publications) async throws {
    var (still, moving, ratios): ([Double], [Double], [Double]) = ([], [], [])
    var published: [Double] = []
    for round in 0..<plan.rounds {
      // Every second round runs in reverse order, so that no kind is always first.
      var times = (still: 0.0, moving: 0.0)
      for isMoving in round % 2 == 0 ? [false, true] : [true, false] {
        if isMoving {
          let publishing = Task { try await publish() }
          let timings = try await load.run(requests: plan.requests)
          publishing.cancel()
          let publications = try await publishing.value
          // The round can end before the last prepared snapshot is published. The rollback publishes such a snapshot.
          // If there is none, the rollback fails, and its error is ignored.
          if !publications.preparations.isEmpty { _ = try? await load.engine.rollback() }
          times.moving = timings.outside(publications.preparations).percentile99
          published.append(Double(publications.count))
        } else {
          times.still = try await load.run(requests: plan.requests).percentile99
        }
      }
      still.append(times.still)
      moving.append(times.moving)
      ratios.append(times.moving / times.still)
    }
    print("snapshots \(title), \(Spread(published).text(digits: 0)) a round")
    print("p99 without: \(Spread(still).text(digits: 0)) µs, with: \(Spread(moving).text(digits: 0)) µs")
    print("ratio: \(Spread(ratios).text(digits: 3))")
  }

  private func publish() async throws -> Publications {
    let clock = ContinuousClock()
    var next = clock.now
    var publications = Publications()
    while !Task.isCancelled {
      do throws(SwapError) {
        _ = try await load.engine.reload(configurations[(publications.count + 1) % 2])
      } catch {
        // The round can end while a snapshot is being prepared.
        if error.report.outcome == .cancelled { break }
        throw error
      }
      publications.count += 1
      next += Self.interval
      try? await Task.sleep(until: next, clock: clock)
    }
    return publications
  }

  /// Publishes snapshots that were prepared earlier: a rollback to the standby snapshot only publishes it.
  private func publishPrepared() async throws -> Publications {
    let clock = ContinuousClock()
    var next = clock.now
    var publications = Publications()
    while !Task.isCancelled {
      do throws(SwapError) {
        let start = bench_nanoseconds()
        _ = try await load.engine.reload(probationary)
        publications.preparations.append(start...bench_nanoseconds())
        try? await Task.sleep(until: next + Self.lead, clock: clock)
        _ = try await load.engine.rollback()
        publications.count += 1
      } catch {
        if error.report.outcome == .cancelled { break }
        throw error
      }
      next += Self.interval
      try? await Task.sleep(until: next, clock: clock)
    }
    return publications
  }

  private static func configuration(_ plan: Plan, _ value: String, probation: String) throws -> Configuration {
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
       "swap": {"probation": {"duration": "\(probation)"}}, "transport": {"loops": 1}}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.transport.tls.ca = plan.certificateAuthority
    return configuration
  }
}
