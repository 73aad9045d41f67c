import SluicePluginHost

/// Runs the trial before a swap: all steps before the activation of the new instances, and then the plugin's own cases.
struct LibraryTrialRun {
  private static let farewell = Duration.seconds(5)

  private let request: TrialRequest
  private let channel: TrialChannel

  init(_ request: TrialRequest, _ channel: TrialChannel) {
    self.request = request
    self.channel = channel
  }

  /// - Returns: the mapped library.
  func run() throws(PluginError) -> LoadedLibrary {
    let host: TrialHost
    do { host = try TrialHost(answer: SelfTestRun.answer) } catch {
      throw PluginError(.trialUnavailable, request.subject, error.reason)
    }
    host.guardDescriptors(channel)
    let library = try TrialLibrary(request, channel, host: host.runtime)
    let generation = library.generation
    var instances: [PluginInstance] = []
    for wanted in request.instances { instances.append(try make(wanted, generation, host)) }
    for instance in instances { try SelfTestRun(host, instance, channel).run() }
    for instance in instances.reversed() {
      channel.step("in destroy of \"\(instance.name)\"")
      guard instance.destroy(within: Self.farewell) else {
        throw PluginError(
          .trialTimedOut, .plugin(name: instance.name, path: request.path),
          "still had work under way when its instance was to be destroyed",
          advice: "start no work before activate")
      }
    }
    channel.step("after its instances were destroyed")
    return library.loaded
  }

  private func make(
    _ wanted: TrialRequest.Instance, _ generation: PluginGeneration, _ host: TrialHost
  ) throws(PluginError) -> PluginInstance {
    channel.step("in create of \"\(wanted.name)\"")
    let instance: PluginInstance
    do {
      instance = try PluginInstance(
        generation, name: wanted.name, configuration: wanted.configuration, runtime: host.runtime)
    } catch { throw error.named(wanted.name) }
    for place in wanted.places {
      channel.step("in create_stage of \"\(wanted.name)\" for \(place.key)")
      _ = try instance.makePlace(place.key, place.configuration)
    }
    // As in a swap, the state is not passed to another plugin under the same instance name.
    if let state = wanted.state, (wanted.stateOwner ?? generation.id) == generation.id {
      channel.step("in load of the state of \"\(wanted.name)\"")
      do { try instance.loadState(state) } catch {
        guard instance.isStateOptional else { throw error }
      }
    }
    return instance
  }
}
