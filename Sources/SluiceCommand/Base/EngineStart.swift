import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluicePluginImage
import SluiceTraceContext
import SluiceTrial

/// What `send`, `run` and `check` share: a configuration, an engine, and the statuses of their errors.
enum EngineStart {
  /// How long plugins have to write their buffered data after the last request has ended.
  static let farewell = Duration.seconds(5)

  static func configuration(_ file: String?) throws(CommandError) -> Configuration {
    guard let file else { return Configuration() }
    do { return try Configuration(file: file) } catch { throw CommandError(.usage, "\(error)") }
  }

  static func configuration(_ text: [UInt8], of file: String) throws(CommandError) -> Configuration {
    do { return try Configuration(text: text, file: file) } catch { throw CommandError(.usage, "\(error)") }
  }

  /// - Parameters:
  ///   - updates: what is done about signed releases.
  ///   - trial: tries out libraries before they are loaded; nil loads them without a trial.
  ///   - wrap: wraps the transport of each loop.
  static func engine(
    _ configuration: Configuration, updates: EngineUpdates = .installed, trial: HelperTrial? = HelperTrial(warn: warn),
    wrap: TransportWrapper? = nil
  ) throws(CommandError) -> Engine {
    // Must follow the loading of libraries, so that exit functions that they have registered run after the command's
    // exit function.
    defer { ProcessEnd.watch() }
    return try updates.start(configuration) { configuration throws(EngineError) in
      try Engine(
        configuration, sources: [:], trial: trial, minimumLogLevel: LogOutput.minimumLevel, wrap: wrap
      ) { line in
        if line.swap != nil { ProcessEnd.watch() }
        LogOutput.show(line)
      }
    }
  }

  /// Prints a warning from the trial of a build that is not refused.
  static func warn(_ subject: PluginError.Subject, _ words: String) {
    LogOutput.show(LogLine(level: .warning, message: PlainText.line("\(subject): \(words)")))
  }

  static func failure(_ error: EngineError) -> CommandError { CommandError(status(of: error), "\(error)") }

  private static func status(of error: EngineError) -> ExitStatus {
    switch error.underlying {
    case let cause as PluginError: cause.isRefusal ? .refused : .usage
    // Most errors in a configuration are found before the transport is created. Only the files of "tls" are read by the
    // transport.
    case let cause as TransportError: cause.code == .tls ? .usage : .failed
    default: .usage
    }
  }

  /// The trace context from the environment, in the formats that `OTEL_PROPAGATORS` names.
  static var extraction: Extraction { Propagators.ofEnvironment().extract(from: EnvironmentCarrier.process) }
}
