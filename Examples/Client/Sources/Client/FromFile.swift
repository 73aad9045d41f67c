import Sluice

/// An engine from a configuration file, with a stage of the program after the stages of the file.
func engine(file: String) throws -> Engine {
  var configuration = try Configuration(file: file)
  configuration.addStage("tenant", StageCode(Tenant(name: "blue")), match: StageMatch(methods: ["GET", "POST"]))
  return try Engine(configuration) { line in print("\(line.level): \(line.plugin ?? "engine"): \(line.message)") }
}
