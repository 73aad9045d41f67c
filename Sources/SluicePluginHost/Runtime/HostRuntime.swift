package import SluiceJSON
package import SluiceMessages
package import SluicePipeline
package import SluicePluginImage
import SluiceSupport
import Synchronization

/// What the instances of one engine share: its loops, its log, its blocking threads, and the values that outlive
/// generations.
package final class HostRuntime: Sendable {
  package typealias Log = @Sendable (PluginLogEntry) -> Void
  /// The value of the credentials header that answers a challenge with a user and a password; nil if they cannot.
  package typealias CredentialAnswer =
    @Sendable (
      _ user: [UInt8], _ password: [UInt8], _ offer: ChallengeOffer, _ exchange: Exchange
    ) -> String?

  /// By their index.
  package let loops: [LoopEnvironment]
  package let programName: String
  package let programVersion: String
  package let features: HostFeatures
  package let isTrial: Bool
  /// Whether call-outs in a trial are answered instead of refused.
  let answersCallOuts: Bool
  private let limits: Locked<CallOutLimits>
  let log: Log
  /// Log lines of plugins below this level are dropped.
  let minimumLogLevel: PluginLogEntry.Level
  /// nil in a host that answers no challenges.
  let credentials: CredentialAnswer?
  let pool: BlockingPool
  /// Counts the BLOCKING calls under way: those in the pool and those that wait for their turn.
  let blockingCalls: CallCount
  /// For `[control]` calls, so that those and BLOCKING stages do not wait for each other.
  let control: BlockingPool
  /// For functions that plugins run with `sluice.work/1`, so that those and BLOCKING stages do not wait for each other.
  let work: BlockingPool
  let gate = Gate()
  private let next = Atomic<Int>(0)
  private let values = Locked<[String: ValueTable]>([:])
  /// By the ids of plugins.
  private let shared = Locked<[String: SharedTable]>([:])
  private let sharedVersions = SharedTable.Counter()
  private let report = Locked<(@Sendable () -> JSONValue?)?>(nil)

  /// - Parameters:
  ///   - features: what the host does for its plugins. The calls of other features answer that they are not supported,
  ///     and functions of a plugin that belong to other features are never called.
  ///   - isTrial: plugins are only tried out: `SLUICE_HOST_TRIAL`.
  ///   - callOuts: what requests of the plugins' own may take.
  ///   - blockingCalls: how many BLOCKING calls may be under way, including those that wait.
  ///   - blockingThreads: how many of them run at once.
  ///   - minimumLogLevel: plugins may ask for it; their lines below it are dropped.
  ///   - credentials: called on the loop of the exchange.
  ///   - log: called on any thread; must not block for long.
  package init(
    loops: [LoopEnvironment], programName: String, programVersion: String, features: HostFeatures = .offered,
    isTrial: Bool = false,
    callOuts: CallOutLimits = CallOutLimits(), blockingCalls: Int = 1_024, blockingThreads: Int = 16,
    credentials: CredentialAnswer? = nil,
    minimumLogLevel: PluginLogEntry.Level = .debug, log: @escaping Log
  ) {
    self.loops = loops
    self.programName = programName
    self.programVersion = programVersion
    self.features = features
    self.isTrial = isTrial
    answersCallOuts = loops.contains { $0.callOutTransport != nil }
    limits = Locked(callOuts)
    self.log = log
    self.minimumLogLevel = minimumLogLevel
    self.credentials = credentials
    self.blockingCalls = CallCount(limit: blockingCalls)
    pool = BlockingPool(maximumThreads: blockingThreads)
    control = BlockingPool(maximumThreads: 16, name: "sluice-control")
    work = BlockingPool(maximumThreads: blockingThreads, name: "sluice-work")
  }

  /// Takes nothing new from plugins: `post`, timers and blocking calls are refused from here on. Call it before the
  /// loops end. False when a blocking call was still running at the limit.
  @discardableResult
  package func close(within limit: Duration = .seconds(5)) -> Bool {
    gate.close()
    // Each instance waits for its own calls.
    _ = control.close(within: .zero)
    _ = work.close(within: .zero)
    return pool.close(within: limit)
  }

  /// What requests of the plugins' own may take; a change holds for those that begin after it.
  package var callOuts: CallOutLimits {
    get { limits.withLock { $0 } }
    set { limits.withLock { $0 = newValue } }
  }

  /// Gives plugins what the host has counted; called on any thread, at any time.
  package func reportMetrics(with report: @escaping @Sendable () -> JSONValue?) {
    self.report.withLock { $0 = report }
  }

  /// Nil in a host that reports nothing.
  func metricsReport() -> JSONValue? {
    let report = report.withLock { $0 }
    return report?()
  }

  /// What libraries are held against before any of their code runs.
  package var offer: HostOffer { HostOffer(host: programName, features: features) }

  /// The monotonic clock. [any]
  package var now: Instant { loops.first?.loop.now ?? .distantFuture }

  /// The loop that calls, or where none does one after the other: timers fire where they were started.
  var timerLoop: (any EventLoop)? { (currentLoop ?? nextLoop)?.loop }

  /// Runs the job on a loop unless the host is closing. A thread that passes the gate posts before the loops end.
  func post(to loop: any EventLoop, _ job: @escaping @Sendable () -> Void) -> Bool {
    gate.pass { loop.post(job) }
  }

  /// The loop whose thread calls; nil on any other.
  var currentLoop: LoopEnvironment? { loops.first { $0.loop.isCurrent } }

  /// A loop for work that belongs to none, each in turn.
  var nextLoop: LoopEnvironment? {
    guard !loops.isEmpty else { return nil }
    return loops[(next.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % loops.count]
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
