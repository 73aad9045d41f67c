/// The names of settings that messages advise to change: keys of the configuration file, unless the program uses other
/// names, such as options of a command.
package struct SettingNames: Sendable, Hashable {
  package var deadline = "deadline"
  /// The time limit for one attempt.
  package var timeout = "transport.timeout"
  package var connectTimeout = "transport.connectTimeout"
  package var maximumResponseBytes = "transport.maxResponseBytes"
  package var unixSocket = "transport.unixSocket"
  package var maximumRedirects = "redirects.max"
  /// The authorities to trust.
  package var authorities = "transport.tls.ca"
  package var certificate = "transport.tls.cert"
  package var key = "transport.tls.key"
  /// The setting for the password of ``key``; nil if no setting can give it.
  package var keyPassword: String?
  /// The public keys that a server may have.
  package var publicKeys = "the public keys of the settings"
  /// The setting that selects HTTP/1.1.
  package var http11 = "transport.httpVersion \"1.1\""
  package var proxy = "transport.proxy"

  package init() {}

  /// Advice that is appended to a message. It names the places where the proxy is configured.
  package var proxyAdvice: String { "; see \(proxy), or http_proxy, https_proxy and all_proxy in the environment" }
}
