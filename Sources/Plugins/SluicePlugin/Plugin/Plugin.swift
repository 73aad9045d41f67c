@_exported public import SluiceJSON
@_exported public import SluiceMessages
@_exported public import SluiceTraceContext

/// What a plugin is: a type with a configuration that also conforms to ``RequestInterceptor``, ``ResponseInterceptor``,
/// ``IssueInterceptor``, ``FailureInterceptor``, ``BodyInterceptor``, ``TransactionTracer``, ``NotificationHandler``,
/// ``ScheduledWork`` or several of them.
///
///     export ─ init ─ activate ─ calls … ─ deactivate ─ deinit
///
/// One value is one instance: a plugin with a configuration. Its methods are called from several event loops at the
/// same time, unless it has ``PluginOptions/serial``. So it must guard the data that it changes: with a `Mutex`, an
/// `Atomic`, or as an actor. A library exports one plugin; see ``export(_:_:_:_:)``.
public protocol Plugin: Sendable {
  /// Decoded from `config` in the configuration file; unknown keys are refused.
  associatedtype Configuration: Decodable & Sendable = NoConfiguration

  static var information: PluginInformation { get }
  /// How the plugin wants to be called; by default without options.
  static var options: PluginOptions { get }
  /// A JSON Schema (draft-07) that the host checks the configuration against before ``init(configuration:host:)``.
  static var configurationSchema: String? { get }
  /// Default members. A member that the configuration lacks is added before decoding. The decoding that the compiler
  /// generates ignores a property's initial value.
  static var configurationDefaults: JSONValue? { get }
  /// The self-test cases of the plugin, which run before a hot swap.
  static var selfTests: [SelfTest<Self>] { get }

  /// Checks the configuration and stores it: no I/O, no threads. The user sees the error that it throws.
  init(configuration: Configuration, host: PluginHost) throws

  /// Called just before the first exchange, to open files and connections and to start threads. May block.
  func activate() throws

  /// Ends running work within the timeout. After this there are no more calls. May block.
  func deactivate(timeout: Duration)
}

extension Plugin {
  /// No options: calls come from several loops at once, and must not block.
  public static var options: PluginOptions { [] }
  /// None: the host checks no schema; decoding still refuses unknown keys and wrong types.
  public static var configurationSchema: String? { nil }
  /// None: a missing member stays missing.
  public static var configurationDefaults: JSONValue? { nil }
  /// No cases.
  public static var selfTests: [SelfTest<Self>] { [] }
  /// Does nothing.
  public func activate() throws {}
  /// Does nothing.
  public func deactivate(timeout: Duration) {}
}

/// A plugin without a configuration, made by `init()`. Conform to ``Plugin`` itself to get the host.
///
///     struct Tenant: UnconfiguredPlugin, RequestInterceptor {
///       static let information = PluginInformation(id: "tenant", version: "1.0.0", summary: "Names the tenant")
///       func intercept(_ request: StageRequest, context: RequestContext) async throws {
///         request.headers["x-tenant"] = "blue"
///       }
///     }
public protocol UnconfiguredPlugin: Plugin where Configuration == NoConfiguration {
  init() throws
}

extension UnconfiguredPlugin {
  /// Calls `init()`; the host is not kept.
  public init(configuration: NoConfiguration, host: PluginHost) throws { try self.init() }
}

/// The configuration of a plugin without settings; any key is refused.
public struct NoConfiguration: Decodable, Sendable {
  private enum CodingKeys: CodingKey {}

  /// Requires an object, and reads nothing from it. The SDK's decoder refuses any key in it.
  public init(from decoder: any Decoder) throws {
    _ = try decoder.container(keyedBy: CodingKeys.self)
  }
}
