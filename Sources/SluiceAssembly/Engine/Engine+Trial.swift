import SluicePluginHost
import SluicePluginImage
package import SluiceTrial

extension Engine {
  /// Tries out the libraries of a configuration, as a start does, without loading any; returns why they are refused.
  /// Blocks.
  package static func trialRefusals(
    of configuration: Configuration, probe: any StartProbe
  ) throws(EngineError) -> [EngineError] {
    var configuration = configuration
    // The caller asks for a trial, whatever the configuration says.
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
