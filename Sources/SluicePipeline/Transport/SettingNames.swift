/// What messages call the settings that they advise to change: keys of the configuration file, unless the program that
/// set them knows other words, such as options of a command.
public struct SettingNames: Sendable, Hashable {
  public var deadline = "deadline"
  /// Of one attempt.
  public var timeout = "transport.timeout"
  public var connectTimeout = "transport.connectTimeout"
  public var maximumRedirects = "redirects.max"
  /// The authorities to trust.
  public var authorities = "transport.tls.ca"
  public var certificate = "transport.tls.cert"
  public var key = "transport.tls.key"
  /// What asks for HTTP/1.1.
  public var http11 = "transport.httpVersion \"1.1\""
  public var proxy = "transport.proxy"

  public init() {}
}
