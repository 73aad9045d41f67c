import SluicePluginHost
import SluicePluginImage
import SluiceSupport

/// The record of a mapped build, which also remains after the build has ended.
final class GenerationRecord: Sendable {
  /// How a build ended.
  enum End: Sendable, Hashable {
    case parked(String)
    case refused(String)
  }

  private struct State: Sendable {
    var plugins: [String]
    var pluginID = ""
    var version = ""
    var end: End?
    var hasServed = false
    var violations: [ViolationCounters] = []
  }

  let id: Int
  /// The path in the configuration.
  let library: String
  let hash: ContentHash
  let buildID: String?
  /// The private copy, which is not removed as long as it is mapped.
  let copy: String
  private let state: Locked<State>

  init(id: Int, library: String, plugins: [String], _ loaded: LoadedLibrary) {
    self.id = id
    self.library = library
    hash = loaded.stored.hash
    buildID = loaded.facts.buildID
    copy = loaded.stored.path
    state = Locked(State(plugins: plugins, version: loaded.facts.note?.version ?? ""))
  }

  /// The names of its instances.
  var plugins: [String] {
    get { state.withLock { $0.plugins } }
    set { state.withLock { $0.plugins = newValue } }
  }

  /// Whether it was replaced, or is about to be.
  var hasServed: Bool {
    get { state.withLock { $0.hasServed } }
    set { state.withLock { $0.hasServed = newValue } }
  }

  /// Nil as long as the build serves, or may serve.
  var end: End? { state.withLock { $0.end } }

  /// Later calls have no effect.
  func end(_ end: End) { state.withLock { $0.end = $0.end ?? end } }

  func adopt(_ plugin: PluginGeneration) {
    state.withLock { ($0.pluginID, $0.version) = (plugin.id, plugin.version) }
  }

  func adopt(_ violations: ViolationCounters) { state.withLock { $0.violations.append(violations) } }

  var pluginID: String { state.withLock { $0.pluginID } }
  var version: String { state.withLock { $0.version } }
  /// The violations of all its instances, including ended ones.
  var violations: Int { state.withLock { $0.violations }.reduce(0) { $0 + $1.total } }

  var build: SwapReport.Build {
    SwapReport.Build(generation: id, version: version.isEmpty ? nil : version, hash: hash.hex, buildID: buildID)
  }
}

/// A loaded build, from which instances can be created.
struct LoadedGeneration: Sendable {
  let record: GenerationRecord
  let plugin: PluginGeneration
}
