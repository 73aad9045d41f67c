/// A plugin's description of itself.
public struct PluginInformation: Hashable, Sendable {
  /// The id of the plugin: a reverse-DNS name such as `org.example.auth`, or a plain name. It is the same in all
  /// versions.
  public var id: String
  /// The semantic version.
  public var version: String
  /// One line for people.
  public var summary: String

  /// Describes a plugin. Nothing is checked here: the host refuses a library whose description is invalid.
  /// - Parameters:
  ///   - id: letters, digits, `.`, `-` and `_`; 1 to 255 bytes.
  ///   - version: a version of Semantic Versioning 2.0.0, such as `1.4.0`.
  ///   - summary: one line, not empty, at most 1024 bytes.
  public init(id: String, version: String, summary: String) {
    self.id = id
    self.version = version
    self.summary = summary
  }
}

/// How a plugin wants to be called.
public struct PluginOptions: OptionSet, Sendable {
  /// Bits of this SDK; the C tables number some options differently.
  public let rawValue: UInt32

  /// Takes any bits; unknown ones have no effect.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Calls for one instance come one at a time, on any loop. A suspended call does not delay the next one.
  public static let serial = PluginOptions(rawValue: 1)
  /// The methods may block: they are called on a thread pool. Only for the synchronous protocols.
  public static let blocking = PluginOptions(rawValue: 2)
  /// The whole request body is available when a request interceptor is called. If the caller streams the body, the host
  /// first reads all of it, up to `transport.maxRequestBytes`, into memory or a file.
  public static let wantsRequestBody = PluginOptions(rawValue: 4)
  /// The whole response body is available when a response interceptor is called. Without this option, the interceptor
  /// is called earlier, when the head has arrived.
  public static let wantsResponseBody = PluginOptions(rawValue: 8)
}
