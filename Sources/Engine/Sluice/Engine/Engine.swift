package import SluiceAssembly
import SluiceJSON
package import SluiceLoop
public import SluiceMessages
public import SluicePipeline
import SluicePluginHost
import SluiceSupport
public import SluiceTraceContext
import SluiceTransport
package import SluiceTrial
import Synchronization

/// Runs requests through the pipeline of a configuration.
///
///     let engine = try await Engine(Configuration(file: "sluice.json"))
///     let response = try await engine.perform(Request(url: HTTPURL("https://example.com/")))
///     await engine.shutdown()
///
/// Can be used from any thread. Requests are distributed over the engine's loops. A request that is submitted on a loop
/// runs on that loop.
public final class Engine: Sendable {
  let workers: [Worker]
  /// Publishes the snapshots and replaces them. Each worker has its own reference to the pipeline.
  let swaps: SwapCoordinator
  private let limits: EngineLimits
  private let next = Atomic<Int>(0)
  let isClosed = Atomic<Bool>(false)
  /// Whether the only loop belongs to the program.
  let isHosted: Bool
  private let unsentFields = UnsentFields()
  private let unsentTrace = UnsentTrace()
  private let delegate: (any TransactionDelegate)?
  /// Whether there is a delegate. It is stored, because each request would otherwise copy the delegate.
  private let hasDelegate: Bool
  /// Keeps the plugins up to date; nil if there is no updater.
  let updater = Locked<(any EngineUpdater)?>(nil)
  let notificationHandler = Locked<(@Sendable (String, JSONValue) async -> WorkOutcome?)?>(nil)

  /// Loads the plugins, starts the loops and activates the instances. If a step fails, the earlier steps are undone.
  /// - Parameters:
  ///   - sources: files from which libraries are read at the start instead of from their paths in the configuration.
  ///     With them, a restarted engine can begin with the builds that served.
  ///   - wrap: wraps the transport of each loop; nil wraps none.
  package init(
    _ configuration: Configuration, sources: [String: String], on hosted: HostedLoop? = nil,
    delegate: (any TransactionDelegate)? = nil, trial: (any LibraryTrial)? = nil,
    minimumLogLevel: LogLine.Level = .debug, wrap: TransportWrapper? = nil,
    log: @escaping @Sendable (LogLine) -> Void
  ) throws(EngineError) {
    self.delegate = delegate
    hasDelegate = delegate != nil
    limits = configuration.limits
    var configuration = configuration
    isHosted = hosted != nil
    if isHosted { configuration.transport.loops = 1 }
    workers = try Self.startWorkers(configuration, hosted?.loop, wrap)
    do throws(EngineError) {
      swaps = try SwapCoordinator(
        configuration, sources: sources, workers: workers, delegate: delegate?.binding(in: nil), trial: trial,
        minimumLogLevel: minimumLogLevel, log: log)
    } catch {
      for worker in workers { _ = worker.loop.shutdown(within: SnapshotDraft.undoLimit) }
      throw error
    }
    swaps.runtime.reportMetrics { [weak self] in self?.metricsDocument() }
  }

  /// The base of relative URLs.
  public var baseURL: HTTPURL? { swaps.published.configuration.baseURL }

  /// The configuration of the serving snapshot.
  package var configuration: Configuration { swaps.published.configuration }

  /// The number of the snapshot on which new transactions run.
  package var snapshotNumber: Int { swaps.published.number }

  /// The limit for response bodies that are collected.
  package var maximumHeldResponseBytes: Int { swaps.published.configuration.transport.maximumHeldResponseBytes }

  /// Where the engine finds libraries that its configuration gives by name.
  package var installedPlugins: InstalledPlugins { swaps.published.configuration.installedPlugins }

  /// - Parameter hosted: the only loop, if it has no thread of its own.
  private static func startWorkers(
    _ configuration: Configuration, _ hosted: Loop?, _ wrap: TransportWrapper?
  ) throws(EngineError) -> [Worker] {
    let empty = Pipeline(loops: configuration.transport.loops)
    let callOuts = EngineCallOuts()
    let approvals = TrustApprovals()
    var workers: [Worker] = []
    do throws(TransportError) {
      for index in 0..<configuration.transport.loops {
        let loop = if let hosted { hosted } else { try Loop(index: index) }
        do throws(TransportError) {
          let transport = try HTTPTransport(loop: loop, settings: configuration.transport, approvals: approvals)
          let worker = Worker(loop: loop, transport: wrap?(loop, transport) ?? transport, pipeline: empty)
          worker.environment.callOuts = callOuts
          workers.append(worker)
        } catch {
          loop.shutdown()
          throw error
        }
      }
    } catch {
      for worker in workers { worker.loop.shutdown() }
      throw .transport(error)
    }
    return workers
  }

  /// Begins a transaction and returns at once.
  ///
  /// - Parameters:
  ///   - parent: the trace context that the request belongs to. If it is nil, the context of the task is used,
  ///     `TraceContext.current`.
  ///   - sink: takes the response body piece by piece; nil collects it.
  ///   - delegate: decides about redirects and challenges before the engine's own delegate; retained until the
  ///     transaction has ended.
  ///   - completion: called exactly once, on a loop of the engine. It must not block. If the engine is shut down or has
  ///     as many transactions in flight as ``EngineLimits/transactions`` allows, it is called before `submit` returns.
  ///     A completion that submits again must therefore check the error first. If a stage does not return and blocks
  ///     the loop, the completion is called on another thread, with the code `stalled`.
  public func submit(
    _ request: Request, parent: ParentContext? = nil, sink: (any BodySink)? = nil,
    delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil,
    completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    submit(
      request, parent: parent, sink: sink, checks: nil, delegate: delegate, cancellation: cancellation,
      completion: completion)
  }

  /// - Parameter checks: the checks of the response, which replace those of the configuration. If they have an
  ///   extraction, the body is collected.
  package func submit(
    _ request: consuming Request, parent: ParentContext? = nil, sink: (any BodySink)? = nil,
    checks: ResponseChecks?, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil,
    completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    if request.client == nil, let warning = unsentFields.warning(about: request) { swaps.log(warning) }
    // The task's context is read here, because the code on the loop runs in another task or in none.
    let parent = parent ?? taskParent
    let context = delegate == nil ? nil : CallerContext()
    let completion = hasDelegate || delegate != nil ? observed(completion, delegate, context) : completion
    let binding = delegate == nil ? nil : Self.binding(delegate, context)
    if let worker = currentWorker {
      // A drain checks on this loop, and sees every transaction that began before it. The order of these steps is
      // therefore safe without a count.
      guard !isClosed.load(ordering: .sequentiallyConsistent) else {
        return completion(Submission.refused(request, Self.isShutDown))
      }
      guard owedCount < limits.transactions else { return completion(Submission.refused(request, tooMany)) }
      return worker.begin(request, parent, sink, checks, binding, cancellation, completion)
    }
    let submission = Submission(request, parent, sink, checks, binding, cancellation, completion)
    let worker = nextWorker
    // The request is counted before the check whether the engine is closed. A shutdown therefore either sees the
    // request or refuses it.
    worker.submitted.wrappingAdd(1, ordering: .sequentiallyConsistent)
    let isClosed = isClosed.load(ordering: .sequentiallyConsistent)
    guard !isClosed, owedCount <= limits.transactions else {
      worker.submitted.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      return submission.refuse(isClosed ? Self.isShutDown : tooMany)
    }
    worker.enqueue(submission)
  }

  private var taskParent: ParentContext {
    guard let context = TraceContext.current else { return .absent }
    if let warning = unsentTrace.warning({ swaps.published.configuration }) { swaps.log(warning) }
    return context.parent
  }

  /// The number of transactions that were submitted and have no result, on all loops together.
  private var owedCount: Int {
    var count = 0
    // `Unmanaged` avoids a retain of each worker for each request. It is safe, because the engine keeps its workers.
    for index in workers.indices {
      count += Unmanaged.passUnretained(workers[index])._withUnsafeGuaranteedRef { $0.owedCount }
    }
    return count
  }

  private var tooMany: TransactionError {
    TransactionError(
      code: .tooManyTransactions,
      message:
        "\(limits.transactions) transactions are in flight, as many as limits.transactions allows; submit fewer at a "
        + "time, or raise the limit",
      isBeforeSending: true)
  }

  /// Calls the delegates before the completion. It is not inlined, because few requests have a delegate.
  @inline(never)
  private func observed(
    _ completion: @escaping @Sendable (TransactionResult) -> Void, _ own: (any TransactionDelegate)?,
    _ context: CallerContext?
  ) -> @Sendable (TransactionResult) -> Void {
    { [delegate] result in
      if let own, let context { context.run { own.transactionDidComplete(result) } }
      delegate?.transactionDidComplete(result)
      completion(result)
    }
  }

  /// The function is not inlined, so that only requests with a delegate copy it.
  @inline(never)
  private static func binding(_ delegate: (any TransactionDelegate)?, _ context: CallerContext?) -> StageBinding? {
    delegate?.binding(in: context)
  }

  static let isShutDown = TransactionError(
    code: .shutdown, message: "the engine was shut down before the request was submitted",
    isBeforeSending: true)

  private var currentWorker: Worker? {
    guard let index = Loop.currentIndex, index < workers.count else { return nil }
    let worker = workers[index]
    // `Unmanaged` is safe here, because the worker keeps its loop.
    return Unmanaged.passUnretained(worker.loop)._withUnsafeGuaranteedRef(\.isCurrent) ? worker : nil
  }

  /// Chooses each loop in turn. A stuck loop is chosen only if all loops are stuck.
  private var nextWorker: Worker {
    let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
    let worker = workers[turn % workers.count]
    guard worker.isStuck else { return worker }
    return Worker.moving(workers, after: turn) ?? worker
  }

  /// The loops, for tasks that prefer one: `Task(executorPreference: engine.executors[0])`. Calls of the engine from
  /// such a task do not switch threads.
  public var executors: [any TaskExecutor] { workers.map(\.loop) }

  /// The loops, in the order of their indexes.
  package var loops: [Loop] { workers.map(\.loop) }

  /// The sum of the counts of all loops so far.
  public func metrics() -> MetricsSnapshot {
    swaps.metrics()
  }
}

/// The call-outs of one engine, for its recordings.
private final class EngineCallOuts: CallOutLog {
  private let recent = Locked((untaken: RecentCallOuts(), all: RecentCallOuts()))

  func note(_ call: RecordedCallOut) {
    recent.withLock { recent in
      recent.untaken.append(call)
      recent.all.append(call)
    }
  }

  func takeAll() -> [RecordedCallOut] { recent.withLock { $0.untaken.takeAll() } }
  var last: [RecordedCallOut] { recent.withLock { $0.all.calls } }
}
