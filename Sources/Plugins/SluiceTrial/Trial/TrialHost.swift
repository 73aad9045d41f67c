import SluiceJSON
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport

/// A host for one plugin in a child process. It has real event loops, but does not use the network.
final class TrialHost: Sendable {
  /// Returns the wire's answer to a request. Called on a loop.
  typealias Answer = @Sendable (Request) -> StubTransport.Reply

  /// The time limit for a transaction that only the plugin can delay.
  static let patience = Duration.seconds(5)

  let loops: [Loop]
  let runtime: HostRuntime
  private let lines = Locked<[PluginLogEntry]>([])

  /// - Parameters:
  ///   - loops: the number of loops.
  ///   - features: what the host offers to its plugins.
  ///   - callOutAnswer: the response to call-outs of plugins; nil refuses call-outs.
  ///   - noteLacking: called on any thread when the plugin first asks for something of a feature that is not offered.
  init(
    loops count: Int = 1, features: HostFeatures = .offered, callOutAnswer: Response? = nil,
    noteLacking: @escaping @Sendable (HostFeatures, String) -> Void = { _, _ in },
    answer: @escaping Answer = { _ in .response(Response(status: 200)) }
  ) throws(TrialFailure) {
    var loops: [Loop] = []
    do {
      for index in 0..<count { loops.append(try Loop(index: index)) }
    } catch { throw TrialFailure("no event loop could be made: \(error.message)") }
    self.loops = loops
    let lines = lines
    runtime = HostRuntime(
      loops: loops.map { loop in
        let environment = LoopEnvironment(
          loop: loop, transport: StubTransport(loop: loop, readsBodies: true, answer: answer))
        environment.callOutTransport = callOutAnswer.map { response in
          StubTransport(loop: loop) { _ in .response(response) }
        }
        return environment
      },
      programName: "sluice", programVersion: "trial", features: features, isTrial: true,
      noteLacking: noteLacking
    ) { entry in
      lines.withLock { if $0.count < 1000 { $0.append(entry) } }
    }
  }

  /// The log lines of the plugin and the host.
  var log: [PluginLogEntry] { lines.withLock { $0 } }

  /// The text of the log about the first violation of a kind. Unlike the kind's own text, it also names the function.
  func detail(of kind: Violation) -> Substring {
    let details = log.lazy.compactMap { entry in
      entry.message.firstRange(of: kind.text).map { entry.message[$0.lowerBound...] }
    }
    return details.first ?? kind.text[...]
  }

  /// From now on, ends the process when a call of the library has closed a descriptor of the loops. Called before the
  /// library is loaded, after ``ProcessChanges`` was made.
  func guardDescriptors(_ channel: TrialChannel) {
    ProcessWatch.guardDescriptors(loops.flatMap { $0.poller.descriptors }) { channel.lose() }
  }

  /// Stops accepting work from the plugin, and ends the loops.
  func close() {
    runtime.close(within: Self.patience)
    for loop in loops { loop.shutdown() }
  }

  /// Makes a pipeline in which this instance is the only stage: it is in each list of stages that the pipeline has.
  /// - Parameter place: the place with its own configuration; nil for an instance without places.
  func pipeline(
    _ instance: PluginInstance, at place: PluginPlace? = nil,
    settings: PipelineSettings = PipelineSettings(deadline: patience)
  ) -> Pipeline {
    let stages = [StageBinding(name: instance.name, interceptor: place ?? instance)]
    let tracers =
      instance.capabilities.contains(.trace)
      ? [TracerBinding(name: instance.name, tracer: instance, budget: nil)] : []
    return Pipeline(
      requestStages: stages, issueStages: stages, responseStages: stages, tracers: tracers, settings: settings,
      loops: loops.count, resources: [instance])
  }

  /// Runs a transaction to its end. Returns nil if it does not end, which happens only if a loop hangs.
  func run(_ request: Request, through pipeline: Pipeline, loop index: Int = 0) -> TransactionResult? {
    start(request, through: pipeline, loop: index).wait()
  }

  /// Begins a transaction on a loop.
  func start(
    _ request: Request, through pipeline: Pipeline, loop index: Int = 0, cancelling: Bool = false
  ) -> TrialTransaction {
    let started = TrialTransaction()
    let environment = runtime.loops[index]
    environment.loop.post {
      let transaction = Transaction.begin(request, on: environment, through: pipeline) { started.finish($0) }
      guard !started.hasEnded else { return }
      started.note(suspended: environment.suspensions.suspendedCount > 0)
      if cancelling { transaction.cancel() }
    }
    return started
  }
}

/// A running transaction, for a thread that waits for its result.
final class TrialTransaction: Sendable {
  private struct State: Sendable {
    var result: TransactionResult?
    var wasSuspended = false
  }
  private let state = Monitor(State())

  var hasEnded: Bool { state.withLock { $0.result != nil } }
  /// Whether a call was suspended right after the transaction had begun.
  var wasSuspended: Bool { state.withLock { $0.wasSuspended } }

  /// Waits for the result. Returns nil if there is none after twice the deadline.
  func wait() -> TransactionResult? { state.wait(upTo: TrialHost.patience * 2) { $0.result } }

  func finish(_ result: TransactionResult) { state.update { $0.result = result } }
  func note(suspended: Bool) { state.withLock { $0.wasSuspended = suspended } }
}

/// Why a trial ends without a result.
struct TrialFailure: Error {
  enum Kind {
    case failed
    /// The check could not be run.
    case skipped
    /// The plugin does not have the feature.
    case absent
  }

  let reason: String
  let kind: Kind

  init(_ reason: String, _ kind: Kind = .failed) {
    self.reason = reason
    self.kind = kind
  }

  static func skip(_ reason: String) -> TrialFailure { TrialFailure(reason, .skipped) }
  static func absent(_ reason: String) -> TrialFailure { TrialFailure(reason, .absent) }
}
