import Sluice
import SluiceSupport

/// Takes a configuration up while the run goes on.
final class SIGHUPReload: Sendable {
  private let settings: RunSettings
  private let engine: Engine
  private let session: RunSession
  private let recorder: EventRecorder?
  /// What the last SIGHUP has begun.
  private let last = Locked<Task<Void, Never>?>(nil)

  init(_ settings: RunSettings, _ engine: Engine, _ session: RunSession, _ recorder: EventRecorder?) {
    self.settings = settings
    self.engine = engine
    self.session = session
    self.recorder = recorder
  }

  /// Reads the file again; the log says what came of it. Comes back at once; several are done one after the other, so that
  /// what was read last serves.
  func readAnew() {
    guard let file = settings.configurationFile else { return }
    last.withLock { last in
      let before = last
      // Reading a file may take a while, and the thread of signals is not to wait.
      last = Task.detached { [self] in
        await before?.value
        await read(file)
      }
    }
  }

  private func read(_ file: String) async {
    let configuration: Configuration
    do throws(ConfigurationError) { configuration = try Configuration(file: file) } catch {
      return StandardError.say("\(error); the configuration stays as it is")
    }
    // The engine's log says what came of it.
    _ = try? await apply(configuration)
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
