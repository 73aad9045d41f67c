import SluiceAssembly
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// The records of every build that an engine has mapped. The registry also maps new builds.
final class GenerationRegistry: Sendable {
  /// The loader, and the list of refused builds in its store.
  private struct Way: Sendable {
    let loader: PluginLoader
    let refusals: RefusalList
  }

  private struct State: Sendable {
    var records: [GenerationRecord] = []
    /// Created on first use, because an engine without libraries does not use the store.
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

  /// The builds that the engine has mapped since its start.
  var use: GenerationBudget.Use {
    let records = records
    return GenerationBudget.Use(count: records.count, bytes: records.reduce(0) { $0 + $1.mappedBytes })
  }

  /// Nil until a library is used.
  var refusals: RefusalList? { state.withLock { $0.way?.refusals } }

  func refusalList() throws(PluginError) -> RefusalList { try way().refusals }

  func loader() throws(PluginError) -> PluginLoader { try way().loader }

  /// Maps a library and calls its entry point. Blocks; constructors of the library run on a separate thread.
  /// - Parameter plugins: the names of the instances that use it.
  func load(_ library: StagedLibrary, for plugins: [String]) throws(PluginError) -> LoadedGeneration {
    let loaded = try library.load()
    let record = state.withLock { state in
      let record = GenerationRecord(id: state.records.count + 1, library: library.path, plugins: plugins, loaded)
      state.records.append(record)
      return record
    }
    do {
      let plugin = try HostTable.enter(loaded, for: runtime, number: record.id)
      record.adopt(plugin)
      return LoadedGeneration(record: record, plugin: plugin)
    } catch {
      record.end(.refused("\(error)"))
      throw error
    }
  }

  private func way() throws(PluginError) -> Way {
    if let way = state.withLock({ $0.way }) { return way }
    let loader = try PluginLoader(store: store, offer: runtime.offer)
    let way = Way(loader: loader, refusals: RefusalList(store: loader.store, project: project))
    // Another thread might have created the loader in the meantime.
    return state.withLock { state in
      state.way = state.way ?? way
      return state.way ?? way
    }
  }
}
