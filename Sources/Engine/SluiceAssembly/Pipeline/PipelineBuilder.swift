import SluiceIDNA
import SluiceMessages
package import SluicePipeline
import SluicePluginHost

/// Builds the stage lists of a configuration from the stages of its plugins.
package struct PipelineBuilder {
  private let configuration: Configuration
  /// The stages by their plugins' names in the configuration.
  private let stages: [String: PipelineStage]
  private let delegate: StageBinding?
  /// Answers challenges with the credentials of the URL; nil leaves them to the caller.
  private let challengeResponder: (any ChallengeResponder)?
  private let log: @Sendable (LogLine) -> Void
  /// The previous pipeline. A tracer that is also in the new pipeline keeps its score of overruns.
  private let predecessor: Pipeline?
  /// The key for the hashes in journals. It is set if the journals are compared with those of another process.
  private let journalKey: MessageHash.Key?

  package init(
    configuration: Configuration, stages: [String: PipelineStage], delegate: StageBinding? = nil,
    challengeResponder: (any ChallengeResponder)? = nil, log: @escaping @Sendable (LogLine) -> Void = { _ in },
    predecessor: Pipeline? = nil, journalKey: MessageHash.Key? = nil
  ) {
    self.configuration = configuration
    self.stages = stages
    self.delegate = delegate
    self.challengeResponder = challengeResponder
    self.log = log
    self.predecessor = predecessor
    self.journalKey = journalKey
  }

  package func build(
    generation: Int, loops: Int, resources: [any AnyObject & Sendable]
  ) throws(ConfigurationError) -> Pipeline {
    Pipeline(
      requestStages: try bindings(.request, after: []),
      issueStages: try bindings(.issue, after: configuration.request),
      responseStages: try bindings(.response, after: configuration.request + configuration.issue),
      tracers: try tracers(), settings: settings, generation: generation, loops: loops, resources: resources,
      delegate: delegate)
  }

  private var hashFile: (@Sendable (FileBody) -> UInt64?)? {
    guard journalKey != nil else { return nil }
    return { $0.contentHash }
  }

  private var settings: PipelineSettings {
    let transport = configuration.transport
    var redirects = configuration.redirects
    redirects.secret += configuration.redaction.headers
    return PipelineSettings(
      deadline: configuration.deadline, attemptTimeout: transport.timeout,
      maximumAttempts: configuration.maximumAttempts,
      retry: configuration.retry,
      transfer: TransferOptions(
        maximumResponseBytes: transport.maximumHeldResponseBytes,
        maximumStreamedBytes: transport.maximumStreamedResponseBytes, spillBytes: transport.spillBytes,
        sendsBasicUnasked: configuration.credentialPolicy == .basicFirst,
        // The heads of call-outs are never reported, because secrets in them are not marked.
        tellsHead: transport.onSentHead != nil),
      requestIDHeader: configuration.requestIDHeader, acceptedStatuses: configuration.acceptedStatuses,
      checks: configuration.responseChecks, redirects: redirects, hostEncoder: .idna,
      challengeResponder: challengeResponder,
      journal: JournalSettings(
        secrets: configuration.secrets, key: journalKey, hashFile: hashFile),
      names: transport.names)
  }

  /// - Parameter earlier: the places in the lists that come before this list.
  private func bindings(
    _ list: StageList, after earlier: [StageReference]
  ) throws(ConfigurationError) -> [StageBinding] {
    let references = list.references(in: configuration)
    var bindings: [StageBinding] = []
    for (index, reference) in references.enumerated() {
      let plugin = try plugin(reference)
      guard let interceptor = stages[reference.plugin]?.interceptor,
        !interceptor.capabilities.isDisjoint(with: list.capabilities)
      else {
        if reference.isOptional { continue }
        throw misfit(reference, list)
      }
      bindings.append(
        StageBinding(
          name: plugin.name, interceptor: place(reference, earlier + references[..<index]) ?? interceptor,
          match: reference.match, deadline: plugin.deadline,
          onFault: plugin.onFault ?? .fail))
    }
    return bindings
  }

  /// A plugin is in a list without having a callback for it.
  private func misfit(_ reference: StageReference, _ list: StageList) -> ConfigurationError {
    let capabilities = stages[reference.plugin]?.capabilities ?? []
    let others = StageList.allCases.filter { other in
      !capabilities.isDisjoint(with: other.capabilities)
        && !other.references(in: configuration).contains { $0.plugin == reference.plugin }
    }
    let names = others.map { "\"\($0.rawValue)\"" }.joined(separator: " and ")
    return ConfigurationError(
      reference.location, "plugin \"\(reference.plugin)\" is in \"\(list.rawValue)\" but has no \(list.callback)",
      advice: others.isEmpty
        ? "take it out of the list, or give the plugin that callback"
        : "move it to \(names), which it has callbacks for")
  }

  /// The interceptor of a place that has its own configuration; nil if the place has none.
  private func place(_ reference: StageReference, _ earlier: [StageReference]) -> (any Interceptor)? {
    guard reference.config != nil, let places = stages[reference.plugin]?.places else { return nil }
    let number = earlier.count { $0.plugin == reference.plugin && $0.config != nil }
    return places.indices.contains(number) ? places[number] : nil
  }

  private func tracers() throws(ConfigurationError) -> [TracerBinding] {
    var bindings: [TracerBinding] = []
    for reference in configuration.tracers {
      let plugin = try plugin(reference)
      guard let tracer = stages[plugin.name]?.tracer else {
        if reference.isOptional { continue }
        throw misfit(reference, .tracers)
      }
      guard reference.match == nil else {
        throw ConfigurationError(reference.location, "a tracer sees every transaction and takes no \"match\"")
      }
      guard reference.config == nil else {
        throw ConfigurationError(
          reference.configLocation ?? reference.location, "a tracer takes no \"config\" for its place",
          advice: "put it into the \"config\" of the plugin")
      }
      bindings.append(binding(plugin, tracer))
    }
    return bindings
  }

  private func binding(_ plugin: PluginConfiguration, _ tracer: any Tracer) -> TracerBinding {
    let budget = budget(plugin)
    let known = predecessor?.tracers.first {
      $0.tracer === tracer && $0.budgetNanoseconds == budget?.nanoseconds
    }
    if let known { return known }
    return TracerBinding(name: plugin.name, tracer: tracer, budget: budget) { [log] reason in
      log(
        LogLine(
          level: .warning, stage: plugin.name,
          message: "tracer \"\(plugin.name)\" is switched off and gets no more events: \(reason); "
            + "\(Self.advice(plugin))"))
    }
  }

  /// The time limit for one call of a tracer; nil for built-in tracers.
  private func budget(_ plugin: PluginConfiguration) -> Duration? {
    switch plugin.source {
    case .builtin: nil
    case .code(let code) where code.isTrustedTracer: nil
    case .code, .library:
      plugin.deadline ?? (plugin.delivery == .queued ? QueuedTracer.defaultPatience : TracerBinding.defaultBudget)
    }
  }

  private static func advice(_ plugin: PluginConfiguration) -> String {
    plugin.delivery == .queued
      ? "its queue is full, since it handles events more slowly than they arrive"
      : "give it \"delivery\": \"queued\" or a longer \"deadline\", or make it do less"
  }

  private func plugin(_ reference: StageReference) throws(ConfigurationError) -> PluginConfiguration {
    guard let plugin = configuration.plugins.first(where: { $0.name == reference.plugin }) else {
      throw ConfigurationError(reference.location, "no plugin is named \"\(reference.plugin)\"")
    }
    return plugin
  }
}
