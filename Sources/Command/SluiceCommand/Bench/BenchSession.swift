import Sluice
import SluiceAssembly
import SluicePipeline
import SluicePluginHost
import SluiceSupport

/// Alternating rounds through a pipeline and through the same configuration without stages.
final class BenchSession: Sendable {
  enum Outcome {
    case finished
    case stopped
    case failed(String)
  }

  private let plan: BenchPlan
  private let pipeline: BenchLane
  /// Nil if the pipeline has no stages.
  private let bare: BenchLane?
  private let rounds = Locked<(pipeline: [BenchRound], bare: [BenchRound])>(([], []))

  init(_ plan: BenchPlan, _ configuration: Configuration, _ request: Request) throws(CommandError) {
    self.plan = plan
    pipeline = BenchLane(try EngineStart.engine(configuration), request, connections: plan.connections)
    guard Self.hasStages(configuration) else {
      bare = nil
      return
    }
    let engine: Engine
    do { engine = try EngineStart.engine(Self.withoutStages(configuration)) } catch {
      WaitingThread.run { [pipeline] in await pipeline.engine.shutdown(drain: .zero) }
      throw error
    }
    bare = BenchLane(engine, request, connections: plan.connections)
  }

  private static func hasStages(_ configuration: Configuration) -> Bool {
    !(configuration.request.isEmpty && configuration.issue.isEmpty && configuration.response.isEmpty
      && configuration.tracers.isEmpty)
  }

  private static func withoutStages(_ configuration: Configuration) -> Configuration {
    var configuration = configuration
    configuration.plugins = []
    (configuration.request, configuration.issue, configuration.response) = ([], [], [])
    configuration.tracers = []
    configuration.control = nil
    return configuration
  }

  /// Stops the session: no further request begins. Can be called on any thread.
  func stop() {
    pipeline.stop()
    bare?.stop()
  }

  /// Ends both engines; requests in flight fail.
  func shutdown() {
    for lane in [pipeline, bare].compactMap(\.self) {
      WaitingThread.run { await lane.engine.shutdown(drain: .zero) }
    }
  }

  /// - Parameter willBegin: called before each round with its number; the first round has the number 1.
  func run(willBegin: (Int) -> Void) -> Outcome {
    let lanes = [pipeline, bare].compactMap(\.self)
    for lane in lanes {
      guard let round = lane.run(requests: plan.warmUp, isWarmUp: true) else { return .stopped }
      if round.failed > 0 { return .failed(Self.describe(round)) }
    }
    for number in 1...plan.rounds {
      willBegin(number)
      // Every second round runs in reverse order, so that neither pipeline is always first.
      var measured: [ObjectIdentifier: BenchRound] = [:]
      for lane in number % 2 == 1 ? lanes : lanes.reversed() {
        guard let round = lane.run(requests: plan.requests) else { return .stopped }
        if round.failed > 0 { return .failed(Self.describe(round)) }
        measured[ObjectIdentifier(lane)] = round
      }
      rounds.withLock { rounds in
        if let round = measured[ObjectIdentifier(pipeline)] { rounds.pipeline.append(round) }
        if let round = bare.flatMap({ measured[ObjectIdentifier($0)] }) { rounds.bare.append(round) }
      }
    }
    return .finished
  }

  private static func describe(_ round: BenchRound) -> String {
    let count = "\(Figures.count(round.failed)) of \(Figures.count(round.requests)) requests failed"
    return round.firstFailure.map { "\(count); the first: \($0)" } ?? count
  }

  // MARK: Results

  var pipelineRounds: [BenchRound] { rounds.withLock { $0.pipeline } }
  var bareRounds: [BenchRound] { rounds.withLock { $0.bare } }
  var hasWholeRound: Bool { !pipelineRounds.isEmpty }
  var pipelineLatency: LatencySnapshot { pipeline.latency }
  var bareLatency: LatencySnapshot? { bare?.latency }
  /// The metrics of the pipeline, including the warm-up.
  var metrics: MetricsSnapshot { pipeline.engine.metrics() }
}
