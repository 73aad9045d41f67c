import CEnvoy
import Glibc
import SluiceAssembly
import SluiceForeign
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport
import SluiceTraceContext
import Synchronization

/// The pipeline of one plan folder, for all configurations of the filter that name the folder.
final class EnvoyHost: Sendable {
  private struct State {
    var users = 1
    var status = PlanStatus()
    /// The `current` that was tried last, so that the same plan is not tried again.
    var tried: Int?
  }

  /// The open hosts by their folder.
  private static let opened = Locked<[String: EnvoyHost]>([:])

  private let folder: PlanFolder
  private let pipeline: ForeignPipeline
  private let state: Locked<State>
  /// The filters whose requests are on their way, by the index of the lane.
  let onTheirWay: [FilterTable]
  private let watch: PlanWatch
  private let selfCheck = Atomic<Int>(0)
  private let issueFilters = Atomic<Int>(0)
  private let hasPlanChanges = Atomic<Bool>(true)

  // MARK: Configurations

  /// Opens a folder, or returns its open host.
  ///
  /// - Parameter isIssue: whether the configuration is that of an upstream filter.
  static func open(_ path: String, isIssue: Bool) throws(EnvoyRefusal) -> EnvoyHost {
    try opened.withLock { hosts throws(EnvoyRefusal) in
      let host: EnvoyHost
      if let known = hosts[path] {
        host = known
        host.state.withLock { $0.users += 1 }
      } else {
        host = try EnvoyHost(PlanFolder(path))
        hosts[path] = host
      }
      if isIssue { host.issueFilters.add(1, ordering: .relaxed) }
      return host
    }
  }

  /// Whether any cluster has the upstream filter.
  var hasIssueFilters: Bool { issueFilters.load(ordering: .relaxed) > 0 }

  /// A configuration no longer uses the host. The last one ends its threads.
  func release(isIssue: Bool) {
    if isIssue { issueFilters.subtract(1, ordering: .relaxed) }
    let isLast = Self.opened.withLock { hosts in
      let users = state.withLock { state in
        state.users -= 1
        return state.users
      }
      if users == 0 { hosts[folder.path] = nil }
      return users == 0
    }
    guard isLast else { return }
    watch.stop()
    pipeline.close()
    PlanStatus.remove(from: folder)
  }

  private init(_ folder: PlanFolder) throws(EnvoyRefusal) {
    self.folder = folder
    do {
      guard let first = try folder.currentNumber() else {
        throw EnvoyRefusal(
          "\(PlainText.path(folder.path)) has no plan; make one with \"sluice envoy plan -c FILE -o"
            + " \(PlainText.path(folder.path))\"")
      }
      // A plan that comes while this one is read is seen when the watch starts.
      watch = try PlanWatch(folder.path)
      let number = try folder.currentNumber() ?? first
      let plan = try EnvoyPlan.read(try folder.read(number))
      pipeline = ForeignPipeline(
        plan.configuration, lanes: Self.laneCount, host: "sluice envoy", features: .envoy, isShared: true,
        callOuts: { _, _ in nil }, log: { EnvoyLog.write($0) })
      try pipeline.take(plan, prepare: Self.limitSuspensions, check: Self.check)
      var state = State()
      state.tried = number
      state.status.serves(number)
      self.state = Locked(state)
      onTheirWay = pipeline.lanes.map { _ in FilterTable() }
    } catch let error as EnvoyRefusal { throw error } catch { throw EnvoyRefusal("\(error)") }
    writeStatus()
    watch.start { [weak self] in self?.look() }
    EnvoyLog.write(.info, "plan \(state.withLock { $0.status.plan }) of \(PlainText.path(folder.path)) serves")
  }

  /// A request waits at most this long for a suspended stage that has no `deadline` of its own. Elsewhere, the deadline of
  /// the transaction ends such a call, but Envoy decides how long a transaction lasts.
  private static let patience = Duration.seconds(30)

  private static func limitSuspensions(_ configuration: inout Configuration) {
    let stages = Set((configuration.request + configuration.response).map(\.plugin))
    for index in configuration.plugins.indices where stages.contains(configuration.plugins[index].name) {
      configuration.plugins[index].deadline = configuration.plugins[index].deadline ?? patience
    }
  }

  /// Envoy keeps what it may have to send again in the buffer that pieces would pass through, so a route with retries would
  /// send bytes twice.
  private static func check(_ pipeline: Pipeline) throws(EngineError) {
    guard pipeline.changesRequestPieces,
      let stage = pipeline.requestStages.first(where: { $0.capabilities.contains(.requestPieces) })
    else { return }
    throw .plugin(
      PluginError(
        .missingFeature, .plugin(name: stage.name, path: ""),
        "it sees the body of a request piece by piece, which is not supported in Envoy"), ConfigurationLocation())
  }

  /// More than one lane for each worker does no harm; with fewer, workers share some.
  private static var laneCount: Int { min(max(8, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))), 256) }

  // MARK: Plans

  /// Something in the folder has changed.
  private func look() {
    let tried = state.withLock { $0.tried }
    var number: Int?
    do {
      number = try folder.currentNumber()
      guard let number, number != tried else { return writeStatus() }
      let began = MonotonicClock.now
      let plan = try EnvoyPlan.read(try folder.read(number))
      try pipeline.take(plan, prepare: Self.limitSuspensions, check: Self.check)
      state.withLock { $0.status.serves(number) }
      EnvoyLog.write(.info, "plan \(number) serves, after \((MonotonicClock.now - began).milliseconds) ms")
    } catch {
      let name = number.map { "plan \($0)" } ?? "the next plan"
      let reason = "\(name) is refused, and plan \(state.withLock { $0.status.plan }) serves on: \(error)"
      // A link that leads elsewhere has no number, and each look finds it again.
      let isNew = state.withLock { $0.status.refuses(number, "\(error)") }
      if isNew { EnvoyLog.write(.error, reason) }
    }
    state.withLock { $0.tried = number ?? $0.tried }
    writeStatus()
  }

  private func writeStatus() {
    let status = state.withLock { $0.status }
    hasPlanChanges.store(true, ordering: .relaxed)
    status.write(to: folder, pipeline.published)
  }

  /// What has changed about plans since the last call; nil if nothing has.
  func takePlanChanges() -> EnvoyMetrics.PlanChanges? {
    guard hasPlanChanges.exchange(false, ordering: .relaxed) else { return nil }
    return state.withLock { $0.status.takeChanges() }
  }

  // MARK: Streams

  /// Envoy does not check with which of its versions a module works. So the module sets a field of the first stream, and
  /// reads it back. Returns false if that fails; then no stream passes.
  func works(with stream: EnvoyStream) -> Bool {
    switch selfCheck.load(ordering: .relaxed) {
    case Self.passed: return true
    case Self.failed: return false
    default: break
    }
    let hasPassed = stream.readsBack()
    selfCheck.store(hasPassed ? Self.passed : Self.failed, ordering: .relaxed)
    if !hasPassed {
      EnvoyLog.write(
        .error,
        "a header that the module has set cannot be read back; this version of Envoy is not supported, and no"
          + " stream passes")
    }
    return hasPassed
  }

  private static let passed = 1
  private static let failed = 2

  /// The lane of the calling worker.
  var lane: Lane { pipeline.lanes[sluice_envoy_thread_number() % pipeline.lanes.count] }

  private static let propagators = Propagators(["tracecontext", "baggage"].compactMap { Propagators.named($0) })

  func parent(of request: borrowing Request) -> ParentContext {
    let hasContext = request.headers.contains("traceparent") || request.headers.contains("baggage")
    return hasContext ? Self.propagators.extract(from: request.headers).parent : ParentContext()
  }

  func log(_ level: EnvoyLog.Level, _ message: String) { EnvoyLog.writeSeldom(level, message) }

  /// A transaction has ended.
  func note(_ result: TransactionResult) {
    guard let error = result.error, error.code != .cancelled else { return }
    let stage = error.stage.map { "stage \"\($0)\": " } ?? ""
    log(.warning, "transaction \(result.id) failed: \(stage)\(error.message)")
  }
}

/// Filters by numbers that are not used again. The lock is free nearly always, because one worker uses the table.
final class FilterTable: Sendable {
  private struct State {
    var next = 1
    var filters: [Int: EnvoyFilter] = [:]
  }

  private let state = Locked(State())

  /// Returns the filter's number.
  func add(_ filter: EnvoyFilter) -> Int {
    state.withLock { state in
      defer { state.next += 1 }
      state.filters[state.next] = filter
      return state.next
    }
  }

  func remove(_ number: Int) { state.withLock { $0.filters[number] = nil } }

  subscript(_ number: Int) -> EnvoyFilter? { state.withLock { $0.filters[number] } }
}
