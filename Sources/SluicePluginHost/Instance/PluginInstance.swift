import CSluice
import Glibc
import SluiceJSON
import SluiceMessages
package import SluicePipeline
package import SluicePluginImage
import SluiceSupport
import Synchronization

/// A plugin with a configuration: made, activated, called by the pipeline, deactivated, destroyed once.
///
///     init (create) ─ activate ─ calls … ─ deactivate ─ destroy
///
/// The owner calls the lifecycle from one thread at a time and drains the transactions before `deactivate`. An instance
/// that is let go without `destroy` destroys itself.
package final class PluginInstance: Interceptor, Tracer, @unchecked Sendable {
  // Sendable: everything is written in `init` only; the C tables and the plugin's pointer are called under the ABI's
  // rules for threads.
  /// In the configuration.
  package let name: String
  package let generation: PluginGeneration
  package let capabilities: StageCapabilities
  let runtime: HostRuntime
  let seat: HostSeat
  let subject: CallSubject
  let handle: UnsafeMutableRawPointer
  let calls: sluice_interceptor
  let bodyCalls: sluice_body
  let tracerCalls: sluice_tracer
  let notificationCalls: sluice_notifications
  let stateCalls: sluice_state
  let stageCalls: sluice_stage
  /// Calls one at a time; nil where they may come at once.
  let turns: TurnQueue?
  let isBlocking: Bool
  /// Tokens that the host has taken for calls that wait for a turn or run on the pool; the plugin knows nothing of them.
  let hostTokens = Locked<Set<SuspensionToken>>([])
  let timers = TimerSet()
  let callOuts = CallOutSet()
  let work = WorkSet()
  let streams = ResponseStreamSet()
  /// What `create_stage` gave for its places, in that order.
  let stages = Locked<[UncheckedPointer]>([])
  /// on_notification and on_schedule; opened by `activate`, closed by `deactivate`.
  let control: ControlQueue
  /// What the plugin has to report.
  let completions = CompletionTable()
  /// In the order in which the plugin defined them in `create`; frozen since.
  let metrics: [PluginMetric]
  let scheduleReports = Locked<[String: ScheduleReport]>([:])
  /// Posted functions, call-outs and blocking calls that have not returned.
  let openWork = Monitor(0)
  private let state = Locked(State.created)
  /// Whether scheduled work is done: not before the instance is published, nor while another serves in its place.
  private let serves = Atomic<Bool>(true)

  enum State: Sendable {
    case created, active, inactive, destroyed
    /// A call did not return; nothing is called any more, and nothing is released.
    case abandoned
  }

  /// How often the plugin broke which rule.
  package var violations: ViolationCounters { seat.violations }

  /// What the plugin recorded so far.
  package var metricSnapshots: [PluginMetricSnapshot] { metrics.map { $0.snapshot(stage: name) } }

  /// Checks the configuration against the plugin's schema and calls `create`.
  ///
  /// - Parameters:
  ///   - predecessor: the instance that this one is to follow: metrics that both define go on.
  ///   - hostTable: makes the table of functions that the plugin is given; those functions know the instance, which knows
  ///     none of them.
  init(
    _ generation: PluginGeneration, name: String, configuration: JSONValue, runtime: HostRuntime,
    following predecessor: PluginInstance?, hostTable: (HostRuntime, String) -> sluice_host
  ) throws(PluginError) {
    try ConfigurationCheck.check(configuration, for: generation, name: name)
    let subject = CallSubject(
      generation.library?.copy, stage: name, plugin: generation.id, generation: generation.number)
    let tables = try subject.call(.lookUp) { () throws(PluginError) in
      try PluginTables(generation, name: name, features: runtime.features)
    }
    let seat = HostSeat.make(
      name: name, plugin: generation.id, generation: generation.number, runtime: runtime,
      continuing: predecessor?.metrics ?? [], table: hostTable(runtime, name))
    handle = try subject.call(.create) { () throws(PluginError) in
      try Self.create(generation, name: name, configuration, seat)
    }
    self.subject = subject
    metrics = seat.metrics.freeze()
    self.name = name
    self.generation = generation
    self.runtime = runtime
    self.seat = seat
    calls = tables.interceptor
    bodyCalls = tables.body
    tracerCalls = tables.tracer
    notificationCalls = tables.notifications
    stateCalls = tables.state
    stageCalls = tables.stage
    control = ControlQueue(pool: runtime.control)
    capabilities = tables.capabilities
    turns = tables.interceptor.flags & UInt32(SLUICE_FLAG_SERIAL) != 0 ? TurnQueue() : nil
    isBlocking = tables.interceptor.flags & UInt32(SLUICE_FLAG_BLOCKING) != 0
    seat.seat(self)
  }

  deinit { _ = destroy(within: .zero) }

  private static func create(
    _ generation: PluginGeneration, name: String, _ configuration: JSONValue, _ seat: HostSeat
  ) throws(PluginError) -> UnsafeMutableRawPointer {
    let subject = PluginError.Subject.plugin(name: name, path: generation.path)
    if let program = generation.program {
      do { return try program.create(seat.table, configuration) } catch {
        throw PluginError(.createFailed, subject, "\(error)")
      }
    }
    var handle: UnsafeMutableRawPointer?
    let (status, message) = PluginErrorBuffer.collect { error in
      configuration.withUnsafeJSON { generation.table.create(seat.table, $0, &handle, error) }
    }
    guard status == Status.ok else {
      throw PluginError(.createFailed, subject, message ?? "create answered \(status) and gave no reason")
    }
    guard let handle else {
      throw PluginError(
        .createFailed, subject, "create answered OK and gave no instance",
        advice: "its author has to set *instance or to return an error")
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
    // As the ABI says: without `deactivate`.
    state.withLock { $0 = .inactive }
    _ = destroy(within: Self.cleanUpLimit)
    throw PluginError(
      .activateFailed, .plugin(name: name, path: generation.path),
      message ?? "activate answered \(status) and gave no reason")
  }

  /// For completions that follow a failed `activate`.
  private static let cleanUpLimit = Duration.seconds(5)

  /// Cancels timers, ends what is open, calls `deactivate`, and then cancels call-outs: what a plugin still has to send, it can
  /// send there. The transactions that use the instance must be over, and the loops must run. A timer or control call that has
  /// not returned at the limit means that the instance is given up. [control]
  package func deactivate(within limit: Duration) {
    defer { callOuts.close() }
    guard move(from: [.active], to: .inactive) != nil, endCalls(within: limit) else { return }
    subject.call(.deactivate) { generation.table.deactivate?(handle, limit.nanoseconds) }
  }

  /// Calls `destroy` once, after `deactivate` and when everything that the instance posted has run. Where that takes
  /// longer than the limit the instance is given up without being destroyed, and false is the answer. [control]
  @discardableResult
  package func destroy(within limit: Duration) -> Bool {
    deactivate(within: limit)
    guard let before = move(from: [.created, .inactive], to: .destroyed) else { return isDestroyed }
    guard endCalls(within: limit) else { return false }
    guard openWork.wait(upTo: limit, { $0 == 0 ? true : nil }) == true else {
      state.withLock { $0 = before }
      seat.log(.error, "still has work under way and was not destroyed; it stays in memory")
      return false
    }
    destroyStages()
    subject.call(.destroy) { generation.table.destroy(handle) }
    return true
  }

  /// No timer fires, and nothing is called on a control thread from here on; what is open is cut off. False, and the
  /// instance is abandoned, where a call has not returned at the limit.
  private func endCalls(within limit: Duration) -> Bool {
    let haveTimersReturned = timers.cancelAll(within: limit)
    closeWork()
    let hasControlReturned = control.close(within: limit)
    completions.closeAll()
    if haveTimersReturned && hasControlReturned { return true }
    state.withLock { $0 = .abandoned }
    let call = hasControlReturned ? "a timer's function" : "on_notification or on_schedule"
    seat.log(
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

  /// Whether its scheduled work is done. New instances serve; one that is to be published first does from then on.
  package var isServing: Bool {
    get { serves.load(ordering: .relaxed) }
    set { serves.store(newValue, ordering: .relaxed) }
  }

  /// What it has under way beside transactions: timers, outcomes that are due, call-outs, posted functions. [any]
  package var openWorkCounts: (timers: Int, completions: Int, calls: Int) {
    (timers.count, completions.openCount, openWork.withLock { $0 })
  }
}
