/// What messages call the settings that they advise to change: keys of the configuration file, unless the program that
/// set them knows other words, such as options of a command.
package struct SettingNames: Sendable, Hashable {
  package var deadline = "deadline"
  /// Of one attempt.
  package var timeout = "transport.timeout"
  package var connectTimeout = "transport.connectTimeout"
  package var maximumRedirects = "redirects.max"
  /// The authorities to trust.
  package var authorities = "transport.tls.ca"
  package var certificate = "transport.tls.cert"
  package var key = "transport.tls.key"
  /// What asks for HTTP/1.1.
  package var http11 = "transport.httpVersion \"1.1\""
  package var proxy = "transport.proxy"

  package init() {}
}
