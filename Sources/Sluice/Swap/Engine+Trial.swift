package import SluicePluginHost

extension Engine {
  /// Tries the libraries of a configuration out, as a start does, and loads none; gives why they are refused. Blocks.
  package static func trialRefusals(
    of configuration: Configuration, probe: any StartProbe
  ) throws(EngineError) -> [EngineError] {
    var configuration = configuration
    // It is asked for.
    if configuration.swap.trial <= .zero { configuration.swap.trial = SwapSettings().trial }
    var trial = FirstTrial(configuration, probe)
    for plugin in configuration.plugins {
      guard let path = plugin.library, !trial.has(path) else { continue }
      do throws(PluginError) {
        let image = try LibraryImage(reading: path)
        let offer = HostOffer(allowed: configuration.allowed(of: path))
        let facts = try Preflight.facts(of: image, for: offer)
        let candidate = GenerationRegistry.Candidate(
          library: path, plugins: configuration.plugins(of: path), copy: try store(configuration).stage(image),
          facts: facts)
        trial.add(candidate, for: plugin)
      } catch { throw .plugin(error.named(plugin.name), plugin.location) }
    }
    return trial.refusals()
  }

  private static func store(_ configuration: Configuration) throws(PluginError) -> PluginStore {
    guard let path = configuration.store ?? PluginStore.defaultPath() else { throw GenerationRegistry.noStore }
    return try PluginStore(at: path)
  }
}
