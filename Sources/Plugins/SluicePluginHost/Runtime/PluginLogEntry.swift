package import SluiceMessages
import SluicePipeline

/// A line that a plugin logged, or that the host logs about it.
package struct PluginLogEntry: Sendable {
  package enum Level: UInt32, Sendable, Comparable {
    case debug = 0
    case info = 1
    case warning = 2
    case error = 3

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// The transaction that a line is about.
  package struct Subject: Sendable {
    package let transaction: TransactionID
    package let requestID: String
    package let attempt: Int

    init(_ exchange: Exchange) {
      transaction = exchange.id
      requestID = exchange.requestID
      attempt = exchange.attempt
    }
  }

  package var level: Level
  /// The name of the instance in the configuration, which is also the name of the stage.
  package var stage: String
  package var plugin: String
  package var generation: Int
  package var message: String
  package var attributes = AttributeList()
  package var subject: Subject?
}
