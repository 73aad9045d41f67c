public import SluiceJSON
public import SluiceJSONSchema
public import SluiceMessages
public import SluicePipeline
public import SluicePluginHost

/// The settings of an engine: plugins, the order of stages, and how requests are sent.
///
/// Read from a JSON file with ``init(file:installedPlugins:)``, or created in code. docs/configuration.md describes every
/// key.
public struct Configuration: Sendable {
  /// The instances by name, in the order of the file.
  public var plugins: [PluginConfiguration] = []
  /// The stages that are called, first to last, before a request is sent.
  public var request: [StageReference] = []
  /// The stages that are called, first to last, for every hop, after the connection is established and before anything
  /// is sent.
  public var issue: [StageReference] = []
  /// The stages that are called, first to last, when a response has arrived, or when the attempt has failed without
  /// one.
  public var response: [StageReference] = []
  /// The tracers, which get the events of every transaction. A reference in this list has no `match` and no `config`.
  public var tracers: [StageReference] = []
  /// The time limit for a whole transaction, including retries; nil means no limit.
  public var deadline: Duration? = .seconds(60)
  /// The base of relative URLs in requests; trace headers go to its origin by default.
  public var baseURL: HTTPURL?
  /// Requests name their sender as `sluice/VERSION` unless ``TransportSettings/userAgent`` says otherwise.
  public var transport = Self.transportDefaults
  /// The maximum number of attempts of one transaction, including the first.
  public var maximumAttempts = 3
  /// Which requests the engine retries by itself.
  public var retry = RetryPolicy()
  /// The final statuses that are a success, by default everything below 400. Any other fails the transaction with
  /// `http_status`; the result still has the response.
  public var acceptedStatuses = StatusSet.notAnError
  /// What the body of every response must be.
  public var extract = PayloadForm.raw
  /// The schema for bodies that are read as JSON.
  public var payloadSchema: JSONSchema?
  /// How redirects are followed. The headers in ``redaction`` count as secret, so they are not sent to another origin.
  public var redirects = RedirectSettings()
  /// How the user and password of a URL are used.
  public var credentialPolicy = CredentialPolicy.basicFirst
  /// The name of the request header whose value is the request id. Without the header, the id is the transaction's
  /// UUID.
  public var requestIDHeader = "X-Request-ID"
  /// The name of the program in its metrics; nil means `OTEL_SERVICE_NAME`.
  public var serviceName: String?
  /// Values to hide in addition to credentials, cookies and signed query keys, which are always hidden.
  public var redaction = RedactionSettings()
  /// How plugins are swapped while requests flow; by default with a probation of 30 seconds.
  public var swap = SwapSettings()
  /// How much the engine handles at a time. Read only when the engine starts.
  public var limits = EngineLimits()
  /// How long a call of a plugin can keep its loop before the engine names the plugin in the log; zero disables this.
  public var stallLimit = Duration.seconds(1)
  /// How long a loop can stand still before `sluice dev` ends the engine's process; zero means forever. An engine never
  /// ends its process itself.
  public var stallKillLimit = Duration.seconds(5)
  /// How long a loop can stand still before its transactions end with the code `stalled`, even before their deadlines.
  public var stallAbandon = Duration.seconds(30)
  /// The folder for private copies of plugins; nil means the user's cache.
  public var store: String?
  /// The control socket; nil means none.
  public var control: ControlPlace?
  /// Signed releases of the plugins; nil means none. An engine itself ignores this setting; an `Updater` of
  /// SluiceUpdate uses it.
  public var update: UpdateSettings?
  /// How the pipeline behaves inside programs under `sluice attach`; an engine ignores it.
  public var attach = AttachSettings()
  /// How `sluice serve` serves clients; an engine ignores it.
  package var serve = ServeSettings()
  /// Whether the requests come from several clients. Read only when the engine starts.
  package var isShared = false
  /// Whether the text names a ``deadline``.
  package var namesDeadline = false

  /// The installed plugins among which libraries were looked up by name. A configuration that arrives later over the
  /// control socket is read with the same value.
  public var installedPlugins = InstalledPlugins.ofThisProgram
  /// Everything that is hidden.
  package var secrets: Redactor { Redactor(headers: redaction.headers, query: redaction.query) }
  /// Complaints about keys of the file that have no effect any more, for the log.
  package var warnings: [String] = []
  /// The file that the configuration was read from; nil for one that was created in code.
  package var file: String?
  /// The text that the configuration was read from; nil for one that was created in code.
  package var text: [UInt8]?

  /// A configuration without plugins, in which every setting has the default of a configuration file.
  public init() {}

  private static var transportDefaults: TransportSettings {
    var settings = TransportSettings()
    settings.userAgent = "sluice/\(Product.version)"
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
    /// On the event loop, within the time limit.
    case inline
    /// As bounded copies, on the tracer's own thread.
    case queued
  }

  /// The name in stage lists, errors and metrics; must be unique. A file accepts 1 to 64 printable ASCII characters
  /// without spaces and quotes.
  public var name: String
  /// A library, a built-in, or code of the program. Several instances can use the same library.
  public var source: Source
  /// The configuration for the plugin; references are already resolved.
  public var config: JSONValue
  /// The time limit for one suspended or blocking call.
  public var deadline: Duration?
  /// Nil means the default: fail for interceptors, skip for tracers.
  public var onFault: FaultPolicy?
  /// How the plugin's library is built, for tools that watch the sources; an engine ignores it.
  package var build: PluginBuildRule?
  /// What the plugin's library may do to the memory protection of the process; a hazard that is not listed is refused.
  public var allowed: Set<LibraryHazard> = []
  /// How the plugin's tracer gets events; a built-in cannot be queued.
  public var delivery = Delivery.inline
  /// The id of the plugin in signed releases; nil if its library does not come from a release.
  package var releaseID: String?
  package var location: ConfigurationLocation

  /// An instance without permissions for its library, whose tracer is called on the event loop.
  public init(
    name: String, source: Source, config: JSONValue = .object(), deadline: Duration? = nil, onFault: FaultPolicy? = nil
  ) {
    self.init(
      name: name, source: source, config: config, deadline: deadline, onFault: onFault,
      location: ConfigurationLocation())
  }

  /// - Parameter location: the place that error messages about the instance show.
  package init(
    name: String, source: Source, config: JSONValue = .object(), deadline: Duration? = nil, onFault: FaultPolicy? = nil,
    location: ConfigurationLocation
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
  /// The name of an instance, which must be in ``Configuration/plugins``.
  public var plugin: String
  /// Which requests the stage is called for; nil means all. Must be nil for tracers.
  public var match: StageMatch?
  /// The configuration of this place, which the plugin gets in addition to its own; not for tracers.
  public var config: JSONValue?
  var configLocation: ConfigurationLocation?
  /// Whether the place is left out if the plugin has no callback for its list. If false, such a place is an error.
  public var isOptional: Bool
  package var location: ConfigurationLocation

  /// A place for the instance of that name, which must be in ``Configuration/plugins``.
  public init(_ plugin: String, match: StageMatch? = nil, config: JSONValue? = nil, isOptional: Bool = false) {
    self.init(
      plugin, match: match, config: config, isOptional: isOptional, location: ConfigurationLocation())
  }

  /// - Parameter location: the place in the file that error messages show.
  package init(
    _ plugin: String, match: StageMatch? = nil, config: JSONValue? = nil, isOptional: Bool = false,
    location: ConfigurationLocation
  ) {
    self.plugin = plugin
    self.match = match
    self.config = config
    self.isOptional = isOptional
    self.location = location
  }
}

/// Additional values to hide wherever requests are shown.
public struct RedactionSettings: Sendable, Hashable {
  /// Names of headers, in lower case.
  public var headers: [String] = []
  /// Names of query parameters.
  public var query: [String] = []

  /// Hides nothing beyond what is always hidden.
  public init() {}
}
