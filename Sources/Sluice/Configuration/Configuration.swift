public import SluiceJSON
public import SluiceJSONSchema
public import SluiceMessages
public import SluicePipeline
public import SluicePluginHost
public import SluiceTransport

/// What an engine is made from: plugins, the order of stages, and how requests go out.
///
/// Read from a JSON file with ``init(file:)``, or put together in code. docs/configuration.md describes every key.
public struct Configuration: Sendable {
  /// The instances by name, in the order of the file.
  public var plugins: [PluginConfiguration] = []
  public var request: [StageReference] = []
  public var issue: [StageReference] = []
  public var response: [StageReference] = []
  public var tracers: [StageReference] = []
  /// Bounds a whole transaction, retries included; nil for none.
  public var deadline: Duration? = .seconds(60)
  /// What relative URLs of requests start from, and whose origin trace headers go to by default.
  public var baseURL: HTTPURL?
  /// Requests name their sender as `sluice/VERSION` unless ``SluiceTransport/TransportSettings/userAgent`` says otherwise.
  public var transport = Self.transportDefaults
  /// Attempts of one transaction, the first included.
  public var maxAttempts = 3
  /// What the engine repeats by itself.
  public var retry = RetryPolicy()
  public var acceptedStatuses = StatusSet.notAnError
  /// What the body of every response has to be.
  public var extract = PayloadForm.raw
  /// What a body that is taken for JSON is held against.
  public var payloadSchema: JSONSchema?
  /// How redirects are followed; what ``redaction`` names as headers counts as secret there.
  public var redirects = RedirectSettings()
  /// How user and password of a URL are used.
  public var credentialPolicy = CredentialPolicy.basicFirst
  public var requestIDHeader = "X-Request-ID"
  /// What the program is called in its metrics; nil leaves it to `OTEL_SERVICE_NAME`.
  public var serviceName: String?
  public var redaction = Redaction()
  public var swap = SwapSettings()
  public var limits = EngineLimits()
  /// How long a call of a plugin may keep its loop before the engine names it in the log; zero disables this.
  public var stallLimit = Duration.seconds(1)
  /// How long a loop may go without turning before `sluice dev` ends the engine's process; zero means forever. An
  /// engine never ends its process itself.
  public var stallKillLimit = Duration.seconds(5)
  /// How long a loop may go without moving before its transactions end with the code `stalled`, regardless of their
  /// deadlines.
  public var stallAbandon = Duration.seconds(30)
  /// The folder of private copies of plugins; nil for the user's cache.
  public var store: String?
  /// Nil for no control socket.
  public var control: ControlPlace?

  /// The file that the configuration was read from; nil for one that was created in code.
  package var file: String?

  public init() {}

  private static var transportDefaults: TransportSettings {
    var settings = TransportSettings()
    settings.userAgent = "sluice/\(Engine.version)"
    return settings
  }
}

/// One instance of a plugin.
public struct PluginConfiguration: Sendable {
  /// Where the code comes from.
  public enum Source: Sendable {
    case library(path: String)
    case builtin(String)
    /// Swift code of the program itself.
    case code(StageCode)
  }

  /// How events reach a tracer.
  public enum Delivery: String, Sendable, Hashable, CaseIterable {
    /// On the event loop, within the time budget.
    case inline
    /// As bounded copies, on a thread of the tracer's own.
    case queued
  }

  public var name: String
  public var source: Source
  /// What the plugin is given; references are resolved already.
  public var config: JSONValue
  /// Bounds one suspended or blocking call.
  public var deadline: Duration?
  /// Nil takes the default: fail for interceptors, skip for tracers.
  public var onFault: FaultPolicy?
  /// How its library is made, for tools that watch the sources; an engine leaves it alone.
  public var build: PluginBuildRule?
  /// What the plugin's library may do to the memory protection of the process; a hazard that is not listed is refused.
  public var allowed: Set<LibraryHazard> = []
  /// How its tracer is told; only plugins from a library can have theirs queued.
  public var delivery = Delivery.inline
  public var location: ConfigurationLocation

  public init(
    name: String, source: Source, config: JSONValue = .object(), deadline: Duration? = nil, onFault: FaultPolicy? = nil,
    location: ConfigurationLocation = ConfigurationLocation()
  ) {
    self.name = name
    self.source = source
    self.config = config
    self.deadline = deadline
    self.onFault = onFault
    self.location = location
  }
}

/// A place in one of the stage lists.
public struct StageReference: Sendable {
  public var plugin: String
  public var match: StageMatch?
  /// Whether a plugin without a part in that list is left out of it, instead of being an error.
  public var isOptional: Bool
  public var location: ConfigurationLocation

  public init(
    _ plugin: String, match: StageMatch? = nil, isOptional: Bool = false,
    location: ConfigurationLocation = ConfigurationLocation()
  ) {
    self.plugin = plugin
    self.match = match
    self.isOptional = isOptional
    self.location = location
  }
}

/// What is hidden wherever requests are shown, besides what is hidden always.
public struct Redaction: Sendable, Hashable {
  /// Names of headers, in lower case.
  public var headers: [String] = []
  /// Names of query parameters.
  public var query: [String] = []

  public init() {}
}
