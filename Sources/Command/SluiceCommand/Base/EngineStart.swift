import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceTraceContext
import SluiceTrial

/// The start that `send`, `run` and `check` share: they read a configuration, create an engine, and map errors to exit
/// statuses.
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

  /// Reads the files of `transport.tls`, which the engine itself would read only for its first https connection, when
  /// other requests may have been sent. Replaces pipes by copies (``PipedTLSFiles``).
  static func checkTLS(_ configuration: inout Configuration) throws(CommandError) {
    try PipedTLSFiles.replace(in: &configuration.transport)
    do throws(TransportError) { try Engine.checkTLS(configuration) } catch {
      let place = configuration.file.map { "\($0): " } ?? ""
      throw CommandError(.usage, "\(place)transport.tls: \(error.message)")
    }
  }

  /// - Parameters:
  ///   - hasCheckedTLS: whether the caller has already checked the settings of TLS.
  ///   - updates: what the engine does with signed releases.
  ///   - trial: runs each library in a trial before the engine loads it; if nil, there is no trial.
  ///   - wrap: wraps the transport of each loop.
  static func engine(
    _ configuration: Configuration, hasCheckedTLS: Bool = false, updates: EngineUpdates = .installed,
    trial: HelperTrial? = HelperTrial(warn: warn), wrap: TransportWrapper? = nil
  ) throws(CommandError) -> Engine {
    var configuration = configuration
    if !hasCheckedTLS { try checkTLS(&configuration) }
    // The command's exit function must be registered after the libraries are loaded. It then runs before the exit
    // functions that the libraries have registered.
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
    // The transport reads the files of "tls", and refuses settings that it does not support.
    case let cause as TransportError: cause.code == .tls || cause.code == .transport ? .usage : .failed
    default: .usage
    }
  }

  /// The trace context from the environment, in the formats that `OTEL_PROPAGATORS` names.
  static var extraction: Extraction { Propagators.ofEnvironment().extract(from: EnvironmentCarrier.process) }
}
