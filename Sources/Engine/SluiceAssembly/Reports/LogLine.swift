public import SluiceMessages
package import SluicePluginHost

/// A log line of the engine or a plugin.
public struct LogLine: Sendable, Hashable {
  /// How serious a line is. The order is that of the cases, `debug` first.
  public enum Level: Int, Sendable, Hashable, Comparable {
    case debug, info, warning, error

    /// Compares how serious the lines are: `debug` is less than `error`.
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// How serious the line is; a plugin chooses the level of its own lines.
  public var level: Level
  /// The id of the plugin that wrote the line, or that it is about; nil for a line about the engine.
  public var plugin: String?
  /// The number of that plugin's build, counted from 1.
  public var generation: Int?
  /// The instance's name in the configuration.
  public var stage: String?
  /// The text for people. A plugin's text is on one line, with control characters escaped.
  public var message: String
  /// The attributes of the plugin and of the transaction; secrets among them are marked, but not redacted.
  public var attributes = AttributeList()
  /// The transaction that the line is about; nil for a line about no transaction.
  public var transaction: TransactionID?
  /// The request id of that transaction; nil for a line about no transaction.
  public var requestID: String?
  package var attempt: Int?
  /// The swap whose end this line reports.
  package var swap: SwapReport?

  package init(
    level: Level, plugin: String? = nil, generation: Int? = nil, stage: String? = nil, message: String,
    swap: SwapReport? = nil
  ) {
    self.level = level
    self.plugin = plugin
    self.generation = generation
    self.stage = stage
    self.message = message
    self.swap = swap
  }
}

extension LogLine {
  package init(_ entry: PluginLogEntry) {
    self.init(
      level: Level(rawValue: Int(entry.level.rawValue)) ?? .error, plugin: entry.plugin, generation: entry.generation,
      stage: entry.stage, message: entry.message)
    attributes = entry.attributes
    transaction = entry.subject?.transaction
    requestID = entry.subject?.requestID
    attempt = entry.subject?.attempt
  }
}

extension PluginLogEntry.Level {
  package init(_ level: LogLine.Level) { self = PluginLogEntry.Level(rawValue: UInt32(level.rawValue)) ?? .error }
}
