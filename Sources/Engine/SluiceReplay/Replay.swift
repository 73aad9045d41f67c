public import SluiceAssembly
package import SluiceJSON
import SluiceMessages
public import SluicePipeline
import SluicePluginHost
import SluiceSupport
import SluiceTrial

/// Runs recorded exchanges through an old and a new build and reports what the stages did differently.
///
///     let replay = Replay()
///     let report = try await replay?.compare(recordings, old: old, new: new)
///     print(report?.text() ?? "no sluice command to be the helper")
///
/// Each build runs in separate child processes, twice, with recorded answers instead of the wire: nothing goes over the
/// network, and the serving engine is not affected. docs/replay.md describes what is compared.
public struct Replay: Sendable {
  /// Maximum number of exchanges of one replay; the last ones are used.
  package static let maximumExchanges = 1000
  /// The limit for the size of all exchanges as JSON text. Bodies in files do not count.
  package static let maximumBytes = 16 << 20

  /// One of the two builds that are compared: a configuration, and the files to load for its libraries.
  public struct Build: Sendable {
    /// The text of a configuration file. It cannot contain stages that are code of the program, because the build runs
    /// in another process.
    package var configuration: [UInt8]
    /// The path of the configuration file, from which relative paths in it start.
    package var file: String?
    /// The file to load for each library, by the library's path in the configuration. A library that is not listed is
    /// loaded from its path in the configuration.
    package var libraries: [String: String]
    /// Where to look up libraries that the configuration gives by name.
    package var installedPlugins = InstalledPlugins.ofThisProgram
    /// Whether ``libraries`` are private copies of all libraries, which nobody changes.
    package var hasCopies = false

    /// A build from the text of a configuration file, which ``Replay/compare(_:old:new:)`` checks.
    ///
    /// - Parameters:
    ///   - file: the path of the file, from which relative paths in it start.
    ///   - libraries: the files to load, by the library's path in the configuration. Others are loaded from that path.
    public init(configuration: [UInt8], file: String? = nil, libraries: [String: String] = [:]) {
      self.configuration = configuration
      // The child process does not know the folder in which this program was started.
      self.file = file.map(SystemPath.absolute)
      self.libraries = libraries
    }

    /// Reads the configuration from its file.
    public init(file: String, libraries: [String: String] = [:]) throws(ConfigurationError) {
      do {
        self.init(
          configuration: try FileText.read(file, limitBytes: Configuration.limitBytes), file: file, libraries: libraries
        )
      } catch { throw ConfigurationError(ConfigurationLocation(file: file), "cannot read it: \(error)") }
    }
  }

  private let helper: TrialHelper
  /// The time limit for each child process.
  package var deadline = Duration.seconds(30)
  /// How long a stage may keep one transaction. After this time, a suspended call is ended as if its deadline had
  /// passed. If the call has not returned, the run ends.
  package var patience = Duration.seconds(5)

  /// The response document that answers call-outs to which the recordings have no answer. Nil lets them fail, and the
  /// report says that they were not compared.
  package var callOutAnswer: JSONValue?

  /// What is not compared, as ``ReplayDifference/subject`` names it.
  package var ignored: Set<String> = []
  /// Whether the error for a crash shows the last output of the build.
  package var showsOutput = true

  /// - Parameter helper: the path of the `sluice` command. Nil takes the first of these that exists: this program, if
  ///   it is the command itself; the command in this program's folder; the first command on `PATH`. If none exists, the
  ///   result is nil.
  public init?(helper: String? = nil) {
    guard let helper = helper.map(TrialHelper.init(path:)) ?? TrialHelper.find() else { return nil }
    self.helper = helper
  }

  /// - Throws: an error for an invalid configuration, or if no helper works. A build that cannot be loaded, crashes or
  ///   hangs is not an error, but is in the report.
  public func compare(
    _ recordings: [RecordedExchange], old: Build, new: Build
  ) async throws(EngineError) -> ReplayReport {
    let (oldPlan, newPlan) = (try ReplayPlan(old), try ReplayPlan(new))
    let selection = ReplaySelection(recordings, newPlan.secrets)
    let key = MessageHash.Key.random()
    guard !selection.exchanges.isEmpty else { return ReplayReport(omissions: selection.omissions) }
    // Both builds run at the same time, and each runs twice. Differences between two runs of one build do not count.
    async let oldRuns = oldPlan.run(selection, key, self, helper)
    async let newRuns = newPlan.run(selection, key, self, helper)
    let outcomes = await [oldRuns, newRuns]
    // The files of bodies must exist until here, and are removed when the recordings are released.
    withExtendedLifetime(recordings) {}
    return try report(recordings, selection, outcomes[0], outcomes[1])
  }

  private func report(
    _ recordings: [RecordedExchange], _ selection: ReplaySelection, _ old: ReplayPlan.Outcome, _ new: ReplayPlan.Outcome
  ) throws(EngineError) -> ReplayReport {
    var report = ReplayReport(omissions: selection.omissions)
    for (side, outcome) in [(ReplayReport.Side.old, old), (.new, new)] {
      guard let error = outcome.error else { continue }
      guard error.code != .trialUnavailable, error.code != .store else {
        throw .plugin(error, ConfigurationLocation())
      }
      report.failures.append(ReplayReport.Failure(side, error, isKill: outcome.isKill))
    }
    let unfinished = report.failures.map { "the \($0.side.rawValue) build" }.joined(separator: " and ")
    for (index, _, request) in selection.exchanges {
      guard let before = old.runs(of: index), let after = new.runs(of: index) else {
        report.omissions.append(
          ReplayReport.Omission(
            index: index,
            reason: old.omitted[index] ?? new.omitted[index]
              ?? "\(unfinished.isEmpty ? "a build" : unfinished) had ended before"))
        continue
      }
      var comparison = ReplayComparison(index: index, request: request, old: before, new: after, ignoring: ignored)
      comparison.compare(with: recordings[index].outcome, old: before)
      report.comparisons.append(comparison)
    }
    report.findConstants()
    return report
  }
}
