package import SluicePipeline
package import SluicePluginHost

/// The whole pipeline at one time: its configuration, its parts, and the `Pipeline` object that transactions retain.
/// Immutable. Each part is an instance or a built-in; two snapshots share the parts that are the same in both.
package final class Snapshot: Sendable {
  /// The number of the snapshot in the engine, counted from 1. The empty snapshot before the first one has the number
  /// 0.
  package let number: Int
  package let configuration: Configuration
  /// In the order of the configuration.
  package let parts: [SnapshotPart]
  package let pipeline: Pipeline

  package init(number: Int, configuration: Configuration, parts: [SnapshotPart], pipeline: Pipeline) {
    self.number = number
    self.configuration = configuration
    self.parts = parts
    self.pipeline = pipeline
  }

  package var instances: [PluginInstance] { parts.compactMap(\.instance) }

  package var generations: [GenerationRecord] {
    var records: [GenerationRecord] = []
    for record in parts.compactMap(\.generation) where !records.contains(where: { $0 === record }) {
      records.append(record)
    }
    return records
  }

  /// A snapshot without parts, as a host has before its first one.
  package static func empty(_ configuration: Configuration, number: Int = 0, loops: Int) -> Snapshot {
    Snapshot(number: number, configuration: configuration, parts: [], pipeline: Pipeline(loops: loops))
  }

  /// Called each time this snapshot is published, when the loops that answer begin new transactions on it. Its instances
  /// do their scheduled work from now on, and those of the earlier snapshot no longer do.
  package func serve(after earlier: Snapshot) {
    for instance in earlier.instances where !holds(instance) { instance.isServing = false }
    for instance in instances { instance.isServing = true }
    for record in generations { record.plugins = parts.filter { $0.generation === record }.map(\.plugin.name) }
  }

  /// Called when this snapshot begins to serve a part of the new transactions, beside the published one. The instances of
  /// both do their scheduled work.
  package func serveBeside() {
    for instance in instances { instance.isServing = true }
  }

  package func part(_ name: String) -> SnapshotPart? { parts.first { $0.plugin.name == name } }

  package func holds(_ instance: PluginInstance) -> Bool { parts.contains { $0.instance === instance } }

  package func holds(_ generation: GenerationRecord) -> Bool { parts.contains { $0.generation === generation } }
}

/// One plugin of a snapshot. Snapshots share the parts in which they do not differ.
package struct SnapshotPart: Sendable {
  package let plugin: PluginConfiguration
  /// The stage, with its places.
  package let stage: PipelineStage
  /// Set for a library, and for code of the program.
  package var instance: PluginInstance?
  /// Set for a library.
  package var generation: GenerationRecord?
  /// Set if the delivery to its tracer is queued.
  package var queuedTracer: QueuedTracer?
}

extension Snapshot {
  package func generation(of library: String) -> GenerationRecord? {
    parts.first { $0.plugin.library == library }?.generation
  }

  /// The builds from which instances can be created, by the library's path.
  package var loaded: [String: LoadedGeneration] {
    var loaded: [String: LoadedGeneration] = [:]
    for part in parts {
      guard let library = part.plugin.library, let record = part.generation, let instance = part.instance else {
        continue
      }
      loaded[library] = LoadedGeneration(record: record, plugin: instance.generation)
    }
    return loaded
  }
}
