import Glibc
public import SluiceAssembly
import SluiceEngine
import SluiceJSON
import SluiceMessages
import SluicePluginFile
import SluicePluginImage
import SluiceSupport
public import SluiceTrial
public import SluiceUpdateRules

/// Keeps the plugins of a configuration current from signed releases.
///
///     let updater = try Updater(configuration)
///     let engine = try Engine(try await updater.prepare())
///     updater.follow(engine)
///
/// Can be used from any thread. Several updaters may use one folder, in one process or in several: they share downloads,
/// and follow each other.
public final class Updater: Sendable {
  let configuration: Configuration
  let settings: UpdateSettings
  let folder: UpdateFolder
  let history: UpdateHistory
  let verifier: any SignatureVerifier
  let offer: UpdateOffer
  let trial: (any LibraryTrial)?
  let log: @Sendable (LogLine) -> Void
  /// The time; tests set it.
  let clock: @Sendable () -> UpdateMoment
  let limits: MirrorLimits
  let service = Locked(Service())

  /// What an updater knows of its engine.
  struct Service: Sendable {
    var engine: Engine?
    var schedule: Task<Void, Never>?
    /// Notes the end of a probation by time.
    var passing: Task<Void, Never>?
    /// The last of the tasks that note what the engine has reported.
    var notes: Task<Void, Never>?
    /// The configuration before plugins were switched off; nil if none is.
    var beforeDisabling: Configuration?
    /// The builds that the engine was told to refuse.
    var forbidden: Set<String> = []
    var isEnding = false
  }

  /// - Parameters:
  ///   - configuration: with ``Configuration/update``.
  ///   - trial: tries builds out before they serve when there is no engine that does.
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

  /// The plugins that come from releases; an engine may have got another configuration since its start.
  var plugins: [PluginConfiguration] {
    let engine = service.withLock { $0.engine }
    return (engine?.currentConfiguration ?? configuration).plugins.filter { $0.releaseID != nil }
  }

  /// Their ids in releases.
  var ids: [String] { Set(plugins.compactMap(\.releaseID)).sorted() }

  // MARK: Looking for a release

  /// When a release that was found is installed.
  public enum Timing: Sendable {
    /// As `update.immediate` says.
    case configured
    /// At once.
    case immediate
    /// It is only verified and downloaded.
    case later
    /// It is only verified.
    case never
  }

  /// Looks for a release, verifies it, and installs it. With an engine, the engine has loaded it when this returns.
  /// - Parameters:
  ///   - minimum: a lower release counts as a failure, because the caller knows of a higher one.
  ///   - retriesHeld: tries a release again that was refused before.
  public func check(
    _ timing: Timing = .configured, minimum: Int64? = nil, retriesHeld: Bool = false
  ) async -> UpdateResult {
    var result: UpdateResult
    do throws(UpdateError) { result = try await look(timing, retriesHeld: retriesHeld) } catch {
      result = UpdateResult(action: .failed, message: "\(error)", error: error)
    }
    result.message = Self.words(result.message)
    let state = (try? folder.state()) ?? nil
    if let minimum, let version = state?.accepted?.version, version < minimum, result.error == nil {
      result.action = .failed
      result.message = "the mirror has release \(version), and release \(minimum) was announced"
    }
    result.release = state?.installed
    // What the end of the process has cut off says nothing about the mirror.
    guard !Task.isCancelled, !service.withLock({ $0.isEnding }) else { return result }
    // A fault that lasts is told once.
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

  /// A message as the state and the history keep it: it may repeat what a mirror or a plugin has said.
  static func words(_ message: String) -> String { PlainText.line(message, limitBytes: 2048) }

  /// Keeps how a look ended, for the status.
  private func remember(_ result: UpdateResult) async {
    guard let session = try? await UpdateSession.begin(self) else { return }
    defer { session.end() }
    guard session.isKnown else { return }
    session.state.lastCheck = UpdateState.LastCheck(
      at: session.start, outcome: result.outcome.rawValue, message: result.message)
    try? session.save()
  }
}
