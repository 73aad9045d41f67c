public import SluicePluginHost

extension Engine {
  /// Loads the libraries of plugins again from their paths, and publishes the new builds for new transactions. Running
  /// transactions finish on the build they began with.
  ///
  /// All instances of a library change together, and several libraries at once or not at all. Swaps come one after the
  /// other; one that waits is superseded by a newer one for the same libraries. Cancelling the task takes the swap back until
  /// it is published. From any thread.
  ///
  /// - Parameter plugins: names in the configuration; nil for every library whose content has changed.
  /// - Returns: what was published, or that the content is the same.
  /// - Throws: why nothing was published; what served goes on.
  @discardableResult
  public func swap(plugins: [String]? = nil) async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.submit(.swap(plugins.map { Set($0) })))
  }

  /// Replaces the configuration: plugins, their settings, the lists of stages, and everything else except keys that an
  /// engine reads only when it starts; a change of those is refused by name. Libraries whose content has changed are
  /// loaded again.
  @discardableResult
  public func reload(_ configuration: Configuration) async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.submit(.reload, configuration: configuration))
  }

  /// Goes back to the snapshot before the one that serves, ahead of swaps that wait: at once while it stands by, else by
  /// loading its builds again from their private copies.
  @discardableResult
  public func rollback() async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.submit(.rollback))
  }

  /// What serves, what did, and what keeps it.
  public var status: EngineStatus { get async { await swaps.status() } }

  /// Refuses a build from now on, and remembers it in the store: a swap to it fails.
  /// - Parameter hash: SHA-256 of the library, in hex.
  /// - Throws: where it is no hash; and where the store cannot be written to: then the build is refused by this engine alone.
  public func refuse(hash: String, because reason: String) throws(PluginError) {
    try swaps.registry.refusalList().add(hash, because: reason)
  }

  /// Takes a build off the list of those that are refused; nil takes off all.
  /// - Throws: where the store cannot be used, or keeps a refusal: the next engine has that one again.
  public func clearRefusals(hash: String? = nil) throws(PluginError) {
    try swaps.registry.refusalList().clear(hash)
  }

  private static func outcome(_ answer: (SwapReport, EngineError?)) throws(SwapError) -> SwapReport {
    switch answer.0.outcome {
    case .published, .unchanged, .rolledBack: return answer.0
    case .refused, .superseded, .cancelled, .shutdown: throw SwapError(report: answer.0, underlying: answer.1)
    }
  }
}
