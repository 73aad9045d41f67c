public import SluiceMessages
package import SluicePipeline
package import SluicePluginHost

/// Why an engine could not be created.
public struct EngineError: DescribedError, Sendable {
  /// The kind of failure, for programs. Later versions can add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// Lower-case words joined by `_`.
    public let rawValue: String
    /// Takes any text; codes that this version does not know are allowed.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The configuration is wrong, or names something that does not exist; the cause is a ``ConfigurationError``.
    public static let configuration = Code(rawValue: "configuration")
    /// A plugin was found and refused, or its code failed to start; the cause is a `PluginError`.
    public static let plugin = Code(rawValue: "plugin")
    /// The machine lacks something: threads or descriptors; the cause is a ``TransportError``.
    public static let transport = Code(rawValue: "transport")
  }

  /// The kind of failure.
  public let code: Code
  /// The place in the configuration that the error is about, if it is known.
  public let subject: ConfigurationLocation?
  /// The cause, with its own code and texts.
  public let underlying: any Error

  /// The text of the cause. A plugin's error is preceded by its place in the configuration, if that is known.
  public var description: String {
    guard code == .plugin, let subject else { return "\(underlying)" }
    return "\(subject): \(underlying)"
  }
}

extension EngineError {
  package static func configuration(_ error: ConfigurationError) -> EngineError {
    EngineError(code: .configuration, subject: error.location, underlying: error)
  }

  package static func plugin(_ error: PluginError, _ location: ConfigurationLocation) -> EngineError {
    EngineError(code: .plugin, subject: location.key.isEmpty ? nil : location, underlying: error)
  }

  package static func transport(_ error: TransportError) -> EngineError {
    EngineError(code: .transport, subject: nil, underlying: error)
  }

  /// An error of a library, or of one of its instances, with the plugin's name and its location in the configuration.
  package init(_ error: PluginError, of library: String, in configuration: Configuration) {
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
    if error.code == .notFound, plugin?.releaseID != nil {
      error.advice = "install a release: sluice update apply"
    }
    self = .plugin(error, plugin?.location ?? ConfigurationLocation())
  }
}
