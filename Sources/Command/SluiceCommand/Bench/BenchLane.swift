import Glibc
import Sluice
import SluicePipeline
import SluiceSupport

/// One of the pipelines that `bench` compares: an engine with one loop. Every request is submitted and completed on
/// that loop, so that a request costs no thread switch.
final class BenchLane: Sendable {
  private struct State: Sendable {
    var toStart = 0
    var running = 0
    var failed = 0
    var firstFailure: String?
    var isFilling = false
    var isStopped = false
    var histogram = LatencyHistogram()
    var began = Times()
    var ended: Times?
  }

  private struct Times: Sendable {
    var wall = 0.0
    /// Processor time of the calling thread.
    var processor = 0.0

    static var now: Times {
      Times(wall: seconds(CLOCK_MONOTONIC), processor: seconds(CLOCK_THREAD_CPUTIME_ID))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
      var time = timespec()
      clock_gettime(clock, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
  }

  /// The maximum number of requests that are submitted in a row, before the loop does other work. Without this limit, a
  /// stage that answers requests within `submit` would keep the loop here.
  private static let burst = 256

  let engine: Engine
  private let request: Request
  private let connections: Int
  private let state = Monitor(State())

  init(_ engine: Engine, _ request: Request, connections: Int) {
    self.engine = engine
    self.request = request
    self.connections = connections
  }

  /// The latencies of the requests after the warm-up.
  var latency: LatencySnapshot { state.withLock { $0.histogram }.snapshot() }

  /// Sends this many requests and waits for their results. Returns nil if the lane was stopped before the last request
  /// had ended.
  func run(requests: Int, isWarmUp: Bool = false) -> BenchRound? {
    let isStopped = state.withLock { state in
      state.toStart = requests
      (state.failed, state.firstFailure, state.ended) = (0, nil, nil)
      if isWarmUp { state.histogram = LatencyHistogram() }
      return state.isStopped
    }
    guard !isStopped else { return nil }
    Task.detached(executorPreference: engine.executors[0]) { [self] in
      state.withLock { $0.began = Times.now }
      fill()
    }
    let round: BenchRound?? = state.wait { state in
      if state.isStopped { return .some(nil) }
      guard let ended = state.ended else { return nil }
      return BenchRound(
        requests: requests, failed: state.failed, firstFailure: state.firstFailure,
        seconds: ended.wall - state.began.wall, processorSeconds: ended.processor - state.began.processor)
    }
    if isWarmUp { state.withLock { $0.histogram = LatencyHistogram() } }
    return round ?? nil
  }

  /// Stops the lane: no further request begins. Can be called on any thread.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.toStart = 0
    }
    state.broadcast()
  }

  // MARK: The loop

  private func fill() {
    guard state.withLock({ begin(&$0) }) else { return }
    for _ in 0..<Self.burst {
      guard state.withLock({ takeNext(&$0) }) else { return }
      engine.submit(request) { [self] result in complete(result) }
    }
    state.withLock { $0.isFilling = false }
    Task.detached(executorPreference: engine.executors[0]) { [self] in fill() }
  }

  /// Marks `fill` as running. Returns false if an outer call of `fill` is still running on this stack.
  private func begin(_ state: inout State) -> Bool {
    guard !state.isFilling else { return false }
    state.isFilling = true
    return true
  }

  /// Counts one more running request. Returns false if no request can begin now.
  private func takeNext(_ state: inout State) -> Bool {
    guard state.toStart > 0, state.running < connections else {
      state.isFilling = false
      return false
    }
    state.toStart -= 1
    state.running += 1
    return true
  }

  private func complete(_ result: TransactionResult) {
    let isLast = state.withLock { state in
      state.running -= 1
      state.histogram.record(nanoseconds: result.duration.nanoseconds)
      if let error = result.error {
        state.failed += 1
        if state.firstFailure == nil { state.firstFailure = "\(error)" }
      }
      guard state.toStart == 0, state.running == 0 else { return false }
      state.ended = Times.now
      return true
    }
    if isLast { state.broadcast() } else { fill() }
  }
}
