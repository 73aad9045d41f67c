import Sluice
import SluiceMessages
import SluicePipeline

/// The configuration of `send`: that of the file, changed by the options.
enum SendConfiguration {
  /// The longest duration that a configuration can have: a hundred years.
  private static let longest = Duration.seconds(100 * 365 * 86_400)

  static func make(_ arguments: ParsedArguments) throws(CommandError) -> Configuration {
    var configuration = try EngineStart.configuration(arguments["config"])
    if arguments["config"] == nil {
      // A single request has no limits of time and size, except for a response that is held for a document.
      configuration.deadline = nil
      configuration.transport.timeout = longest
      if !arguments.has("json") { configuration.transport.maximumResponseBytes = 1 << 40 }
    }
    configuration.transport.loops = 1
    if let timeout = try arguments.duration("timeout", unit: "s") {
      configuration.deadline = timeout > .zero ? timeout : nil
      configuration.transport.timeout = timeout > .zero ? timeout : longest
    }
    if let timeout = try arguments.duration("connect-timeout", unit: "s") {
      configuration.transport.connectTimeout = timeout > .zero ? timeout : longest
    }
    configuration.transport.names = names
    try applyHops(arguments, to: &configuration)
    if arguments.has("insecure") { configuration.transport.tls.verify = false }
    if let authorities = arguments["cacert"] { configuration.transport.tls.ca = authorities }
    if let proxy = arguments["proxy"] { configuration.transport.proxy = proxy }
    if arguments.has("http1.1") { configuration.transport.httpVersion = .http11 }
    if arguments.has("http2") { configuration.transport.httpVersion = .http2 }
    if arguments.has("http2-prior-knowledge") {
      configuration.transport.httpVersion = .http2
      configuration.transport.assumesHTTP2 = true
    }
    try PluginArguments.append(arguments.all("plugin"), to: &configuration)
    return configuration
  }

  /// Errors name the option to use; a setting without an option is named by its key.
  private static var names: SettingNames {
    var names = SettingNames()
    names.deadline = "-m"
    names.timeout = "-m"
    names.connectTimeout = "--connect-timeout"
    names.maximumRedirects = "--max-redirs"
    names.authorities = "--cacert"
    names.http11 = "--http1.1"
    names.proxy = "-x"
    return names
  }

  private static func applyHops(
    _ arguments: ParsedArguments, to configuration: inout Configuration
  ) throws(CommandError) {
    if arguments.has("location"), configuration.redirects.maximum == 0 { configuration.redirects.maximum = 20 }
    if let limit = arguments["max-redirs"] {
      guard let number = Int(limit), (0...1000).contains(number) else {
        throw CommandError(
          .usage, "send: --max-redirs: expected a number from 0 to 1000, found \(PlainText.quote(limit))")
      }
      configuration.redirects.maximum = number
    }
    if arguments.has("digest"), arguments.has("anyauth") {
      throw CommandError(.usage, "send: give either --digest or --anyauth")
    }
    if arguments.has("digest") { configuration.credentialPolicy = .digest }
    if arguments.has("anyauth") { configuration.credentialPolicy = .whenAsked }
  }
}
