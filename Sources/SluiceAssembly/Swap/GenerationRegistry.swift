import SluicePluginHost
import SluicePluginImage
import SluiceSupport

/// Every build that an engine has mapped, and the way to map another.
final class GenerationRegistry: Sendable {
  /// A private copy that has passed the preflight.
  struct Candidate: Sendable {
    let library: String
    /// The instances that use it.
    let plugins: [String]
    let copy: StoredPlugin
    let facts: LibraryFacts
  }

  /// The loader, and the refusals in its store.
  private struct Way: Sendable {
    let loader: PluginLoader
    let refusals: RefusalList
  }

  private struct State: Sendable {
    var records: [GenerationRecord] = []
    /// Created on first use: an engine without libraries does not use the store.
    var way: Way?
  }

  private let runtime: HostRuntime
  private let store: String?
  private let project: String
  private let state = Locked(State())

  /// - Parameters:
  ///   - store: the folder of private copies; nil for the user's cache.
  ///   - file: the configuration file that refusals belong to; nil means this program.
  init(store: String?, file: String? = nil, runtime: HostRuntime) {
    self.store = store
    project = RefusalList.project(of: file)
    self.runtime = runtime
  }

  var records: [GenerationRecord] { state.withLock { $0.records } }

  /// The number of builds that were ever mapped.
  var count: Int { state.withLock { $0.records.count } }

  /// Nil as long as no library was used.
  var refusals: RefusalList? { state.withLock { $0.way?.refusals } }

  func refusalList() throws(PluginError) -> RefusalList { try way().refusals }

  /// The facts about a library before any of its code runs; throws if this host cannot use it.
  func facts(
    of image: LibraryImage, allowing allowed: Set<LibraryHazard> = []
  ) throws(PluginError) -> LibraryFacts {
    try Preflight.facts(of: image, for: try way().loader.offer.allowing(allowed))
  }

  /// Makes the private copy. Blocks.
  func stage(_ image: LibraryImage, _ facts: LibraryFacts, for plugins: [String]) throws(PluginError) -> Candidate {
    Candidate(library: image.path, plugins: plugins, copy: try way().loader.store.stage(image), facts: facts)
  }

  /// Maps a candidate and calls its entry point. Blocks; constructors of the library run on a separate thread.
  func load(_ candidate: Candidate) throws(PluginError) -> LoadedGeneration {
    let loaded = try LoadedLibrary.load(candidate.copy, facts: candidate.facts, path: candidate.library)
    let record = state.withLock { state in
      let record = GenerationRecord(
        id: state.records.count + 1, library: candidate.library, plugins: candidate.plugins, loaded)
      state.records.append(record)
      return record
    }
    let entered = HostTable.withEntryTable(for: runtime) { table in
      Result { () throws(PluginError) in try PluginEntry.call(loaded, host: table, number: record.id) }
    }
    do {
      let plugin = try entered.get()
      record.adopt(plugin)
      return LoadedGeneration(record: record, plugin: plugin)
    } catch {
      record.end(.refused("\(error)"))
      throw error
    }
  }

  static let noStore = PluginError(
    .store, .store(path: "(none)"), "there is no home folder to keep the private copies of plugins in",
    advice: "set \"store\" to a folder of yours")

  private func way() throws(PluginError) -> Way {
    if let way = state.withLock({ $0.way }) { return way }
    guard let path = store ?? PluginStore.defaultPath() else { throw Self.noStore }
    let store = try PluginStore(at: path)
    let way = Way(
      loader: PluginLoader(store: store, offer: runtime.offer), refusals: RefusalList(store: store, project: project))
    state.withLock { $0.way = way }
    return way
  }
}
