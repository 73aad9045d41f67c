import CBareLoop
import Sluice

/// When a request was submitted, and when it ended, in nanoseconds of one clock.
struct Timing {
  let start: UInt64
  let end: UInt64
}

extension [Timing] {
  /// The 99th percentile of the latencies, in microseconds.
  var percentile99: Double { Double(map { $0.end - $0.start }.sorted()[count * 99 / 100]) / 1000 }

  /// The timings without the requests that ran during one of the spans.
  func outside(_ spans: [ClosedRange<UInt64>]) -> [Timing] {
    filter { timing in !spans.contains { $0.overlaps(timing.start...timing.end) } }
  }
}

/// Sends requests, a fixed number at a time, and times each from its submission to its end.
final class TimedLoad: @unchecked Sendable {
  // Sendable: only the engine's single loop changes the state. Other code reads it only after the continuation has
  // resumed.
  let engine: Engine
  private let request: Request
  private let connections: Int
  private var toStart = 0
  private var running = 0
  private var failed = 0
  private var timings: [Timing] = []

  init(_ engine: Engine, _ request: Request, _ connections: Int) {
    self.engine = engine
    self.request = request
    self.connections = connections
  }

  /// - Throws: if a request fails.
  func run(requests: Int) async throws -> [Timing] {
    await withCheckedContinuation { continuation in
      engine.submit(request) { [self] _ in
        (toStart, failed, timings) = (requests, 0, [])
        timings.reserveCapacity(requests)
        for _ in 0..<min(connections, requests) { startNext { continuation.resume() } }
      }
    }
    guard failed == 0 else { throw BenchmarkError("\(failed) of \(requests) requests failed") }
    return timings
  }

  private func startNext(_ done: @escaping @Sendable () -> Void) {
    toStart -= 1
    running += 1
    let start = bench_nanoseconds()
    engine.submit(request) { [self] result in
      timings.append(Timing(start: start, end: bench_nanoseconds()))
      running -= 1
      if result.error != nil { failed += 1 }
      if toStart > 0 { startNext(done) } else if running == 0 { done() }
    }
  }
}
