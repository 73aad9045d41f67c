import CBareLoop
import Dispatch
import Sluice
import SluiceTraceContext

/// What the built-in `headers` costs for a hop that gets traceparent, baggage and a request id, and for a hop that also
/// gets tracestate. Two stages of this program, one before `headers` and one after it, measure the time and the
/// allocations. The cost of these two stages alone is subtracted. Also reports the cost of the caller's context. This
/// context is checked only once, when it is made from the headers of a request, and not for each hop.
struct HeadersCost {
  static let name = "headers"

  private let with: StageWindow
  private let without: StageWindow
  private let plan: Plan

  init(_ plan: Plan) throws {
    self.plan = plan
    with = try StageWindow(plan, hasHeaders: true)
    without = try StageWindow(plan, hasHeaders: false)
  }

  func report() throws {
    print("\(plan.url): \(plan.rounds) rounds of \(plan.requests) requests, \(plan.connections) at a time")
    let parents = [("headers", StageWindow.parent), ("with tracestate", StageWindow.parentWithState)]
    var costs = parents.map { _ in [Double]() }
    var allocations = costs
    for round in 0...plan.rounds {
      for (index, parent) in parents.enumerated() {
        let bare = try without.median(requests: plan.requests, below: parent.1)
        let full = try with.median(requests: plan.requests, below: parent.1)
        // The first round includes work that is done only once.
        guard round > 0 else { continue }
        costs[index].append(full.nanoseconds - bare.nanoseconds)
        allocations[index].append(full.allocations - bare.allocations)
      }
    }
    for (index, parent) in parents.enumerated() {
      print(
        "\(parent.0): \(Spread(costs[index]).text(digits: 0)) ns per hop,"
          + " \(Spread(allocations[index]).text(digits: 2)) allocations per hop")
    }
    let contexts = (0..<plan.rounds).map { _ in Self.costOfContext() }
    print(
      "context: \(Spread(contexts.map(\.nanoseconds)).text(digits: 0)) ns and"
        + " \(Spread(contexts.map(\.allocations)).text(digits: 2)) allocations, once for each")
  }

  /// The cost of making a `ParentContext` from strings.
  private static func costOfContext() -> (nanoseconds: Double, allocations: Double) {
    let count = 10_000
    let (trace, state, baggage) = (
      StageWindow.parentWithState.traceparent, StageWindow.parentWithState.tracestate,
      StageWindow.parentWithState.baggage
    )
    var isThere = true
    let allocations = bench_thread_allocations()
    let start = bench_nanoseconds()
    for _ in 0..<count {
      let parent = ParentContext(traceparent: trace, tracestate: state, baggage: baggage)
      isThere = isThere && parent != ParentContext()
    }
    let nanoseconds = bench_nanoseconds() - start
    precondition(isThere)
    return (
      Double(nanoseconds) / Double(count), Double(bench_thread_allocations() - allocations) / Double(count)
    )
  }
}

/// An engine whose hops are measured between two stages.
private final class StageWindow: @unchecked Sendable {
  // Sendable: only the engine's single loop changes the state. Another thread reads it only after it has waited for the
  // semaphore.
  private var startTime: UInt64 = 0
  private var startAllocations: UInt64 = 0
  private var times: [UInt64] = []
  private var allocations: [UInt64] = []
  private var failed = 0
  private var toStart = 0
  private var running = 0
  private var parent = ParentContext()
  private let connections: Int
  private var engine: Engine?
  private let request: Request
  private let done = DispatchSemaphore(value: 0)

  init(_ plan: Plan, hasHeaders: Bool) throws {
    request = Request(url: try HTTPURL(plan.url))
    connections = plan.connections
    let text = """
      {"plugins": {"headers": {"builtin": "headers", "config": {"hosts": ["127.0.0.1", "localhost"]}}},
       "transport": {"loops": 1}}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.transport.tls.ca = plan.certificateAuthority
    configuration.addStage("before", StageCode(issue: { [unowned self] _, _ in begin() }))
    if hasHeaders { configuration.issue.append(StageReference("headers")) }
    configuration.addStage("after", StageCode(issue: { [unowned self] _, _ in end() }))
    engine = try Engine(configuration)
  }

  private func begin() {
    startAllocations = bench_thread_allocations()
    startTime = bench_nanoseconds()
  }

  private func end() {
    times.append(bench_nanoseconds() - startTime)
    allocations.append(bench_thread_allocations() - startAllocations)
  }

  /// The median of the hops, so that a few interrupted hops do not count.
  func median(requests: Int, below parent: ParentContext) throws -> (nanoseconds: Double, allocations: Double) {
    times.removeAll(keepingCapacity: true)
    allocations.removeAll(keepingCapacity: true)
    times.reserveCapacity(requests)
    allocations.reserveCapacity(requests)
    toStart = requests
    self.parent = parent
    // Begins on the loop, so that each further request is submitted where it runs.
    engine?.submit(request) { [self] _ in
      for _ in 0..<min(connections, requests) { startNext() }
    }
    done.wait()
    guard failed == 0 else { throw BenchmarkError("headers: \(failed) of \(requests) requests failed") }
    return (Spread(times.map { Double($0) }).median, Spread(allocations.map { Double($0) }).median)
  }

  private func startNext() {
    toStart -= 1
    running += 1
    engine?.submit(request, parent: parent) { [self] result in
      running -= 1
      if result.error != nil { failed += 1 }
      if toStart > 0 { startNext() } else if running == 0 { done.signal() }
    }
  }

  /// The context is read from headers, as in a server, so that its strings are made in this run and are not constants
  /// of the program.
  static let parent = made(of: [
    "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "baggage": "user=alice,tier=gold;p=1",
  ])
  static let parentWithState = made(of: [
    "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "vendor=opaque",
    "baggage": "user=alice,tier=gold;p=1",
  ])

  private static func made(of headers: HeaderFields) -> ParentContext {
    Propagators.standard.extract(from: headers).parent
  }
}
