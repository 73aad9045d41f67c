import CAttachABI
import SluiceAssembly
import SluiceForeign
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceTraceContext

/// The pipeline of a process under `sluice attach`.
final class AttachedPipeline: Sendable {
  private static let laneCount = 4
  private static let endLimit = Duration.seconds(1)

  private let pipeline: ForeignPipeline
  private let reporter: any Reporter
  private let events: EventFile?
  /// The caller's trace, from the environment of the program.
  let parent: ParentContext
  let callOuts: CallOutService
  let explains: Bool

  init(_ plan: Plan, _ program: ProgramFunctions, reporter: any Reporter) {
    let callOuts = CallOutService(program)
    self.callOuts = callOuts
    self.reporter = reporter
    explains = plan.explains
    events = plan.events.map { EventFile(in: $0) }
    parent = Propagators.ofEnvironment().extract(from: EnvironmentCarrier.process).parent
    pipeline = ForeignPipeline(
      plan.configuration, lanes: Self.laneCount, host: "sluice attach",
      features: .attached(runsResponseStages: plan.configuration.attach.runsResponseStages),
      callOuts: { CallOutTransport($0, callOuts, besides: $1) },
      log: { reporter.log($0) })
  }

  /// Begins a transfer. Returns nil if its request cannot go through a pipeline. A nil answer means that a stage is
  /// suspended.
  func begin(_ form: sluice_attach_request, blocks: Bool) -> (transfer: AttachedTransfer, answer: Answer?)? {
    let lane = pipeline.freeLane()
    lane.loop.enter()
    defer { lane.loop.leave() }
    guard var request = Request(form, urls: lane.urls) else { return nil }
    request.wantsExplanation = explains
    let transfer = AttachedTransfer(self, lane)
    return (transfer, transfer.begin(consume request, blocks: blocks))
  }

  /// Makes the instances of a plan and publishes them; transfers that have begun keep the earlier instances.
  func take(_ plan: Plan) throws(EngineError) {
    if plan.libraries.values.contains(where: \.callsOut) { callOuts.noteUse() }
    try pipeline.take(plan) { configuration in
      if !configuration.attach.runsResponseStages { configuration.response = [] }
      callOuts.settings = configuration.transport
      events?.append(to: &configuration)
    }
  }

  /// Reports a transfer that has ended.
  func report(_ result: TransactionResult) {
    if let failure = events?.flush() { reporter.log(LogLine(level: .warning, message: failure)) }
    reporter.report(result)
  }

  /// Ends all parts. Call it when the process ends.
  func close() {
    pipeline.close()
    callOuts.threads.close(within: Self.endLimit)
  }
}
