/// A line that a plugin logged, or that the host logs about it.
package struct PluginLogEntry: Sendable {
  package enum Level: UInt32, Sendable {
    case debug = 0
    case info = 1
    case warning = 2
    case error = 3
  }

  package var level: Level
  /// The instance's name in the configuration, which is also the stage's.
  package var stage: String
  package var plugin: String
  package var generation: Int
  package var message: String
}
