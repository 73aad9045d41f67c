import SluiceLocks
package import SluicePipeline

/// What the instances of one engine share: its loops, its log, its blocking threads, and the values that outlive
/// generations.
package final class HostRuntime: Sendable {
  package typealias Log = @Sendable (PluginLogEntry) -> Void

  /// By their index.
  package let loops: [LoopEnvironment]
  package let programName: String
  package let programVersion: String
  package let isProbe: Bool
  let log: Log
  let pool: BlockingPool
  let gate = Gate()
  private let values = Locked<[String: ValueTable]>([:])

  /// - Parameters:
  ///   - isProbe: plugins are only tried out: `SLUICE_HOST_PROBE`.
  ///   - blockingThreads: how many BLOCKING calls run at once.
  ///   - log: called on any thread; must not block for long.
  package init(
    loops: [LoopEnvironment], programName: String, programVersion: String, isProbe: Bool = false,
    blockingThreads: Int = 16, log: @escaping Log
  ) {
    self.loops = loops
    self.programName = programName
    self.programVersion = programVersion
    self.isProbe = isProbe
    self.log = log
    pool = BlockingPool(maximumThreads: blockingThreads)
  }

  /// Takes nothing new from plugins: `post`, timers and blocking calls are refused from here on. Call it before the
  /// loops end. False when a blocking call was still running at the limit.
  @discardableResult
  package func close(within limit: Duration = .seconds(5)) -> Bool {
    gate.close()
    return pool.close(within: limit)
  }

  /// Runs the job on a loop unless the host is closing. Whoever passes the gate has posted before the loops end.
  func post(to loop: any EventLoop, _ job: @escaping @Sendable () -> Void) -> Bool {
    gate.pass { loop.post(job) }
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
