import Sluice
import SluicePluginImage
import SluiceTrial

/// An engine that tries each library out in a child process before it loads it.
func tryOut(_ configuration: Configuration) -> Engine? {
  do {
    return try Engine(configuration, trial: HelperTrial())
  } catch {
    if (error.underlying as? PluginError)?.code == .trialCrashed { print("do not deploy this build") }
    print(error)
    return nil
  }
}
