public import SluiceAssembly
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
public import SluicePluginImage

extension Engine {
  /// Loads the libraries of plugins again from their paths, and publishes the new builds for new transactions. Running
  /// transactions finish on the build they began with.
  ///
  /// All instances of a library change together, and several libraries at once or not at all. Swaps run one after the
  /// other; a newer swap for the same libraries supersedes a waiting one. Cancelling the task cancels the swap, until
  /// it is published. From any thread.
  ///
  /// - Parameter plugins: names in the configuration; nil for every library whose content has changed.
  /// - Returns: what was published, or that the content is the same.
  /// - Throws: why nothing was published; the current builds continue to serve.
  @discardableResult
  public func swap(plugins: [String]? = nil) async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.submit(.swap(plugins.map { Set($0) })))
  }

  /// Replaces the configuration: plugins, their settings, the lists of stages, and everything else except keys that an
  /// engine reads only when it starts; a change of those is refused by name. Libraries whose content has changed are
  /// loaded again.
  @discardableResult
  public func reload(_ configuration: Configuration) async throws(SwapError) -> SwapReport {
    var configuration = configuration
    if isHosted { configuration.transport.loops = 1 }
    return try Self.outcome(await swaps.submit(.reload, configuration: configuration))
  }

  /// Returns to the previous snapshot, ahead of waiting swaps. This happens at once if that snapshot is on standby;
  /// otherwise its builds are loaded again from their private copies.
  @discardableResult
  public func rollback() async throws(SwapError) -> SwapReport {
    try Self.outcome(await swaps.submit(.rollback))
  }

  /// The builds of the engine, the swaps so far, and what the engine waits for.
  public var status: EngineStatus { get async { await swaps.status() } }

  /// Refuses a build from now on, and remembers it in the store: a swap to it fails.
  /// - Parameter hash: SHA-256 of the library, in hex.
  /// - Throws: if the text is not a hash, or if the store cannot be written; in the second case only this engine
  ///   refuses the build.
  public func refuse(hash: String, because reason: String) throws(PluginError) {
    try swaps.registry.refusalList().add(hash, because: reason)
  }

  /// Removes a build from the list of refused builds; nil removes all.
  /// - Throws: if the store cannot be used, or still has a refusal, which the next engine will read again.
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
