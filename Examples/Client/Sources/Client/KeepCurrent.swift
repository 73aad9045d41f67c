import Sluice
import SluiceTrial
import SluiceUpdate

/// An engine whose plugins are updated from signed releases. It ends with `shutdown()`, like any engine.
func keepCurrent(file: String) async throws -> Engine {
  let trial = HelperTrial()
  let updater = try Updater(Configuration(file: file), trial: trial) { line in print("\(line.level): \(line.message)") }
  let engine = try Engine(try await updater.prepare(), trial: trial)
  updater.follow(engine)
  return engine
}
