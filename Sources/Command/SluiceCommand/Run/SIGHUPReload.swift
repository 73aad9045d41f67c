import Sluice
import SluiceAssembly
import SluiceSupport

/// Loads a new configuration during a run.
final class SIGHUPReload: Sendable {
  private let settings: RunSettings
  private let engine: Engine
  private let session: RunSession
  private let sides: SideOutputs
  /// The reload that the last SIGHUP started.
  private let last = Locked<Task<Void, Never>?>(nil)

  init(_ settings: RunSettings, _ engine: Engine, _ session: RunSession, _ sides: SideOutputs) {
    self.settings = settings
    self.engine = engine
    self.session = session
    self.sides = sides
  }

  /// Reads the file again, and logs the result. Returns at once. Reloads run one after the other, so the file that was
  /// read last serves in the end.
  func reload() {
    guard let file = settings.configurationFile else { return }
    last.withLock { last in
      let before = last
      // Reading a file may be slow, and the thread that waits for signals must not block.
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
    // The engine logs the result.
    _ = try? await apply(configuration)
  }

  /// Loads the configuration together with the additions from the command's arguments.
  func apply(_ configuration: Configuration) async throws(SwapError) -> SwapReport {
    // The arguments were checked at the start, so they are valid.
    var complete = (try? settings.complete(configuration)) ?? configuration
    sides.append(to: &complete)
    let report = try await engine.reload(complete)
    session.adopt(complete.redaction)
    return report
  }
}
