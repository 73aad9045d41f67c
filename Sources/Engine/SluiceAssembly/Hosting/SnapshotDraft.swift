import SluiceJSON
import SluiceMessages
package import SluicePipeline
package import SluicePluginHost
import SluiceSupport

/// A snapshot that is being made. It creates the parts that the previous snapshot does not have, and can end them
/// again.
///
/// Unchecked because the caller makes sure that only one thread at a time calls `create`, `load`, `activate` and
/// `undo`, which are `[control]` work.
package final class SnapshotDraft: @unchecked Sendable {
  /// The time limit for a new instance to end when the draft fails.
  package static let undoLimit = Duration.seconds(5)

  private let configuration: Configuration
  private let runtime: HostRuntime
  /// By the library's path.
  private let generations: [String: LoadedGeneration]
  private let predecessor: Snapshot?
  /// Whether the configuration is that of the predecessor, so that only libraries differ.
  private let isSwap: Bool
  private let log: @Sendable (LogLine) -> Void
  package private(set) var parts: [SnapshotPart] = []
  /// The parts that the predecessor does not have, in the order in which they were created.
  package private(set) var fresh: [SnapshotPart] = []
  private let current = Locked<Call?>(nil)

  /// The current call into a new build; nil between two calls. From any thread.
  package var callUnderWay: Call? { current.withLock { $0 } }

  init(
    _ configuration: Configuration, _ generations: [String: LoadedGeneration], runtime: HostRuntime,
    following predecessor: Snapshot?, isSwap: Bool, log: @escaping @Sendable (LogLine) -> Void
  ) {
    self.log = log
    self.configuration = configuration
    self.generations = generations
    self.runtime = runtime
    self.predecessor = predecessor
    self.isSwap = isSwap
  }

  /// Creates the parts in the order of the configuration.
  package func create() throws(EngineError) {
    for plugin in configuration.plugins {
      guard !parts.contains(where: { $0.plugin.name == plugin.name }) else {
        throw .configuration(ConfigurationError(plugin.location, "the name \"\(plugin.name)\" occurs twice"))
      }
      if plugin.library == nil, let place = configuration.places(of: plugin.name).first {
        throw .configuration(
          ConfigurationError(
            place.location, "\"\(plugin.name)\" has no library, so it takes no configuration for a place",
            advice: "leave it out, or put it into the \"config\" of the plugin"))
      }
      if let part = reusable(plugin) {
        parts.append(part)
      } else {
        try append(plugin)
      }
    }
  }

  /// The snapshot of the reused and the new parts, for new transactions.
  package func snapshot(
    _ number: Int, loops: Int, delegate: StageBinding? = nil, challengeResponder: (any ChallengeResponder)? = nil,
    journalKey: MessageHash.Key? = nil
  ) throws(EngineError) -> Snapshot {
    let stages = Dictionary(parts.map { ($0.plugin.name, $0.stage) }) { first, _ in first }
    let builder = PipelineBuilder(
      configuration: configuration, stages: stages, delegate: delegate, challengeResponder: challengeResponder,
      log: log, predecessor: predecessor?.pipeline, journalKey: journalKey)
    do {
      let pipeline = try builder.build(generation: number, loops: loops, resources: parts.compactMap(\.instance))
      return Snapshot(number: number, configuration: configuration, parts: parts, pipeline: pipeline)
    } catch { throw .configuration(error) }
  }

  /// An instance that passes its state on to its successor.
  package struct Handover: Sendable {
    package let plugin: PluginConfiguration
    package let old: PluginInstance
    fileprivate let new: PluginInstance
  }

  /// The handovers to the new instances: to an instance of the same name and the same plugin.
  package var handovers: [Handover] {
    fresh.compactMap { part in
      guard let new = part.instance, new.keepsState, let old = predecessor?.part(part.plugin.name)?.instance,
        old.generation.id == new.generation.id
      else { return nil }
      return Handover(plugin: part.plugin, old: old, new: new)
    }
  }

  /// Called when an instance did not save its state. Throws if its successor needs the state.
  package func goOn(without handover: Handover, _ error: PluginError) throws(EngineError) {
    guard handover.new.isStateOptional else { throw .plugin(error, handover.plugin.location) }
    log(
      LogLine(
        level: .warning, plugin: handover.old.generation.id, generation: handover.old.generation.number,
        stage: handover.plugin.name,
        message: "\(error); the new build begins without a saved state, which is optional"))
  }

  /// Passes on the states that the previous instances saved, by the name of the instance.
  package func load(_ states: [String: SavedState]) throws(EngineError) {
    for part in fresh {
      guard let instance = part.instance, let state = states[part.plugin.name] else { continue }
      do {
        try calling(.load, of: part.plugin) { () throws(PluginError) in try instance.loadState(state) }
      } catch {
        guard instance.isStateOptional else { throw .plugin(error.named(part.plugin.name), part.plugin.location) }
        log(
          LogLine(
            level: .warning, plugin: instance.generation.id, generation: instance.generation.number,
            stage: part.plugin.name, message: "\(error); the plugin begins without the saved state, which is optional"))
      }
    }
  }

  /// Activates the new parts, in order. Their scheduled work begins when the snapshot is published.
  package func activate() throws(EngineError) {
    for part in fresh {
      guard let instance = part.instance else { continue }
      instance.isServing = false
      do {
        try calling(.activate, of: part.plugin) { () throws(PluginError) in try instance.activate() }
      } catch { throw .plugin(error, part.plugin.location) }
    }
    for part in fresh {
      do { try part.queuedTracer?.start() } catch { throw .plugin(error, part.plugin.location) }
    }
  }

  /// Ends the new parts, in reverse order.
  package func undo() {
    for part in fresh.reversed() { part.end(within: Self.undoLimit) }
  }

  private func calling<Value>(
    _ function: Call.Function, of plugin: PluginConfiguration, _ body: () throws(PluginError) -> Value
  ) throws(PluginError) -> Value {
    current.withLock { $0 = Call(function: function, plugin: plugin) }
    defer { current.withLock { $0 = nil } }
    return try body()
  }

  /// The part of the predecessor that this draft reuses.
  private func reusable(_ plugin: PluginConfiguration) -> SnapshotPart? {
    guard let part = predecessor?.part(plugin.name) else { return nil }
    switch (plugin.source, part.plugin.source) {
    case (.library(let path), .library(let before)):
      guard path == before, generations[path]?.record === part.generation,
        plugin.config == part.plugin.config, hasSamePlaces(plugin.name), plugin.delivery == part.plugin.delivery,
        plugin.delivery == .inline || plugin.deadline == part.plugin.deadline
      else { return nil }
    case (.builtin(let name), .builtin(let before)):
      guard isSwap || (name == before && BuiltIns.counts(name) && plugin.config == part.plugin.config) else {
        return nil
      }
    case (.code, .code): guard isSwap else { return nil }
    default: return nil
    }
    return SnapshotPart(
      plugin: plugin, stage: part.stage, instance: part.instance, generation: part.generation,
      queuedTracer: part.queuedTracer)
  }

  /// Whether the configurations of the plugin's places are the same as in the previous snapshot.
  private func hasSamePlaces(_ plugin: String) -> Bool {
    predecessor?.configuration.places(of: plugin).map(\.config) == configuration.places(of: plugin).map(\.config)
  }

  private func append(_ plugin: PluginConfiguration) throws(EngineError) {
    switch plugin.source {
    case .code(let code): try append(plugin, code)
    case .builtin(let name):
      do {
        let setting = BuiltIns.Setting(configuration: configuration, plugin: plugin, log: log)
        parts.append(SnapshotPart(plugin: plugin, stage: try BuiltIns.make(name, setting)))
      } catch { throw .configuration(error) }
    case .library(let path):
      guard let generation = generations[path] else {
        throw .plugin(
          PluginError(.loadFailed, .plugin(name: plugin.name, path: path), "was not loaded"), plugin.location)
      }
      try append(plugin, generation.plugin, generation.record)
    }
  }

  private func append(_ plugin: PluginConfiguration, _ code: StageCode) throws(EngineError) {
    switch code.form {
    case .direct(let stage): parts.append(SnapshotPart(plugin: plugin, stage: stage))
    case .hosted(let stage): try append(plugin, PluginGeneration(stage, named: plugin.name), nil)
    case .unusable(let failure):
      throw .plugin(
        PluginError(.createFailed, .plugin(name: plugin.name, path: nil), failure.message), plugin.location)
    }
  }

  /// - Parameter record: the record of the build, for a library.
  private func append(
    _ plugin: PluginConfiguration, _ generation: PluginGeneration, _ record: GenerationRecord?
  ) throws(EngineError) {
    let before = predecessor?.part(plugin.name)?.instance
    let instance: PluginInstance
    do {
      instance = try calling(.create, of: plugin) { () throws(PluginError) in
        try PluginInstance(
          generation, name: plugin.name, configuration: plugin.config, runtime: runtime, following: before)
      }
    } catch { throw .plugin(error.named(plugin.name), plugin.location) }
    record?.adopt(instance.violations)
    // The part is recorded before anything else can fail, so that `undo` ends it too.
    fresh.append(
      SnapshotPart(plugin: plugin, stage: PipelineStage(), instance: instance, generation: record))
    var places: [any Interceptor] = []
    for place in configuration.places(of: plugin.name) {
      do {
        places.append(
          try calling(.createStage, of: plugin) { () throws(PluginError) in
            try instance.makePlace(place.key, place.config)
          })
      } catch { throw .plugin(error.named(plugin.name), place.location) }
    }
    let queued = try queuedTracer(plugin, instance)
    let isTracer = instance.capabilities.contains(.trace)
    let part = SnapshotPart(
      plugin: plugin,
      stage: PipelineStage(interceptor: instance, tracer: queued ?? (isTracer ? instance : nil), places: places),
      instance: instance, generation: record, queuedTracer: queued)
    fresh[fresh.count - 1] = part
    parts.append(part)
  }

  private func queuedTracer(
    _ plugin: PluginConfiguration, _ instance: PluginInstance
  ) throws(EngineError) -> QueuedTracer? {
    guard plugin.delivery == .queued else { return nil }
    guard instance.capabilities.contains(.trace) else {
      throw .configuration(
        ConfigurationError(
          plugin.location, "the delivery of \"\(plugin.name)\" is queued, but the plugin has no tracer",
          advice: "leave \"delivery\" out"))
    }
    return QueuedTracer(
      instance, loops: runtime.loops.count, patience: plugin.deadline ?? QueuedTracer.defaultPatience)
  }
}

extension SnapshotPart {
  /// Delivers queued events, then deactivates and destroys the instance. The transactions must have ended. Returns
  /// false if this took too long; the instance is then not destroyed. [control]
  @discardableResult
  package func end(within limit: Duration) -> Bool {
    queuedTracer?.stop(within: limit)
    return instance?.destroy(within: limit) ?? true
  }
}
