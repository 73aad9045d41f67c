package import SluicePluginHost
import SluiceSupport

/// The record of a mapped build, which also remains after the build has ended.
package final class GenerationRecord: Sendable {
  /// How a build ended.
  package enum End: Sendable, Hashable {
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

  package let id: Int
  /// The path in the configuration.
  package let library: String
  package let hash: ContentHash
  package let buildID: String?
  /// The private copy, which is not removed while it is mapped.
  package let copy: String
  /// The maximum of the memory that its mapping takes.
  package let mappedBytes: Int
  private let entry: PluginEntryFunction
  private let state: Locked<State>

  package init(id: Int, library: String, plugins: [String], _ loaded: LoadedLibrary) {
    self.id = id
    self.library = library
    hash = loaded.stored.hash
    buildID = loaded.facts.buildID
    copy = loaded.stored.path
    mappedBytes = loaded.facts.mappedBytes
    entry = loaded.entry
    state = Locked(State(plugins: plugins, version: loaded.facts.note?.version ?? ""))
  }

  /// The names of its instances.
  package var plugins: [String] {
    get { state.withLock { $0.plugins } }
    set { state.withLock { $0.plugins = newValue } }
  }

  /// Whether the build has served, and was replaced or is about to be replaced.
  package var hasServed: Bool {
    get { state.withLock { $0.hasServed } }
    set { state.withLock { $0.hasServed = newValue } }
  }

  /// Nil while the build serves, or can still serve.
  package var end: End? { state.withLock { $0.end } }

  /// Records how the build ended. Only the first call has an effect. Gives the pages of the library back to the kernel,
  /// which reads them again if they are needed after all. Blocks until the file of the library is on the disk.
  package func end(_ end: End) {
    let isFirst = state.withLock { state in
      defer { state.end = state.end ?? end }
      return state.end == nil
    }
    if isFirst { LoadedLibrary.pageOut(entry) }
  }

  package func adopt(_ plugin: PluginGeneration) {
    state.withLock { ($0.pluginID, $0.version) = (plugin.id, plugin.version) }
  }

  package func adopt(_ violations: ViolationCounters) { state.withLock { $0.violations.append(violations) } }

  package var pluginID: String { state.withLock { $0.pluginID } }
  package var version: String { state.withLock { $0.version } }
  /// The violations of all its instances, including ended ones.
  package var violations: Int { state.withLock { $0.violations }.reduce(0) { $0 + $1.total } }

  package var build: SwapReport.Build {
    SwapReport.Build(generation: id, version: version.isEmpty ? nil : version, hash: hash.hex, buildID: buildID)
  }
}

/// A loaded build, from which instances can be created.
package struct LoadedGeneration: Sendable {
  package let record: GenerationRecord
  package let plugin: PluginGeneration

  package init(record: GenerationRecord, plugin: PluginGeneration) {
    self.record = record
    self.plugin = plugin
  }
}
