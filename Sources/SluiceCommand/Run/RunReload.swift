import Sluice

/// Takes a configuration up while the run goes on.
final class RunReload: Sendable {
  private let settings: RunSettings
  private let engine: Engine
  private let session: RunSession
  private let recorder: EventRecorder?

  init(_ settings: RunSettings, _ engine: Engine, _ session: RunSession, _ recorder: EventRecorder?) {
    self.settings = settings
    self.engine = engine
    self.session = session
    self.recorder = recorder
  }

  /// Reads the file again and says what came of it. Comes back at once.
  func readAnew() {
    guard let file = settings.configurationFile else { return }
    // Reading a file may take a while, and the thread of signals is not to wait.
    Task.detached { [self] in
      do throws(ConfigurationError) {
        let configuration = try Configuration(file: file)
        // The engine says itself why it refuses one.
        if let report = try? await apply(configuration) { StandardError.say("\(PrintableText.of("\(report)"))") }
      } catch {
        StandardError.say("\(error); the configuration stays as it is")
      }
    }
  }

  /// With what the arguments of the command add to each configuration.
  func apply(_ configuration: Configuration) async throws(SwapError) -> SwapReport {
    // The arguments were read once already, so that they are in order.
    var complete = (try? settings.complete(configuration)) ?? configuration
    recorder?.append(to: &complete)
    let report = try await engine.reload(complete)
    session.adopt(complete.redaction)
    return report
  }
}
