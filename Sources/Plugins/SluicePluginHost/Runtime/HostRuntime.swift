package import SluiceJSON
package import SluiceMessages
package import SluicePipeline
import SluiceSupport
import Synchronization

/// The objects that all instances of one engine share: its loops, its log, its blocking threads, and the values that
/// outlive generations.
package final class HostRuntime: Sendable {
  package typealias Log = @Sendable (PluginLogEntry) -> Void
  /// Answers a challenge with a user and a password. Returns the value of the credentials header, or nil if the
  /// challenge cannot be answered with a user and a password.
  package typealias CredentialAnswer =
    @Sendable (
      _ user: [UInt8], _ password: [UInt8], _ offer: ChallengeOffer, _ exchange: Exchange
    ) -> String?

  /// The loops by their index.
  package let loops: [LoopEnvironment]
  package let programName: String
  package let programVersion: String
  package let features: HostFeatures
  package let isTrial: Bool
  package let isShared: Bool
  /// Whether another process has checked that the plugins' schemas are valid; a check costs a millisecond.
  let trustsSchemas: Bool
  /// Whether call-outs in a trial are answered instead of refused.
  let answersCallOuts: Bool
  private let limits: Locked<CallOutLimits>
  let log: Log
  /// Log lines of plugins below this level are dropped.
  let minimumLogLevel: PluginLogEntry.Level
  /// nil in a host that answers no challenges.
  let credentials: CredentialAnswer?
  let noteLacking: @Sendable (HostFeatures, String) -> Void
  let pool: BlockingPool
  /// Counts the BLOCKING calls under way: calls in the pool and calls that wait for their turn.
  let blockingCalls: CallCount
  /// A separate pool for `[control]` calls, so that these calls and BLOCKING stages do not wait for each other.
  let control: BlockingPool
  /// A separate pool for functions that plugins run with `sluice.work/1`, so that these functions and BLOCKING stages
  /// do not wait for each other.
  let work: BlockingPool
  let gate = Gate()
  private let fixedTime = Atomic<UInt64>(0)
  private let next = Atomic<Int>(0)
  private let values = Locked<[String: ValueTable]>([:])
  /// The tables by the ids of plugins.
  private let shared = Locked<[String: SharedTable]>([:])
  private let sharedVersions = SharedTable.Counter()
  private let reporter = Locked<Reporter?>(nil)

  /// A structure for the function: a function that is stored in a generic container itself gets one more wrapper each
  /// time it is read.
  private struct Reporter {
    let report: @Sendable () -> JSONValue?
  }

  /// - Parameters:
  ///   - features: the features that the host offers its plugins. Calls of other features return "not supported", and
  ///     functions of a plugin for other features are never called.
  ///   - isTrial: whether the plugins run in a trial: `SLUICE_HOST_TRIAL`.
  ///   - isShared: whether requests come from several clients: `SLUICE_HOST_SHARED`.
  ///   - callOuts: the limits for requests that plugins make themselves.
  ///   - blockingCalls: the maximum number of BLOCKING calls under way, including those that wait.
  ///   - blockingThreads: the maximum number of BLOCKING calls that run at the same time.
  ///   - minimumLogLevel: log lines of plugins below this level are dropped; plugins can query it.
  ///   - credentials: called on the loop of the exchange.
  ///   - noteLacking: called on any thread when an instance first asks for a function or a table of a feature that the
  ///     host does not offer, with the feature and what the plugin asked for.
  ///   - log: called on any thread; must not block for long.
  package init(
    loops: [LoopEnvironment], programName: String, programVersion: String, features: HostFeatures = .offered,
    isTrial: Bool = false, isShared: Bool = false, trustsSchemas: Bool = false,
    callOuts: CallOutLimits = CallOutLimits(), blockingCalls: Int = 1_024, blockingThreads: Int = 16,
    credentials: CredentialAnswer? = nil,
    minimumLogLevel: PluginLogEntry.Level = .debug,
    noteLacking: @escaping @Sendable (HostFeatures, String) -> Void = { _, _ in }, log: @escaping Log
  ) {
    self.loops = loops
    self.programName = programName
    self.programVersion = programVersion
    self.features = features
    self.isTrial = isTrial
    self.isShared = isShared
    self.trustsSchemas = trustsSchemas
    answersCallOuts = loops.contains { $0.callOutTransport != nil }
    limits = Locked(callOuts)
    self.log = log
    self.minimumLogLevel = minimumLogLevel
    self.credentials = credentials
    self.noteLacking = noteLacking
    self.blockingCalls = CallCount(limit: blockingCalls)
    pool = BlockingPool(maximumThreads: blockingThreads)
    control = BlockingPool(maximumThreads: 16, name: "sluice-control")
    work = BlockingPool(maximumThreads: blockingThreads, name: "sluice-work")
  }

  /// Stops accepting work from plugins: `post`, timers and blocking calls are refused from here on. Call it before the
  /// loops end. Returns false if a blocking call was still running after `limit`.
  @discardableResult
  package func close(within limit: Duration = .seconds(5)) -> Bool {
    gate.close()
    // The limit is zero for these two pools, because each instance waits for its own control calls and work.
    _ = control.close(within: .zero)
    _ = work.close(within: .zero)
    return pool.close(within: limit)
  }

  /// The limits for requests that plugins make themselves; a change applies to later requests.
  package var callOuts: CallOutLimits {
    get { limits.withLock { $0 } }
    set { limits.withLock { $0 = newValue } }
  }

  /// Sets the function that returns the host's counts for plugins; it is called on any thread, at any time.
  package func reportMetrics(with report: @escaping @Sendable () -> JSONValue?) {
    reporter.withLock { $0 = Reporter(report: report) }
  }

  /// The host's counts for plugins; nil in a host without reports.
  func metricsReport() -> JSONValue? {
    reporter.withLock { $0 }?.report()
  }

  /// The host's offer. A library is compared with it before any of its code runs.
  package var offer: HostOffer { HostOffer(host: programName, features: features) }

  /// The monotonic clock. [any]
  package var now: Instant { loops.first?.loop.now ?? .distantFuture }

  /// From now on, plugins get this time as that of the wall clock, in nanoseconds since 1970-01-01T00:00:00Z; with 0 they
  /// get the time of the system. [any]
  package func fixWallClock(at time: UInt64) { fixedTime.store(time, ordering: .relaxed) }

  /// What plugins get as the time of the wall clock; nil in a host without loops. [any]
  var wallClock: Duration? {
    let fixed = fixedTime.load(ordering: .relaxed)
    return fixed == 0 ? loops.first?.loop.wallClock : .nanoseconds(Int64(clamping: fixed))
  }

  /// The loop for a new timer. On the thread of a loop it is that loop, because a timer fires on the loop that started
  /// it. On other threads, the loops take turns.
  var timerLoop: (any EventLoop)? { (currentLoop ?? nextLoop)?.loop }

  /// Posts the job to a loop. Returns false if the host is closing. The host closes the gate before the loops end, so a
  /// job that is posted inside the gate reaches its loop.
  func post(to loop: any EventLoop, _ job: @escaping @Sendable () -> Void) -> Bool {
    gate.pass { loop.post(job) }
  }

  /// The loop on whose thread this code runs; nil on any other thread.
  var currentLoop: LoopEnvironment? { loops.first { $0.loop.isCurrent } }

  /// A loop for work that belongs to no loop. The loops take turns. A stuck loop is chosen only if all loops are stuck.
  var nextLoop: LoopEnvironment? {
    guard !loops.isEmpty else { return nil }
    let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
    for step in loops.indices {
      let loop = loops[(turn % loops.count + step) % loops.count]
      if !loop.isStuck.load(ordering: .relaxed) { return loop }
    }
    return loops[turn % loops.count]
  }

  func shared(of plugin: String) -> SharedTable {
    shared.withLock { shared in
      if let table = shared[plugin] { return table }
      let table = SharedTable(sharedVersions)
      shared[plugin] = table
      return table
    }
  }

  func values(of instance: String) -> ValueTable {
    values.withLock { values in
      if let table = values[instance] { return table }
      let table = ValueTable()
      values[instance] = table
      return table
    }
  }
}
