import SluiceJSON
import SluicePluginHost
public import SluicePluginImage

/// Tries a library out in a child process of a helper, which is the `sluice` command: maps it, creates its instances
/// with their real configuration, passes the state on, runs the plugin's own cases, and destroys the instances.
/// `activate` is not called.
public struct HelperProbe: StartProbe {
  private let helper: TrialHelper
  private let warn: @Sendable (PluginError.Subject, String) -> Void

  /// - Parameter path: the path of the `sluice` command. Without it, this program if it is the command, otherwise the
  ///   command next to it, otherwise the first on `PATH`. The result is nil if none is found.
  /// - Parameter warn: called, on any thread, with a problem for which the library is not refused, as the end of a
  ///   sentence about the library.
  public init?(
    helper path: String? = nil, warn: @escaping @Sendable (PluginError.Subject, String) -> Void = { _, _ in }
  ) {
    guard let helper = path.map(TrialHelper.init(path:)) ?? TrialHelper.find() else { return nil }
    self.helper = helper
    self.warn = warn
  }

  /// Runs the trial on a new thread. Cancelling the task ends the helper and everything that it has started.
  /// - Throws: why the library is refused; `probe_unavailable` if there was no trial, or it was cancelled.
  public func examine(_ candidate: ProbeCandidate) async throws(PluginError) {
    let request = try request(candidate)
    try judge(await TrialProcess(request, helper: helper).report().get(), request)
  }

  /// Blocks the thread until the trial ends: at most the candidate's deadline and about 10 seconds more.
  /// - Throws: why the library is refused; `probe_unavailable` if there was no trial.
  public func examineAndWait(_ candidate: ProbeCandidate) throws(PluginError) {
    let request = try request(candidate)
    try judge(TrialProcess(request, helper: helper).run(), request)
  }

  private func judge(_ report: TrialReport, _ request: TrialRequest) throws(PluginError) {
    let secrets = TrialSecrets(
      request.instances.flatMap { [$0.configuration, Self.document($0.state)] + $0.places.map(\.configuration) })
    if let failure = report.failure(of: request.subject, secrets: secrets) { throw failure }
    if let warning = report.exitWarning { warn(request.subject, warning) }
  }

  private static func document(_ state: SavedState?) -> JSONValue {
    state.flatMap { try? JSONValue(parsing: $0.text, options: .allowNUL) } ?? .null
  }

  private func request(_ candidate: ProbeCandidate) throws(PluginError) -> TrialRequest {
    do {
      return TrialRequest(
        library: candidate.copy, path: candidate.path,
        instances: try candidate.instances.map(Self.instance), deadline: candidate.deadline,
        limits: TrialLimits(deadline: candidate.deadline))
    } catch {
      throw PluginError(
        .probeUnavailable, .plugin(name: nil, path: candidate.path), "could not be tried out: \(error)")
    }
  }

  private static func instance(_ instance: ProbeCandidate.Instance) throws -> TrialRequest.Instance {
    TrialRequest.Instance(
      name: instance.name, configuration: try JSONValue(parsing: instance.configuration, options: .allowNUL),
      places: try instance.places.map { ($0.key, try JSONValue(parsing: $0.configuration, options: .allowNUL)) },
      state: instance.state, stateOwner: instance.stateOwner)
  }
}
