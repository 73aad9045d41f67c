import Glibc
public import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePluginFile
import SluicePluginHost
import SluiceSupport
public import SluiceTrial
public import SluiceUpdateRules

/// Keeps the plugins of a configuration current from signed releases.
///
///     let updater = try Updater(configuration)
///     let engine = try Engine(try await updater.prepare())
///     updater.follow(engine)
///
/// Can be used from any thread. Several updaters can use one folder, in one process or in several: they share
/// downloads, and each loads a release that another updater has installed.
public final class Updater: Sendable {
  let configuration: Configuration
  let settings: UpdateSettings
  let folder: UpdateFolder
  let history: UpdateHistory
  let verifier: any SignatureVerifier
  let offer: UpdateOffer
  let trial: (any LibraryTrial)?
  let log: @Sendable (LogLine) -> Void
  /// Returns the time. Tests replace this function.
  let clock: @Sendable () -> UpdateMoment
  let limits: MirrorLimits
  let service = Locked(Service())

  /// The engine of an updater, and what the updater keeps for it.
  struct Service: Sendable {
    var engine: Engine?
    var schedule: Task<Void, Never>?
    /// Makes a release pass its probation when its time is over.
    var passing: Task<Void, Never>?
    /// The last task that records a report of the engine. These tasks run one after the other.
    var notes: Task<Void, Never>?
    /// The configuration before plugins were switched off; nil if no plugin is switched off.
    var beforeDisabling: Configuration?
    /// The builds that the engine was told to refuse.
    var forbidden: Set<String> = []
    var isEnding = false
  }

  /// - Parameters:
  ///   - configuration: must have ``Configuration/update``.
  ///   - trial: tries builds out before they serve, when no engine does this.
  ///   - log: gets one line for each event; called from any thread.
  /// - Throws: if the folder cannot be used, or the crypto library cannot check signatures.
  public convenience init(
    _ configuration: Configuration, trial: (any LibraryTrial)? = nil,
    log: @escaping @Sendable (LogLine) -> Void = { _ in }
  ) throws(UpdateError) {
    try self.init(configuration, trial: trial, verifier: try Ed25519Verifier(), clock: Self.now, log: log)
  }

  package init(
    _ configuration: Configuration, trial: (any LibraryTrial)?, verifier: any SignatureVerifier,
    clock: @escaping @Sendable () -> UpdateMoment, limits: MirrorLimits = MirrorLimits(),
    log: @escaping @Sendable (LogLine) -> Void
  ) throws(UpdateError) {
    guard let settings = configuration.update else {
      throw UpdateError(
        .usage, configuration.file ?? "the configuration", "it has no \"update\"",
        advice: "add \"update\" with \"url\" and \"root\"; see docs/updates.md")
    }
    self.configuration = configuration
    self.settings = settings
    folder = try UpdateFolder(at: settings.folder)
    history = UpdateHistory(path: folder.historyPath)
    self.verifier = verifier
    let host = HostOffer()
    offer = UpdateOffer(
      architecture: Preflight.hostMachine, abi: host.abi, features: Set(host.features.names))
    self.trial = trial
    self.log = log
    self.clock = clock
    self.limits = limits
  }

  package static let now: @Sendable () -> UpdateMoment = {
    UpdateMoment(seconds: UniversalTime.now.components.seconds)
  }

  // MARK: What it keeps current

  /// The plugins that come from releases, in the engine's current configuration if there is an engine.
  var plugins: [PluginConfiguration] {
    let engine = service.withLock { $0.engine }
    return (engine?.currentConfiguration ?? configuration).plugins.filter { $0.releaseID != nil }
  }

  /// The ids of these plugins in releases.
  var ids: [String] { Set(plugins.compactMap(\.releaseID)).sorted() }

  // MARK: Looking for a release

  /// When to install a release that was found.
  public enum Timing: Sendable {
    /// At the time that `update.immediate` sets.
    case configured
    /// At once.
    case immediate
    /// At the next start or by a command: the release is only verified and downloaded now.
    case later
    /// Never: the release is only verified.
    case never
  }

  /// Looks for a release, verifies it, and installs it. If there is an engine, it has loaded the release when this
  /// function returns.
  /// - Parameters:
  ///   - minimum: a lower release counts as a failure, because the caller knows of a higher one.
  ///   - retriesHeld: whether a release that failed before is tried again.
  public func check(
    _ timing: Timing = .configured, minimum: Int64? = nil, retriesHeld: Bool = false
  ) async -> UpdateResult {
    var result: UpdateResult
    do throws(UpdateError) { result = try await checkOnce(timing, retriesHeld: retriesHeld) } catch {
      result = UpdateResult(action: .failed, message: "\(error)", error: error)
    }
    result.message = Self.words(result.message)
    let state = (try? folder.state()) ?? nil
    if let minimum, let version = state?.accepted?.version, version < minimum, result.error == nil {
      result.action = .failed
      result.message = "the mirror has release \(version), and release \(minimum) was announced"
    }
    result.release = state?.installed
    // A look that was cancelled because the process ends is not recorded, because it says nothing about the mirror.
    guard !Task.isCancelled, !service.withLock({ $0.isEnding }) else { return result }
    // A failure with the same message as the last one is not reported again.
    let told = state?.lastCheck?.message ?? history.newest(1).first?["message"]?.string
    if result.action == .failed, result.message != told {
      note(UpdateEvent(kind: .failed, message: result.message))
    }
    await remember(result)
    return result
  }

  /// Whether the newest release that was accepted is not installed because it has failed before.
  package var isNewestHeld: Bool {
    guard let state = (try? folder.state()) ?? nil, let held = state.held else { return false }
    return held.release == state.accepted?.version
  }

  // MARK: Reports

  /// Writes one line to the log and to the history.
  func note(_ event: UpdateEvent) {
    let level: LogLine.Level =
      switch event.kind {
      case .root, .accepted, .staged, .installed, .passed, .left, .none: .info
      case .returned, .refused, .revoked, .held, .failed: .warning
      }
    history.append(event, at: clock())
    log(LogLine(level: level, stage: event.plugin, message: event.line))
  }

  /// Makes a message safe for the state and the history, because it can quote text from a mirror or a plugin.
  static func words(_ message: String) -> String { PlainText.line(message, limitBytes: 2048) }

  /// Stores how a look ended, for the status.
  private func remember(_ result: UpdateResult) async {
    guard let session = try? await UpdateSession.begin(self) else { return }
    defer { session.end() }
    guard session.isKnown else { return }
    session.state.lastCheck = UpdateState.LastCheck(
      at: session.start, outcome: result.outcome.rawValue, message: result.message)
    try? session.save()
  }
}
