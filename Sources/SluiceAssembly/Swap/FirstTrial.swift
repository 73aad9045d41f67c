import SluiceJSON
import SluicePluginHost
import SluicePluginImage
import SluiceTrial

/// The trial of the libraries with which an engine starts: all are tried out before the process loads the first of
/// them.
struct FirstTrial {
  private struct Entry {
    let candidate: GenerationRegistry.Candidate
    /// The first plugin that needs the library; for messages.
    let plugin: PluginConfiguration
  }

  private let configuration: Configuration
  /// nil when the libraries are loaded without a trial.
  private let probe: (any StartProbe)?
  private var entries: [Entry] = []

  /// - Parameter probe: the probe of swaps; it is used here only if a thread can wait for it (``StartProbe``).
  init(_ configuration: Configuration, _ probe: (any SwapProbe)?) {
    self.configuration = configuration
    self.probe = configuration.swap.trial > .zero ? probe as? any StartProbe : nil
  }

  func has(_ library: String) -> Bool { entries.contains { $0.candidate.library == library } }

  mutating func add(_ candidate: GenerationRegistry.Candidate, for plugin: PluginConfiguration) {
    entries.append(Entry(candidate: candidate, plugin: plugin))
  }

  /// Tries out all libraries; returns why some are refused, in the order of the libraries. Blocks.
  func refusals() -> [EngineError] {
    let refusals = probe?.examineAll(entries.map(candidate)) ?? []
    return zip(entries, refusals).compactMap { entry, refusal in refusal.map { error(Self.advised($0), entry) } }
  }

  /// Tries out all libraries and maps them; the result is keyed by path. Blocks.
  func load(into registry: GenerationRegistry) throws(EngineError) -> [String: LoadedGeneration] {
    if let refusal = refusals().first { throw refusal }
    var generations: [String: LoadedGeneration] = [:]
    for entry in entries {
      do { generations[entry.candidate.library] = try registry.load(entry.candidate) } catch {
        throw self.error(error, entry)
      }
    }
    return generations
  }

  private func candidate(_ entry: Entry) -> ProbeCandidate {
    let plugins = configuration.plugins.filter { $0.library == entry.candidate.library }
    return ProbeCandidate(
      path: entry.candidate.library, copy: entry.candidate.copy.path, facts: entry.candidate.facts,
      instances: plugins.map {
        ProbeCandidate.Instance(
          name: $0.name, configuration: (try? $0.config.serializedText()) ?? "{}",
          places: configuration.probePlaces(of: $0.name))
      }, deadline: configuration.swap.trial)
  }

  /// An error of one instance names that instance and its place in the configuration.
  private func error(_ error: PluginError, _ entry: Entry) -> EngineError {
    var plugin = entry.plugin
    if case .plugin(let name?, _) = error.subject, let named = configuration.plugins.first(where: { $0.name == name }) {
      plugin = named
    }
    return .plugin(error.named(plugin.name), plugin.location)
  }

  private static func advised(_ error: PluginError) -> PluginError {
    guard error.code == .probeUnavailable, error.advice == nil else { return error }
    var error = error
    error.advice = "set \"swap.trial\" to \"0s\" to load libraries without a trial"
    return error
  }
}
