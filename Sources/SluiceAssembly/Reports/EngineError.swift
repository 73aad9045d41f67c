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

/// The error that ``Engine/perform(_:parent:)`` throws when a transaction fails. It has the cause and the result.
public struct TransactionFailure: Error, Sendable, CustomStringConvertible {
  /// Why the transaction failed; the same as in ``result``.
  public let error: TransactionError
  /// The response, if there was one, and the facts of the transaction.
  public let result: TransactionResult

  /// The text of ``error``: its code, the stage at fault if there is one, and the message, on one line.
  public var description: String { error.description }
}

extension EngineError {
  /// An error of a library, or of one of its instances, with the plugin's name and its location in the configuration.
  init(_ error: PluginError, of library: String, in configuration: Configuration) {
    var plugin = configuration.plugins.first { $0.library == library }
    if case .plugin(let name?, _) = error.subject,
      let named = configuration.plugins.first(where: { $0.name == name })
    {
      plugin = named
    }
    var error = plugin.map { error.named($0.name) } ?? error
    if error.code == .trialUnavailable, error.advice == nil {
      error.advice = "set \"swap.trial\" to \"0s\" to load libraries without a trial"
    }
    self = .plugin(error, plugin?.location ?? ConfigurationLocation())
  }
}
