import CSluice
import Glibc
import SluiceJSON
import SluiceMessages
package import SluicePipeline
import SluiceSupport
import Synchronization

/// A plugin with a configuration. It is created, activated, deactivated and destroyed once each; between activation and
/// deactivation, the pipeline calls it.
///
///     init (create) ─ activate ─ calls … ─ deactivate ─ destroy
///
/// The owner calls these functions on one thread at a time, and drains the transactions before `deactivate`. An
/// instance that is released without `destroy` destroys itself.
package final class PluginInstance: Interceptor, Tracer, @unchecked Sendable {
  // Sendable: all members are written only in `init`. The C tables are called, and the plugin's pointer is used, under
  // the ABI's rules for threads.
  /// The name in the configuration.
  package let name: String
  package let generation: PluginGeneration
  package let capabilities: StageCapabilities
  let runtime: HostRuntime
  let hostHandle: HostHandle
  let subject: CallSubject
  let handle: UnsafeMutableRawPointer
  let calls: sluice_interceptor
  let bodyCalls: sluice_body
  let tracerCalls: sluice_tracer
  let notificationCalls: sluice_notifications
  let stateCalls: sluice_state
  let stageCalls: sluice_stage
  /// Lets one call run at a time; nil if several calls can run at the same time.
  let turns: SerialTurns?
  let isBlocking: Bool
  /// Whether the host takes the tokens of calls that have to wait: for their turn, or for a thread of the pool.
  let hasHostTokens: Bool
  /// The tokens of calls that wait for a turn or run on the pool. The host has taken these tokens itself, so the plugin
  /// does not know them.
  let hostTokens = Locked<Set<SuspensionToken>>([])
  let timers = TimerSet()
  let callOuts = CallOutSet()
  let work = WorkSet()
  let streams = ResponseStreamSet()
  /// The objects that `create_stage` has returned for the places of this instance, the oldest first.
  let stages = Locked<[UncheckedPointer]>([])
  /// The queue of the calls of on_notification and on_schedule. `activate` opens it, and `deactivate` closes it.
  let control: ControlQueue
  /// The notifications and the scheduled work whose outcome the plugin must still report.
  let completions = CompletionTable()
  /// The metrics in the order in which the plugin defined them in `create`; they do not change later.
  let metrics: [PluginMetric]
  let scheduleReports = Locked<[String: ScheduleReport]>([:])
  /// Posted functions, call-outs and blocking calls that have not returned.
  let openWork = Monitor(0)
  private let state = Locked(State.created)
  /// Whether scheduled work runs. False before the instance is published, and while another instance serves in its
  /// place.
  private let serves = Atomic<Bool>(true)

  enum State: Sendable {
    case created, active, inactive, destroyed
    /// A call did not return in time. The host no longer calls functions of the instance, and releases nothing that
    /// belongs to it.
    case abandoned
  }

  /// The number of violations by rule.
  package var violations: ViolationCounters { hostHandle.violations }

  /// The plugin's metrics so far.
  package var metricSnapshots: [PluginMetricSnapshot] { metrics.map { $0.snapshot(stage: name) } }

  /// Checks the configuration against the plugin's schema and calls `create`.
  ///
  /// - Parameters:
  ///   - predecessor: the previous instance. Metrics that both instances define keep their numbers.
  ///   - hostTable: makes the table of functions that the plugin gets. It is a parameter because these functions depend
  ///     on this type, and this type must not depend on them.
  init(
    _ generation: PluginGeneration, name: String, configuration: JSONValue, runtime: HostRuntime,
    following predecessor: PluginInstance?, hostTable: (HostRuntime, String) -> sluice_host
  ) throws(PluginError) {
    try ConfigurationCheck.check(configuration, for: generation, name: name, runtime: runtime)
    let subject = CallSubject(
      generation.library?.copy, stage: name, plugin: generation.id, generation: generation.number)
    let tables = try subject.call(.lookUp) { () throws(PluginError) in
      try PluginTables(generation, name: name, features: runtime.features)
    }
    let hostHandle = HostHandle.make(
      name: name, plugin: generation.id, generation: generation.number, runtime: runtime,
      continuing: predecessor?.metrics ?? [], table: hostTable(runtime, name))
    handle = try subject.call(.create) { () throws(PluginError) in
      try Self.create(generation, name: name, configuration, hostHandle)
    }
    self.subject = subject
    metrics = hostHandle.metrics.freeze()
    self.name = name
    self.generation = generation
    self.runtime = runtime
    self.hostHandle = hostHandle
    calls = tables.interceptor
    bodyCalls = tables.body
    tracerCalls = tables.tracer
    notificationCalls = tables.notifications
    stateCalls = tables.state
    stageCalls = tables.stage
    control = ControlQueue(pool: runtime.control)
    capabilities = tables.capabilities
    turns = tables.interceptor.flags & UInt32(SLUICE_FLAG_SERIAL) != 0 ? SerialTurns() : nil
    isBlocking = tables.interceptor.flags & UInt32(SLUICE_FLAG_BLOCKING) != 0
    hasHostTokens = isBlocking || turns != nil
    hostHandle.bind(to: self)
  }

  deinit { _ = destroy(within: .zero) }

  private static func create(
    _ generation: PluginGeneration, name: String, _ configuration: JSONValue, _ hostHandle: HostHandle
  ) throws(PluginError) -> UnsafeMutableRawPointer {
    let subject = PluginError.Subject.plugin(name: name, path: generation.path)
    if let program = generation.program {
      do { return try program.create(hostHandle.table, configuration) } catch {
        throw PluginError(.createFailed, subject, "\(error)")
      }
    }
    var handle: UnsafeMutableRawPointer?
    let (status, message) = PluginErrorBuffer.collect { error in
      configuration.withUnsafeJSON { generation.table.create(hostHandle.table, $0, &handle, error) }
    }
    guard status == Status.ok else {
      throw PluginError(.createFailed, subject, message ?? "create answered \(status) and gave no reason")
    }
    guard let handle else {
      throw PluginError(
        .createFailed, subject, "create answered OK but gave no instance",
        advice: "its author must set *instance or return an error")
    }
    return handle
  }

  /// Calls `activate`. An instance whose activation fails is destroyed. [control]
  package func activate() throws(PluginError) {
    guard move(from: [.created], to: .active) != nil else { return }
    let (status, message) = PluginErrorBuffer.collect { error in
      subject.call(.activate) { generation.table.activate?(handle, error) ?? Status.ok }
    }
    guard status != Status.ok else { return control.open() }
    // After a failed `activate`, the ABI forbids the call of `deactivate`.
    state.withLock { $0 = .inactive }
    _ = destroy(within: Self.cleanUpLimit)
    throw PluginError(
      .activateFailed, .plugin(name: name, path: generation.path),
      message ?? "activate answered \(status) and gave no reason")
  }

  /// The time for which a failed `activate` waits until running functions of the instance have returned.
  private static let cleanUpLimit = Duration.seconds(5)

  /// Cancels timers, ends open work, calls `deactivate`, and then cancels call-outs; so the plugin can still send data
  /// in `deactivate`. The transactions that use the instance must be over, and the loops must run. If a timer function
  /// or a control call has not returned after `limit`, the instance is abandoned. [control]
  package func deactivate(within limit: Duration) {
    defer { callOuts.close() }
    guard move(from: [.active], to: .inactive) != nil, endCalls(within: limit) else { return }
    subject.call(.deactivate) { generation.table.deactivate?(handle, limit.nanoseconds) }
  }

  /// Calls `destroy` once, after `deactivate` and after all posted functions of the instance have run. If that takes
  /// longer than the limit, the instance is left behind without being destroyed, and this returns false. [control]
  @discardableResult
  package func destroy(within limit: Duration) -> Bool {
    deactivate(within: limit)
    guard let before = move(from: [.created, .inactive], to: .destroyed) else { return isDestroyed }
    guard endCalls(within: limit) else { return false }
    guard openWork.wait(upTo: limit, { $0 == 0 ? true : nil }) == true else {
      state.withLock { $0 = before }
      hostHandle.log(.error, "still has work under way and was not destroyed; it stays in memory")
      return false
    }
    destroyStages()
    subject.call(.destroy) { generation.table.destroy(handle) }
    let lists = hostHandle.openHostLists.load(ordering: .acquiring)
    if lists > 0 { hostHandle.report(.unreleasedList, "\(lists)") }
    return true
  }

  /// Cancels the timers, closes the control queue, and ends open work. If a call has not returned after `limit`, the
  /// instance is abandoned, and the result is false.
  private func endCalls(within limit: Duration) -> Bool {
    let haveTimersReturned = timers.cancelAll(within: limit)
    closeWork()
    let hasControlReturned = control.close(within: limit)
    completions.closeAll()
    if haveTimersReturned && hasControlReturned { return true }
    state.withLock { $0 = .abandoned }
    let call = hasControlReturned ? "a timer's function" : "on_notification or on_schedule"
    hostHandle.log(
      .error, "has not returned from \(call) in time; it is neither deactivated nor destroyed, and stays in memory")
    return false
  }

  private func move(from allowed: [State], to next: State) -> State? {
    state.withLock { state in
      guard allowed.contains(state) else { return nil }
      defer { state = next }
      return state
    }
  }

  var isDestroyed: Bool { state.withLock { $0 == .destroyed } }

  /// Whether the scheduled work of the instance runs. It is true by default; the owner sets it to false for an instance
  /// that it publishes only later.
  package var isServing: Bool {
    get { serves.load(ordering: .relaxed) }
    set { serves.store(newValue, ordering: .relaxed) }
  }

  /// The current work of the instance besides transactions: timers, open outcomes, call-outs, posted functions. [any]
  package var openWorkCounts: (timers: Int, completions: Int, calls: Int) {
    (timers.count, completions.openCount, openWork.withLock { $0 })
  }
}
