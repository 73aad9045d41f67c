package import SluiceAssembly
import SluiceLoop
import SluiceMessages
package import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceSupport
import SluiceTransport

/// The pipeline of a configuration in a child process, with one loop, its own instances, and recorded answers in place
/// of the wire.
///
/// Plugins are told that it is a trial: their call-outs get recorded answers, and nothing is scheduled. Tracers are left
/// out.
package final class ReplayHost: Sendable {
  private let loop: Loop
  private let clock: ReplayLoop
  private let environment: LoopEnvironment
  private let hosting: PluginHosting
  private let draft: SnapshotDraft
  private let pipeline: Pipeline
  private let wire = ReplayWire()
  private let callOuts: ReplayCallOuts
  private let patience: Duration

  /// Loads the libraries, and creates and activates the instances.
  /// - Parameters:
  ///   - time: what the wall clock shows until the first exchange.
  ///   - callOuts: answers the call-outs of plugins.
  ///   - step: gets the description of each step before the step begins, for the report of a crash.
  package init(
    _ configuration: Configuration, copies: [String: String], key: MessageHash.Key, patience: Duration,
    time: Duration, callOuts: ReplayCallOuts, step: @escaping @Sendable (String) -> Void
  ) throws(EngineError) {
    let configuration = Self.prepared(configuration)
    self.patience = patience
    self.callOuts = callOuts
    let transport: StubTransport
    do {
      loop = try Loop()
      // This transport only reads and writes the files of bodies.
      let files = try HTTPTransport(loop: loop, settings: configuration.transport)
      let (clock, wire) = (ReplayLoop(loop), wire)
      clock.wallClock = time
      self.clock = clock
      transport = StubTransport(loop: clock, files: files) { _ in wire.answer() }
      environment = LoopEnvironment(loop: clock, transport: transport)
      environment.callOutTransport = StubTransport(loop: clock, files: files) { callOuts.answer($0) }
    } catch { throw .transport(error) }
    environment.waitsToRetry = false
    hosting = PluginHosting(
      runtime: HostRuntime(
        loops: [environment], programName: "sluice", programVersion: Product.version, isTrial: true,
        credentials: Credentials.answer, log: { _ in }),
      log: { _ in })
    var generations: [String: LoadedGeneration] = [:]
    for path in configuration.libraries {
      let plugin = configuration.plugins.first { $0.library == path }
      do throws(PluginError) {
        guard let copy = copies[path] else {
          throw PluginError(.trialUnavailable, .plugin(name: plugin?.name, path: path), "has no copy to replay")
        }
        generations[path] = try Self.load(copy, as: path, configuration, hosting, step)
      } catch { throw .plugin(error, plugin?.location ?? ConfigurationLocation()) }
    }
    draft = hosting.draft(configuration, generations)
    step("in create of its instances")
    try draft.create()
    pipeline = try draft.snapshot(
      1, loops: 1, challengeResponder: CredentialResponder(configuration.credentialPolicy), journalKey: key
    ).pipeline
    transport.whenStalled = { [unowned environment, clock, pipeline] in
      clock.post { environment.passDeadlines(on: pipeline) }
    }
    step("in activate of its instances")
    try draft.activate()
  }

  private static func prepared(_ configuration: Configuration) -> Configuration {
    var prepared = configuration
    prepared.transport.loops = 1
    prepared.tracers = []
    // Samples, which are at most this large, do not go to a file.
    prepared.transport.spillBytes = max(prepared.transport.spillBytes, 1 << 20)
    // With this budget, the decision about a retry depends only on the exchange itself, and not on earlier exchanges.
    prepared.retry.budget = 100
    for index in prepared.plugins.indices { prepared.plugins[index].delivery = .inline }
    return prepared
  }

  private static func load(
    _ copy: String, as path: String, _ configuration: Configuration, _ hosting: PluginHosting,
    _ step: (String) -> Void
  ) throws(PluginError) -> LoadedGeneration {
    let staged = try StagedLibrary(borrowing: copy, as: path, offer: hosting.runtime.offer)
    step("while it was loaded (in a constructor, or a global initializer)")
    let loaded = try staged.load()
    step("in its entry point")
    return try hosting.enter(loaded, of: path, for: configuration.plugins(of: path))
  }

  /// Runs one exchange. Returns nil if the exchange does not end. This happens only if a stage does not return.
  /// - Parameter index: the number of the exchange.
  package func replay(
    _ exchange: RecordedExchange, index: Int, watcher: @escaping @Sendable (String, StageCall.Callback) -> Void
  ) -> ReplayedExchange? {
    let result = Monitor<TransactionResult?>(nil)
    let request = Self.request(exchange)
    wire.begin(exchange.hops)
    callOuts.begin(exchange: index)
    clock.wallClock = exchange.time
    let (environment, pipeline) = (environment, pipeline)
    clock.post {
      environment.loop.random = RandomBits(seed: UInt64(index) + 1)
      environment.stageWatcher = watcher
      Transaction.begin(request, on: environment, through: pipeline, parent: exchange.parent) { ended in
        result.update { $0 = ended }
      }
    }
    guard let ended = result.wait(upTo: patience, { $0 }) ?? expired(result) else { return nil }
    var replayed = ReplayedExchange(
      calls: ended.journal ?? [], attempts: ended.attempts, error: ended.error,
      response: ended.response.map { pipeline.settings.journal.changes(making: $0) } ?? [])
    (replayed.callOuts, replayed.unansweredCallOuts) = callOuts.takeNotes(pipeline.settings.journal)
    return replayed
  }

  /// Ends the call of a stage that does not resume. This happens long before the deadline of the transaction, because a
  /// replay must not wait that long.
  private func expired(_ result: Monitor<TransactionResult?>) -> TransactionResult? {
    let (environment, pipeline, patience) = (environment, pipeline, patience)
    clock.post {
      environment.expireSuspensions(
        on: pipeline, reason: "it did not resume within the \(patience) that a replay waits")
    }
    return result.wait(upTo: patience) { $0 }
  }

  private static func request(_ exchange: RecordedExchange) -> Request {
    var request = exchange.request
    request.wantsJournal = true
    request.wantsRecording = false
    if exchange.isRequestStreamed, let bytes = request.body.bytes {
      let rest = Locked(bytes[...])
      request.body = .stream(
        BodyStream { maximum in
          rest.withLock { rest in
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(maximum) }
            return Array(rest.prefix(maximum))
          }
        })
    }
    return request
  }

  /// Ends the instances.
  package func close() {
    draft.undo()
    hosting.runtime.close(within: SnapshotDraft.undoLimit)
    loop.shutdown()
  }
}
