import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport

// Checks of the optional parts of a plugin: notifications, places, state and self-tests.
extension ConformanceCheck {
  static let extensions = [
    ConformanceCheck("notifications", "Each notification is passed on, or taken and answered once") { run in
      try run.withActiveInstance { host, instance in
        guard instance.takesNotifications else { throw TrialFailure.absent("it takes no notifications") }
        var generator = TrafficGenerator(run.random)
        for topic in ["", "a", "sluice-validate", String(repeating: "t", count: 5000), "ä\n"] {
          let offer = try run.offer(topic, generator.document(), to: instance, host)
          guard offer != .ended(.missedDeadline) else {
            throw TrialFailure("it took a notification but did not answer within \(TrialHost.patience)")
          }
        }
        try instance.requireNoViolations(in: host)
      }
    },
    ConformanceCheck("places", "create_stage accepts any configuration of a place, or refuses it with a reason") {
      run in
      let host = try run.host(answer: TrafficGenerator.echo)
      let generation = try run.library(host).generation
      guard try generation.stage() != nil else { throw TrialFailure.absent("its places have no configuration") }
      let schema = try generation.stageConfigurationSchema().map { try JSONValue(parsing: $0) }
      let example = schema.flatMap { ExampleConfiguration(schema: $0).value } ?? .object()
      try run.passThroughPlace(example, generation, host)
      var generator = TrafficGenerator(run.random)
      for _ in 0..<100 { try run.passThroughPlace(generator.variation(of: example), generation, host) }
    },
    ConformanceCheck("state-round-trip", "Another instance can load a saved state, and saves the same state") { run in
      let host = try run.host(answer: TrafficGenerator.echo)
      let generation = try run.library(host).generation
      let first = try run.activeInstance(generation, host)
      for _ in 0..<3 { try run.pass(host, first) }
      guard first.keepsState else { throw TrialFailure.absent("it keeps no state") }
      run.channel.step("in save of its state")
      let saved = try run.save(first)
      let second = try run.instance(generation, host)
      run.channel.step("in load of its state")
      try second.loadState(saved)
      try second.activate()
      run.channel.step("in save of a state that was loaded")
      let again = try run.save(second)
      guard again.version == saved.version, try JSONValue(parsing: again.text) == JSONValue(parsing: saved.text) else {
        throw TrialFailure("it saves a state that differs from the state that it has loaded")
      }
      try run.destroy(second)
      try run.destroy(first)
    },
    ConformanceCheck("state-any", "load accepts or refuses any state") { run in
      let host = try run.host()
      let generation = try run.library(host).generation
      guard try generation.state() != nil else { throw TrialFailure.absent("it keeps no state") }
      var generator = TrafficGenerator(run.random)
      for number in 0..<100 {
        let instance = try run.instance(generation, host)
        let state = SavedState(text: generator.document().description, version: UInt32(number % 3))
        run.channel.step("in load of the state \(state.text.prefix(300))")
        // A refusal is allowed.
        try? instance.loadState(state)
        try run.destroy(instance)
      }
    },
    ConformanceCheck("self-tests", "The plugin's own cases pass") { run in
      // As in the trial of an engine, call-outs are refused.
      let host = try TrialHost(answer: SelfTestRun.answer)
      let instance = try run.instance(run.library(host).generation, host)
      let count = try SelfTestRun(host, instance, run.channel).run()
      try run.destroy(instance)
      if count == 0 { throw TrialFailure.absent("it has no self-tests") }
    },
  ]
}

extension CheckRun {
  /// Creates an instance that has a place with that configuration. If the plugin accepts it, sends a request through
  /// the place.
  fileprivate func passThroughPlace(
    _ configuration: JSONValue, _ generation: PluginGeneration, _ host: TrialHost
  ) throws {
    let instance = try instance(generation, host)
    let text = (try? configuration.serializedText()) ?? "…"
    channel.step("in create_stage with the configuration \(text.prefix(300))")
    var place: PluginPlace?
    do { place = try instance.makePlace("request[0]", configuration) } catch {
      // A plugin may give any message. The message that begins like this comes from the host, and means that the plugin
      // gave none.
      guard !error.reason.hasPrefix("request[0].config: create_stage answered") else { throw error }
    }
    if let place {
      channel.step("after create_stage with the configuration \(text.prefix(300))")
      try instance.activate()
      try pass(host, instance, at: place)
    }
    try destroy(instance)
    try instance.requireNoViolations(in: host)
  }

  fileprivate func save(_ instance: PluginInstance) throws -> SavedState {
    let outcome = Monitor<Result<SavedState?, PluginError>?>(nil)
    Task.detached {
      do throws(PluginError) {
        let saved = try await instance.saveState(within: TrialHost.patience)
        outcome.update { $0 = .success(saved) }
      } catch {
        outcome.update { $0 = .failure(error) }
      }
    }
    guard let saved = try outcome.wait({ $0 }).get() else { throw TrialFailure("save returned nothing") }
    return saved
  }

  fileprivate func offer(
    _ topic: String, _ payload: JSONValue, to instance: PluginInstance, _ host: TrialHost
  ) throws -> NotificationOffer {
    let outcome = Monitor<NotificationOffer?>(nil)
    channel.step("in on_notification of the topic \"\(topic.prefix(20))\"")
    Task.detached {
      let offer = await instance.offer(topic, payload, until: host.runtime.now + TrialHost.patience)
      outcome.update { $0 = offer }
    }
    guard let offer = outcome.wait(upTo: TrialHost.patience * 2, { $0 }) else {
      throw TrialFailure("a notification did not end")
    }
    return offer
  }
}
