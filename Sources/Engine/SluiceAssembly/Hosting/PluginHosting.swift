package import SluicePluginHost
import SluiceSupport

/// What every host of plugins does in the same way, wherever its libraries come from and whoever runs its loops: it
/// enters builds and makes snapshots of their instances. Engines, foreign programs and replays have one each.
///
/// A host replaces a snapshot in four steps: it makes a draft, hands states over, lets its loops take the pipeline, and
/// calls ``Snapshot/serve(after:)``. ``LiveSnapshots`` says what to end when the last transaction of a snapshot has
/// ended.
package final class PluginHosting: Sendable {
  package let runtime: HostRuntime
  private let log: @Sendable (LogLine) -> Void
  private let entered = Locked<[GenerationRecord]>([])

  package init(runtime: HostRuntime, log: @escaping @Sendable (LogLine) -> Void) {
    self.runtime = runtime
    self.log = log
  }

  /// The records of all builds that were entered, also of those that have ended, in the order of their numbers.
  package var records: [GenerationRecord] { entered.withLock { $0 } }

  /// Calls the entry point of a mapped library, which gets the next number. [control]
  ///
  /// - Parameters:
  ///   - library: its path in the configuration.
  ///   - plugins: the names of the instances that will use it.
  package func enter(
    _ loaded: LoadedLibrary, of library: String, for plugins: [String]
  ) throws(PluginError) -> LoadedGeneration {
    let record = entered.withLock { records in
      let record = GenerationRecord(id: records.count + 1, library: library, plugins: plugins, loaded)
      records.append(record)
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

  /// - Parameters:
  ///   - generations: a build for each library, by its path in the configuration.
  ///   - predecessor: the snapshot that serves. The draft uses its instances again where nothing has changed.
  ///   - isSwap: whether the configuration is that of the predecessor, so that only libraries differ.
  package func draft(
    _ configuration: Configuration, _ generations: [String: LoadedGeneration], following predecessor: Snapshot? = nil,
    isSwap: Bool = false
  ) -> SnapshotDraft {
    SnapshotDraft(configuration, generations, runtime: runtime, following: predecessor, isSwap: isSwap, log: log)
  }
}
