public import SluiceAssembly
import SluicePipeline
import SluicePluginFile
public import SluicePluginHost

extension Engine {
  /// Loads the libraries of plugins again from their paths, and publishes the new builds for new transactions.
  /// Transactions in flight finish on the builds with which they began.
  ///
  /// All instances of a library change together. If there are several libraries, either all of them are swapped or
  /// none. Swaps run one after the other. A newer swap for the same libraries supersedes a waiting swap. Cancelling the
  /// task cancels the swap unless it is already published. Can be called on any thread.
  ///
  /// - Parameter plugins: names in the configuration; nil for every library whose content has changed.
  /// - Returns: what was published, or that the content is the same.
  /// - Throws: why nothing was published; the current builds continue to serve.
  @discardableResult
  public func swap(plugins: [String]? = nil) async throws(SwapError) -> SwapReport {
    try await swap(plugins: plugins, sources: [:])
  }

  /// - Parameters:
  ///   - sources: for the path of a library, a file with content that somebody has read from that path. The engine reads
  ///     this file first, so that both decide about the same content. If this content is incomplete, the engine waits
  ///     for the rest at the library's path.
  ///   - canary: whether the new builds get a growing part of the traffic.
  package func swap(
    plugins: [String]?, sources: [String: String], canary: CanaryChoice = .configured
  ) async throws(SwapError) -> SwapReport {
    let kind = SwapQueue.Kind.swap(plugins.map { Set($0) }, endsCanary: canary == .none)
    return try Self.outcome(await swaps.submit(kind, sources: sources, canary: canary))
  }

  /// Publishes the canary for all new transactions, whatever its step.
  /// - Throws: if no canary is running.
  @discardableResult
  public func promoteCanary() async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.decide({ .promotion($0) }, because: "promoted by command"))
  }

  /// Ends the canary: no new transaction runs on it, and its builds are refused from then on.
  /// - Throws: if no canary is running.
  @discardableResult
  public func abortCanary() async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.decide({ .abort($0) }, because: "ended by command"))
  }

  /// Replaces the configuration: plugins, their settings, the lists of stages, and all other keys except those that an
  /// engine reads only when it starts. If such a key differs, the reload is refused, and the error names the key.
  /// Libraries whose content has changed are loaded again.
  @discardableResult
  public func reload(_ configuration: Configuration) async throws(SwapError) -> SwapReport {
    var configuration = configuration
    if isHosted { configuration.transport.loops = 1 }
    return try Self.outcome(await swaps.submit(.reload, configuration: configuration, canary: .none))
  }

  /// Returns to the previous snapshot. Other swaps that wait run after the rollback. If that snapshot is on standby, it
  /// serves again at once. Otherwise its builds are loaded again from their private copies. A rollback during a canary only
  /// ends the canary.
  @discardableResult
  public func rollback() async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.submit(.rollback))
  }

  /// The builds of the engine, the swaps so far, and what the engine waits for.
  public var status: EngineStatus { get async { await swaps.status() } }

  /// Refuses a build from now on, and records the refusal in the store. A swap to the build then fails.
  /// - Parameter hash: SHA-256 of the library, in hex.
  /// - Throws: if the text is not a hash, or if the store cannot be written. In the second case, only this engine
  ///   refuses the build.
  public func refuse(hash: String, because reason: String) throws(PluginError) {
    defer { swaps.endCanary(because: reason) { $0.hash == ContentHash(hex: hash) } }
    try swaps.store.refusalList().add(hash, because: reason)
  }

  /// Removes a build from the list of refused builds; nil removes all.
  /// - Throws: if the store cannot be used, or if a refusal remains in it. The next engine will read that refusal
  ///   again.
  public func clearRefusals(hash: String? = nil) throws(PluginError) {
    try swaps.store.refusalList().clear(hash)
  }

  private static func outcome(_ answer: (SwapReport, EngineError?)) throws(SwapError) -> SwapReport {
    switch answer.0.outcome {
    case .published, .canary, .unchanged, .rolledBack: return answer.0
    case .refused, .unfinished, .superseded, .cancelled, .shutdown:
      throw SwapError(report: answer.0, underlying: answer.1)
    }
  }
}
