import SluiceJSON
package import SluicePluginFile
public import SluicePluginHost

/// Tries a library out in a child process of a helper, which is the `sluice` command: maps the library, makes its
/// instances with their real configuration, hands the state over, runs the plugin's own cases, and destroys the
/// instances. `activate` is not called.
public struct HelperTrial: LibraryTrial {
  private let helper: TrialHelper
  private let warn: @Sendable (PluginError.Subject, String) -> Void
  private let remembersVerdicts: Bool
  /// The trials that need not be repeated; nil if each trial is run.
  private var verdicts: VerdictList?

  /// - Parameter path: the path of the `sluice` command. Nil takes the first of these that exists: this program, if it
  ///   is the command itself; the command in this program's folder; the first command on `PATH`. If none exists, the
  ///   result is nil.
  /// - Parameter remembersVerdicts: whether the start of an engine leaves out a trial that was passed before, without a
  ///   warning, by the same content with the same configurations and libraries, under the same command and program. The
  ///   store keeps these verdicts. Swaps always run the trial.
  /// - Parameter warn: called with a problem for which the trial does not refuse the library. The text is the end of a
  ///   sentence about the library. Can be called on any thread.
  public init?(
    helper path: String? = nil, remembersVerdicts: Bool = true,
    warn: @escaping @Sendable (PluginError.Subject, String) -> Void = { _, _ in }
  ) {
    guard let helper = path.map(TrialHelper.init(path:)) ?? TrialHelper.find() else { return nil }
    self.helper = helper
    self.warn = warn
    self.remembersVerdicts = remembersVerdicts
  }

  /// The path of the `sluice` command.
  package var helperPath: String { helper.path }

  /// This trial, which leaves out what the list has, and adds what is passed; unless no verdicts are remembered.
  package func remembering(in verdicts: VerdictList) -> HelperTrial {
    var trial = self
    if remembersVerdicts { trial.verdicts = verdicts }
    return trial
  }

  /// Runs the trial on a separate thread. It takes at most about 10 seconds more than the candidate's deadline.
  /// Cancelling the task ends the helper and all processes that the helper has started.
  /// - Throws: an error that says why the library is refused; `trial_unavailable` if there was no trial or it was
  ///   cancelled.
  public func examine(_ candidate: TrialCandidate) async throws(PluginError) {
    let key = verdicts == nil ? nil : key(candidate)
    if let key, verdicts?.contains(key) == true { return }
    let request = try request(candidate)
    let isClean = try judge(await TrialProcess(request, helper: helper).report().get(), request)
    if let key, isClean { verdicts?.add(key) }
  }

  /// Nil if the trial cannot be remembered.
  private func key(_ candidate: TrialCandidate) -> ContentHash? {
    var key = TrialFingerprint(helper, task: TrialRequest.trial)
    return key.add(candidate) ? key.hash : nil
  }

  /// Returns whether there is nothing to warn of.
  private func judge(_ report: TrialReport, _ request: TrialRequest) throws(PluginError) -> Bool {
    let secrets = TrialSecrets(
      request.instances.flatMap { [$0.configuration, Self.document($0.state)] + $0.places.map(\.configuration) })
    if let failure = report.failure(of: request.subject, secrets: secrets) { throw failure }
    let warnings = report.changes + [report.exitWarning].compactMap(\.self)
    for warning in warnings { warn(request.subject, warning) }
    return warnings.isEmpty
  }

  private static func document(_ state: SavedState?) -> JSONValue {
    state.flatMap { try? JSONValue(parsing: $0.text, options: .allowNUL) } ?? .null
  }

  private func request(_ candidate: TrialCandidate) throws(PluginError) -> TrialRequest {
    do {
      return TrialRequest(
        library: candidate.copy, path: candidate.path,
        instances: try candidate.instances.map(Self.instance), deadline: candidate.deadline,
        limits: TrialLimits(deadline: candidate.deadline).allowing(candidate.facts.sanitizer))
    } catch {
      throw PluginError(
        .trialUnavailable, .plugin(name: nil, path: candidate.path), "could not be tried out: \(error)")
    }
  }

  private static func instance(_ instance: TrialCandidate.Instance) throws -> TrialRequest.Instance {
    TrialRequest.Instance(
      name: instance.name, configuration: try JSONValue(parsing: instance.configuration, options: .allowNUL),
      places: try instance.places.map { ($0.key, try JSONValue(parsing: $0.configuration, options: .allowNUL)) },
      state: instance.state, stateOwner: instance.stateOwner)
  }
}
