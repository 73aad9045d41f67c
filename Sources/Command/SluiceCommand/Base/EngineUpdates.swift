import Sluice
import SluicePluginHost
import SluiceTrial
import SluiceUpdate
import SluiceUpdateRules

/// What the engine of a command does with signed releases (``Configuration/update``).
enum EngineUpdates {
  /// Does nothing: the installed builds are loaded as they are.
  case ignored
  /// Checks the installed release before the start, and installs a release if none is installed.
  case installed
  /// As ``installed``; in addition, the engine looks for releases while it runs.
  case followed

  /// - Parameter start: starts the engine with the given configuration.
  func start(
    _ configuration: Configuration, _ start: (Configuration) throws(EngineError) -> Engine
  ) throws(CommandError) -> Engine {
    guard configuration.update != nil, self != .ignored else {
      do { return try start(configuration) } catch { throw EngineStart.failure(error) }
    }
    let updater = try Self.updater(configuration)
    let prepared = try Self.prepared(updater, isFollowed: self == .followed)
    let engine: Engine
    do { engine = try start(prepared) } catch {
      // If a release is on probation, the next process would otherwise take the end of this process for a failure of
      // the release.
      if !(error.underlying is PluginError) { WaitingThread.run { await updater.leaveProbation() } }
      throw EngineStart.failure(error)
    }
    if self == .followed { updater.follow(engine) }
    return engine
  }

  /// Fails if an installed build must not serve. Commands that load builds without an engine call this.
  static func check(_ configuration: Configuration) throws(CommandError) {
    guard configuration.update != nil else { return }
    let prepared = try prepared(try updater(configuration), isFollowed: false)
    for plugin in prepared.plugins where plugin.releaseID != nil && plugin.library == nil {
      throw CommandError(
        .refused,
        "plugin \"\(plugin.name)\" is switched off: its build must not serve, and no other is installed; \"sluice "
          + "update status\" says why")
    }
  }

  private static func prepared(_ updater: Updater, isFollowed: Bool) throws(CommandError) -> Configuration {
    try TaskPool.start()
    let ready: Result<Configuration, UpdateError> = WaitingThread.run {
      do throws(UpdateError) { return .success(try await updater.prepare(isFollowed: isFollowed)) } catch {
        return .failure(error)
      }
    }
    do { return try ready.get() } catch { throw failure(error) }
  }

  static func updater(_ configuration: Configuration) throws(CommandError) -> Updater {
    do {
      return try Updater(configuration, trial: HelperTrial(warn: EngineStart.warn)) { LogOutput.show($0) }
    } catch { throw failure(error) }
  }

  private static func failure(_ error: UpdateError) -> CommandError {
    let status: ExitStatus =
      switch error.code {
      case .usage: .usage
      case .refused, .signature, .rollback, .mismatch, .expired, .malformed, .unsupported: .refused
      default: .failed
      }
    return CommandError(status, "update: \(error)")
  }
}
