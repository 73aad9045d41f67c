import Sluice
import SluiceJSON

/// An engine with a plugin from a file. The plugin is called only for requests to one path.
func engine(library path: String) throws -> Engine {
  var configuration = Configuration()
  configuration.plugins = [
    PluginConfiguration(name: "auth", source: .library(path: path), config: ["token": "secret"], deadline: .seconds(5))
  ]
  configuration.request = [StageReference("auth", match: StageMatch(paths: [PathGlob("/api/**")]))]
  return try Engine(configuration)
}
