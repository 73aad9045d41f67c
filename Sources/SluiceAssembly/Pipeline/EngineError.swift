public import SluicePipeline
import SluicePluginHost
public import SluicePluginImage

/// Why an engine could not be created.
public enum EngineError: Error, Sendable, CustomStringConvertible {
  /// The configuration is wrong, or names something that does not exist.
  case configuration(ConfigurationError)
  /// A plugin was found and refused, or its code failed to start.
  case plugin(PluginError, ConfigurationLocation)
  /// The machine lacks something: threads, descriptors, a suitable libcurl.
  case transport(TransportError)

  /// The text of the underlying error. A plugin's error is preceded by its place in the configuration, if that is
  /// known.
  public var description: String {
    switch self {
    case .configuration(let error): error.description
    case .plugin(let error, let location): location.key.isEmpty ? error.description : "\(location): \(error)"
    case .transport(let error): error.description
    }
  }
}

/// The error that ``Engine/execute(_:parent:)`` throws when a transaction fails. It has the cause and the result.
public struct TransactionFailure: Error, Sendable, CustomStringConvertible {
  /// Why the transaction failed; the same as in ``result``.
  public let error: TransactionError
  /// The response, if there was one, and the facts of the transaction.
  public let result: TransactionResult

  /// The text of ``error``: its code, the stage at fault if there is one, and the message, on one line.
  public var description: String { error.description }
}
