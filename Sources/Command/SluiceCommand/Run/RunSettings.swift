import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceSupport

/// The settings that the arguments of `run` describe.
struct RunSettings: Sendable {
  let configuration: Configuration
  let engine: EngineArguments
  let concurrency: Int
  /// The time between two starts; nil means no limit.
  let interval: Duration?
  let hostLimits: HostLimits
  let drain: Duration
  let hasMetadata: Bool
  /// Whether a body that is JSON is written as JSON.
  let hasJSONBodies: Bool
  let defaults: RunDefaults
  /// The requests of an archive, in place of lines of input.
  let archived: ArchivedRequests?
  let places: EngineServices.Places

  init(_ arguments: ParsedArguments) throws(CommandError) {
    engine = try EngineArguments(arguments)
    configuration = try engine.complete(try EngineStart.configuration(engine.file))
    concurrency = try Self.concurrency(arguments, configuration.limits.transactions)
    hasMetadata = arguments.has("metadata")
    hasJSONBodies = arguments.has("json-bodies")
    defaults = try RunDefaults(arguments)
    places = engine.places(configuration)
    drain = try arguments.duration("drain") ?? .seconds(30)
    interval = try Self.interval(arguments, "rate")
    hostLimits = HostLimits(
      inFlight: try arguments.integer("max-per-host", 1...1_000_000),
      interval: try Self.interval(arguments, "rate-per-host"))
    archived = try ArchivedRequests.make(
      arguments, configuration, lineLimitBytes: Self.lineLimitBytes(configuration))
  }

  var lineLimitBytes: Int { Self.lineLimitBytes(configuration) }

  /// Base64 makes a body a third longer. One MiB is added for the other members of the line.
  private static func lineLimitBytes(_ configuration: Configuration) -> Int {
    configuration.transport.maximumHeldRequestBytes / 3 * 4 + 1 << 20
  }

  /// An upper bound for the length of a result line. A byte of a body takes at most six bytes in JSON. 16 MiB are added
  /// for the other members, which contain each header twice.
  var resultLimitBytes: Int { min(configuration.transport.maximumHeldResponseBytes, 1 << 40) * 6 + 16 << 20 }

  private static func concurrency(_ arguments: ParsedArguments, _ limit: Int) throws(CommandError) -> Int {
    guard let wanted = try arguments.integer("concurrency", 1...1_000_000) else { return min(64, limit) }
    guard wanted <= limit else {
      throw CommandError(
        .usage,
        "--concurrency: \(wanted) is more than limits.transactions allows, which is \(limit); raise it in the"
          + " configuration, or lower --concurrency")
    }
    return wanted
  }

  /// Whether a job in the queue can become ready at a certain time, and not only when another job ends.
  var hasStarter: Bool { hostLimits.interval != nil || hostLimits.inFlight != nil && interval != nil }

  private static func interval(_ arguments: ParsedArguments, _ option: String) throws(CommandError) -> Duration? {
    guard let text = arguments[option] else { return nil }
    let number = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
    guard let rate = Double(number), rate >= 0.001 else {
      throw CommandError(
        .usage, "--\(option): expected requests a second, such as 50/s or 0.5/s, found \(PlainText.quote(text))")
    }
    guard rate <= 1e6 else {
      throw CommandError(
        .usage,
        "--\(option): \(PlainText.quote(text)) is more than 1000000/s; lower it, or leave the option out for no limit")
    }
    return .nanoseconds(Int64(1e9 / rate))
  }
}
