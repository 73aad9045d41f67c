import SluicePipeline
import SluicePluginHost

/// The plugin instances of an engine, from loading to release.
final class EngineInstances: Sendable {
  /// What each plugin of the configuration gives, by its name.
  let stages: [String: BuiltIns.Stage]
  let runtime: HostRuntime
  let log: @Sendable (LogLine) -> Void
  private let instances: [(instance: PluginInstance, location: ConfigurationLocation)]
  /// The threads of those whose tracer is queued.
  private let queuedTracers: [QueuedTracer]

  /// In the order of the configuration.
  var plugins: [PluginInstance] { instances.map(\.instance) }

  /// Kept alive by the pipeline.
  var resources: [any AnyObject & Sendable] { instances.map(\.instance) }

  /// Loads every library once and makes every instance, in the order of the configuration. What was made is destroyed
  /// in reverse when something fails.
  init(
    _ configuration: Configuration, workers: [Worker], log: @escaping @Sendable (LogLine) -> Void
  ) throws(EngineError) {
    self.log = log
    runtime = HostRuntime(
      loops: workers.map(\.environment), programName: "sluice", programVersion: Engine.version,
      callOuts: CallOutLimits(
        timeout: configuration.transport.timeout,
        maximumResponseBytes: configuration.transport.maxResponseBytes),
      log: { log(LogLine($0)) })
    var made = Made(configuration, runtime, log)
    do {
      for plugin in configuration.plugins { try made.add(plugin) }
    } catch {
      made.destroyAll()
      throw error
    }
    stages = made.stages
    instances = made.instances
    queuedTracers = made.queuedTracers
  }

  /// Starts the instances in order; when one fails, those before it are stopped in reverse.
  func activate() throws(EngineError) {
    for (instance, location) in instances {
      do { try instance.activate() } catch {
        stop(deadline: .seconds(5))
        throw .plugin(error, location)
      }
    }
    for tracer in queuedTracers {
      do { try tracer.start() } catch {
        stop(deadline: .seconds(5))
        throw .plugin(error, ConfigurationLocation())
      }
    }
  }

  /// Delivers what is queued, deactivates and destroys in reverse. The transactions must be over.
  func stop(deadline: Duration) {
    for tracer in queuedTracers { tracer.stop(within: deadline) }
    runtime.close(within: deadline)
    for (instance, _) in instances.reversed() { instance.destroy(within: deadline) }
  }
}

/// The instances of a configuration while they are made.
private struct Made {
  private let configuration: Configuration
  private let runtime: HostRuntime
  private let log: @Sendable (LogLine) -> Void
  private var loader: PluginLoader?
  /// By path: two instances of one library share its generation.
  private var generations: [String: PluginGeneration] = [:]
  var stages: [String: BuiltIns.Stage] = [:]
  var instances: [(instance: PluginInstance, location: ConfigurationLocation)] = []
  var queuedTracers: [QueuedTracer] = []

  init(_ configuration: Configuration, _ runtime: HostRuntime, _ log: @escaping @Sendable (LogLine) -> Void) {
    self.configuration = configuration
    self.runtime = runtime
    self.log = log
  }

  mutating func add(_ plugin: PluginConfiguration) throws(EngineError) {
    guard stages[plugin.name] == nil else {
      throw .configuration(ConfigurationError(plugin.location, "the name \"\(plugin.name)\" stands twice"))
    }
    stages[plugin.name] = try stage(plugin)
  }

  func destroyAll() {
    for (instance, _) in instances.reversed() { instance.destroy(within: .seconds(5)) }
  }

  private mutating func stage(_ plugin: PluginConfiguration) throws(EngineError) -> BuiltIns.Stage {
    switch plugin.source {
    case .code(let code):
      let stage = CodeStage(code)
      return BuiltIns.Stage(interceptor: stage, tracer: code.trace == nil ? nil : stage)
    case .builtin(let name):
      let setting = BuiltIns.Setting(configuration: configuration, plugin: plugin, log: log)
      do { return try BuiltIns.make(name, setting) } catch { throw .configuration(error) }
    case .library(let path): return try instance(plugin, path)
    }
  }

  private mutating func instance(_ plugin: PluginConfiguration, _ path: String) throws(EngineError) -> BuiltIns.Stage {
    let instance: PluginInstance
    do {
      instance = try PluginInstance(generation(path), name: plugin.name, configuration: plugin.config, runtime: runtime)
    } catch { throw .plugin(error.named(plugin.name), plugin.location) }
    instances.append((instance, plugin.location))
    do { return BuiltIns.Stage(interceptor: instance, tracer: try tracer(plugin, instance)) } catch {
      throw .configuration(error)
    }
  }

  private mutating func tracer(
    _ plugin: PluginConfiguration, _ instance: PluginInstance
  ) throws(ConfigurationError) -> (any Tracer)? {
    let isTracer = instance.capabilities.contains(.trace)
    guard plugin.delivery == .queued else { return isTracer ? instance : nil }
    guard isTracer else {
      throw ConfigurationError(
        plugin.location, "the delivery of \"\(plugin.name)\" is queued, and the plugin traces nothing",
        advice: "leave \"delivery\" out")
    }
    let tracer = QueuedTracer(
      instance, loops: runtime.loops.count, patience: plugin.deadline ?? QueuedTracer.defaultPatience)
    queuedTracers.append(tracer)
    return tracer
  }

  private mutating func generation(_ path: String) throws(PluginError) -> PluginGeneration {
    if let generation = generations[path] { return generation }
    let loader: PluginLoader
    if let known = self.loader { loader = known } else { loader = try makeLoader() }
    self.loader = loader
    let library = try loader.load(path)
    let entered = HostTable.withEntryTable(for: runtime) { table in
      Result { () throws(PluginError) in try PluginEntry.call(library, host: table) }
    }
    let generation = try entered.get()
    generations[path] = generation
    return generation
  }

  private func makeLoader() throws(PluginError) -> PluginLoader {
    guard let path = configuration.store ?? PluginStore.defaultPath() else {
      throw PluginError(
        .store, .store(path: "(none)"), "there is no home folder to keep the private copies of plugins in",
        advice: "set \"store\" to a folder of yours")
    }
    return PluginLoader(store: try PluginStore(at: path), offer: HostOffer())
  }
}
