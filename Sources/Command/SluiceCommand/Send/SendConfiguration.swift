import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The configuration of `send`: the configuration of the file, changed by the options.
enum SendConfiguration {
  /// A hundred years, the longest duration that a configuration can have.
  private static let longest = Duration.seconds(100 * 365 * 86_400)

  static func make(_ arguments: ParsedArguments) throws(CommandError) -> Configuration {
    var configuration = try configuration(arguments)
    if arguments["config"] == nil {
      // Without a configuration file, a request has no limits of time and size. The exception is the size of a response
      // for `--document`, which is held in memory.
      configuration.deadline = nil
      configuration.transport.timeout = longest
      if !arguments.has("document") { configuration.transport.maximumResponseBytes = 1 << 40 }
    }
    configuration.transport.loops = 1
    try applyTimes(arguments, to: &configuration)
    configuration.transport.names = names(arguments)
    try applyHops(arguments, to: &configuration)
    try TLSOptions.apply(arguments, to: &configuration.transport.tls)
    try ConnectionOptions.apply(arguments, to: &configuration)
    if let limit = try ByteCount.make(arguments, "max-filesize") {
      configuration.transport.maximumResponseBytes = limit
    }
    if let path = arguments["unix-socket"] { configuration.transport.unixSocket = SystemPath.absolute(path) }
    try applyRetry(arguments, to: &configuration)
    if let proxy = arguments["proxy"] { configuration.transport.proxy = proxy }
    applyVersion(arguments, to: &configuration.transport)
    try PluginArguments.append(arguments.all("plugin"), to: &configuration)
    return configuration
  }

  private static func configuration(_ arguments: ParsedArguments) throws(CommandError) -> Configuration {
    let file = arguments["config"]
    do throws(CommandError) { return try EngineStart.configuration(file) } catch {
      // The user may have meant curl's option, as in "-b jar -c jar".
      guard arguments.has("cookie") || file?.hasSuffix(".json") != true else { throw error }
      throw CommandError(
        error.status, error.message + "\n-c is the configuration of the pipeline; curl's -c is --cookie-jar here")
    }
  }

  private static func applyTimes(
    _ arguments: ParsedArguments, to configuration: inout Configuration
  ) throws(CommandError) {
    if let timeout = try arguments.duration("max-time", unit: "s") {
      configuration.deadline = timeout > .zero ? timeout : nil
      configuration.transport.timeout = timeout > .zero ? timeout : longest
    }
    if let timeout = try arguments.duration("connect-timeout", unit: "s") {
      configuration.transport.connectTimeout = timeout > .zero ? timeout : longest
    }
    // As with curl, `--max-time` applies to each attempt if there is `--retry`.
    if arguments.has("retry"), arguments.has("max-time") { configuration.deadline = nil }
  }

  private static func applyVersion(_ arguments: ParsedArguments, to transport: inout TransportSettings) {
    if arguments.has("http1.0") { transport.httpVersion = .http10 }
    if arguments.has("http1.1") { transport.httpVersion = .http11 }
    if arguments.has("http2") { transport.httpVersion = .http2 }
    if arguments.has("http2-prior-knowledge") {
      transport.httpVersion = .http2
      transport.assumesHTTP2 = true
    }
  }

  private static func applyRetry(
    _ arguments: ParsedArguments, to configuration: inout Configuration
  ) throws(CommandError) {
    // As with curl, 0 means the default.
    let delay = try arguments.duration("retry-delay", unit: "s").flatMap { $0 > .zero ? $0 : nil }
    guard let count = try arguments.integer("retry", 0...1000) else {
      for name in ["retry-delay", "retry-connrefused", "retry-all-errors", "retry-max-time"] where arguments.has(name) {
        throw CommandError(.usage, "send: --\(name) needs --retry N")
      }
      return
    }
    configuration.maximumAttempts = count + 1
    if count > 0, !arguments.has("silent") { RetryNotice.append(to: &configuration) }
    configuration.retry.statuses = StatusSet([408...408, 429...429, 500...500, 502...504])
    configuration.retry.methods += ["POST", "PATCH"]
    if arguments.has("retry-connrefused") { configuration.retry.connectionErrors = .always }
    if arguments.has("retry-all-errors") {
      configuration.retry.coversEveryFailure = true
      configuration.retry.statuses = StatusSet([400...599])
    }
    if let time = try arguments.duration("retry-max-time", unit: "s"), time > .zero {
      configuration.retry.window = time
    }
    configuration.retry.backoff = Backoff(base: delay ?? .seconds(1), maximum: delay ?? .seconds(600))
    configuration.retry.backoff.isExact = true
    configuration.retry.budget = 1
  }

  /// The names of settings in error messages: that of the option. If there is a configuration, a setting that no option
  /// sets has the name of its key.
  private static func names(_ arguments: ParsedArguments) -> SettingNames {
    var names = SettingNames()
    func use(_ option: String, for name: WritableKeyPath<SettingNames, String>, as word: String? = nil) {
      guard arguments["config"] == nil || arguments.has(option) else { return }
      names[keyPath: name] = word ?? "--\(option)"
    }
    use("max-time", for: \.deadline, as: "-m")
    use("max-time", for: \.timeout, as: "-m")
    use("connect-timeout", for: \.connectTimeout)
    use("max-redirs", for: \.maximumRedirects)
    use("max-filesize", for: \.maximumResponseBytes)
    use("unix-socket", for: \.unixSocket)
    use("cacert", for: \.authorities)
    use("cert", for: \.certificate)
    use("key", for: \.key)
    use("proxy", for: \.proxy, as: "-x")
    names.keyPassword = "--pass"
    names.publicKeys = "--pinnedpubkey"
    names.http11 = "--http1.1"
    return names
  }

  private static func applyHops(
    _ arguments: ParsedArguments, to configuration: inout Configuration
  ) throws(CommandError) {
    if arguments.has("no-location") {
      guard !arguments.has("location"), arguments["max-redirs"] == nil else {
        throw CommandError(.usage, "send: give either --no-location, or -L and --max-redirs")
      }
      configuration.redirects.maximum = 0
    }
    if arguments.has("location-trusted") { configuration.redirects.kept += Redactor.credentialFields }
    if arguments.has("location"), configuration.redirects.maximum == 0 { configuration.redirects.maximum = 20 }
    if let limit = arguments["max-redirs"] {
      guard let number = limit == "-1" ? 1000 : Int(limit), (0...1000).contains(number) else {
        throw CommandError(
          .usage,
          "send: --max-redirs: expected a number from 0 to 1000, or -1 for 1000, found \(PlainText.quote(limit))")
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
