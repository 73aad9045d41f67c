import Glibc
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceTrial

/// The runs of one build.
struct ReplayPlan: Sendable {
  private static let runs = 2

  /// The results of the runs.
  struct Outcome: Sendable {
    /// The replayed exchanges of each run, by the number of the recorded exchange.
    fileprivate var replayed: [[Int: ReplayedExchange]] = []
    /// Why an exchange was not run.
    fileprivate(set) var omitted: [Int: String] = [:]
    /// Why a run did not finish; the first error if there are several.
    fileprivate(set) var error: PluginError?
    /// Whether the process of that run, or the one that watched it, was killed with SIGKILL.
    fileprivate(set) var isKill = false

    /// The results of the exchange with that index, one for each run that has reached it; nil if no run has.
    func runs(of index: Int) -> [ReplayedExchange]? {
      let runs = replayed.compactMap { $0[index] }
      return runs.isEmpty ? nil : runs
    }
  }

  private let build: Replay.Build
  private let configuration: Configuration

  init(_ build: Replay.Build) throws(EngineError) {
    self.build = build
    do {
      configuration = try Configuration(
        text: build.configuration, file: build.file, installedPlugins: build.installedPlugins)
    } catch { throw .configuration(error) }
    // Otherwise both builds would be what is at the path of the library.
    if let path = build.libraries.keys.sorted().first(where: { !configuration.libraries.contains($0) }) {
      throw .configuration(
        ConfigurationError(ConfigurationLocation(file: build.file), "no plugin has the library \(PlainText.path(path))")
      )
    }
  }

  var secrets: Redactor { configuration.secrets }

  func run(
    _ selection: ReplaySelection, _ key: MessageHash.Key, _ replay: Replay, _ helper: TrialHelper
  ) async -> Outcome {
    var copies: [String: StoredPlugin] = [:]
    if !build.hasCopies {
      switch await ControlThread.run({ Result { () throws(PluginError) in try stage() } }) {
      case .success(let staged): copies = staged
      case .failure(let error): return Outcome(error: error)
      }
    }
    // The copies are kept until the runs are over, because they are removed when they are released.
    defer { withExtendedLifetime(copies) {} }
    let payload = ReplayRequest(
      configuration: String(decoding: build.configuration, as: UTF8.self), file: build.file,
      pluginFolder: build.installedPlugins.folder, copies: build.hasCopies ? build.libraries : copies.mapValues(\.path),
      key: key,
      patience: replay.patience,
      exchanges: selection.exchanges.map { ($0.index, $0.document) }, callOuts: selection.callOuts,
      answer: replay.callOutAnswer)
    let request = TrialRequest(
      library: "", path: configuration.libraries.map { build.libraries[$0] ?? $0 }.joined(separator: ", "),
      task: ReplayRun.task, instances: [],
      deadline: replay.deadline,
      limits: TrialLimits(processorSeconds: UInt64(clamping: replay.deadline.components.seconds) + 1),
      payload: payload.document)
    let hidden = TrialSecrets(
      configuration.pluginConfigurations + [.array(of: selection.hiddenTexts)])
    var outcome = Outcome()
    for _ in 0..<Self.runs {
      switch await TrialProcess(request, helper: helper).report() {
      case .success(let report):
        take(report, &outcome)
        outcome.error = report.failure(of: request.subject, secrets: hidden, showsOutput: replay.showsOutput)
        if case .killed(SIGKILL) = report.ending { outcome.isKill = true }
      case .failure(let error):
        outcome.error = error
        outcome.isKill = error.code == .trialKilledWatcher
      }
      if outcome.error != nil { break }
    }
    return outcome
  }

  /// Makes private copies, which the children map, because a build may replace the original files during the replay.
  private func stage() throws(PluginError) -> [String: StoredPlugin] {
    guard !configuration.libraries.isEmpty else { return [:] }
    let loader = try PluginLoader(store: configuration.store)
    var copies: [String: StoredPlugin] = [:]
    for library in configuration.libraries {
      copies[library] = try loader.stage(
        build.libraries[library] ?? library, allowing: configuration.allowed(of: library)
      ).copy
    }
    return copies
  }

  private func take(_ report: TrialReport, _ outcome: inout Outcome) {
    var replayed: [Int: ReplayedExchange] = [:]
    for item in report.items {
      guard let index = item["index"]?.integer.map({ Int(clamping: $0) }) else { continue }
      replayed[index] = item["replayed"].flatMap { ReplayedExchange($0) }
      outcome.omitted[index] = item["omitted"]?.string
    }
    outcome.replayed.append(replayed)
  }
}
