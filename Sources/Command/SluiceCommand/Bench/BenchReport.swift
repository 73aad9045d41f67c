import SluiceAssembly
import SluiceMessages
import SluicePipeline

/// What `bench` prints.
struct BenchReport: Sendable {
  /// The figures of one pipeline.
  struct Side: Sendable {
    let requestsPerSecond: BenchSpread
    /// Processor time per request, in seconds.
    let processorTime: BenchSpread
    let latency: LatencySnapshot

    /// - Parameter rounds: at least one.
    init(_ rounds: [BenchRound], _ latency: LatencySnapshot) {
      requestsPerSecond = BenchSpread(rounds.map(\.requestsPerSecond))
      processorTime = BenchSpread(rounds.map(\.processorTime))
      self.latency = latency
    }
  }

  let plan: BenchPlan
  let method: String
  let url: String
  /// The rounds that were finished.
  let rounds: Int
  /// Nil if no round was finished.
  let pipeline: Side?
  /// Nil if the pipeline has no stages.
  let bare: Side?
  /// The processor time in seconds that the stages add to a request: the median and the range over all pairs of rounds.
  let cost: BenchSpread?
  let metrics: MetricsSnapshot

  init(_ plan: BenchPlan, _ request: Request, _ mask: SecretMask, _ session: BenchSession) {
    self.plan = plan
    method = request.method
    url = mask.url(request.url)
    let (own, bare) = (session.pipelineRounds, session.bareRounds)
    rounds = own.count
    pipeline = own.isEmpty ? nil : Side(own, session.pipelineLatency)
    self.bare = bare.isEmpty ? nil : session.bareLatency.map { Side(bare, $0) }
    let costs = zip(own, bare).map { $0.processorTime - $1.processorTime }
    cost = costs.isEmpty ? nil : BenchSpread(costs)
    metrics = session.metrics
  }

  var text: String {
    let sections = [[headline], table, costLines, StageTimes.lines(of: metrics)].filter { !$0.isEmpty }
    return sections.map { $0.map { "\($0)\n" }.joined() }.joined(separator: "\n")
  }

  private var headline: String {
    let count = rounds == plan.rounds ? "\(rounds)" : "\(rounds) of \(Figures.count(plan.rounds))"
    return
      "\(method) \(PrintableText.of(url)): \(count) \(plan.rounds == 1 ? "round" : "rounds") of \(Figures.count(plan.requests)) requests, "
      + "\(Figures.count(plan.connections)) at a time"
  }

  private var table: [String] {
    var table = TextTable("", "requests/s", "processor time per request", "p50", "p90", "p99", "max")
    for (name, side) in [("pipeline", pipeline), ("without stages", bare)] {
      guard let side else { continue }
      let latency = side.latency
      table.append(
        [
          name, side.requestsPerSecond.text { Figures.count(Int($0.rounded())) },
          side.processorTime.text { Self.time($0) },
        ] + [latency.p50, latency.p90, latency.p99, latency.maximum].map { Figures.time(nanoseconds: $0) })
    }
    return table.lines
  }

  private var costLines: [String] {
    cost.map { Self.lines(of: $0) } ?? ["The pipeline has no stages."]
  }

  /// The answer, with what to do if the rounds were too few or too short for it.
  static func lines(of cost: BenchSpread) -> [String] {
    let answer = "The stages cost \(cost.text { time($0) }) of processor time per request."
    guard cost.lowest <= 0 else { return [answer] }
    let advice = "The lowest value is not above 0, so this is not a measurement: use more requests (-n) or --rounds."
    return [answer, advice]
  }

  /// A difference of two measurements, which can be negative.
  private static func time(_ seconds: Double) -> String {
    (seconds < 0 ? "-" : "") + Figures.time(nanoseconds: UInt64((seconds.magnitude * 1e9).rounded()))
  }
}
