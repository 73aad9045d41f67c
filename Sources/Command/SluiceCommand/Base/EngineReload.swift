import Sluice
import SluiceAssembly
import SluiceSupport

/// Loads a new configuration into the engine of a command that runs on: from the file of the command on SIGHUP, or from
/// the control socket.
final class EngineReload: Sendable {
  /// Nil if the command has no configuration file.
  private let file: String?
  private let engine: Engine
  private let add: @Sendable (inout Configuration) -> Void
  private let complete: @Sendable (Configuration) throws(CommandError) -> Configuration
  private let didApply: @Sendable (Configuration) -> Void
  /// The reload that the last SIGHUP started.
  private let last = Locked<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - complete: adds what the command's arguments say to a configuration that was read.
  ///   - add: adds the stages of the command itself to each complete configuration.
  ///   - didApply: called with each configuration that serves.
  init(
    of file: String?, _ engine: Engine,
    complete: @escaping @Sendable (Configuration) throws(CommandError) -> Configuration,
    add: @escaping @Sendable (inout Configuration) -> Void,
    didApply: @escaping @Sendable (Configuration) -> Void = { _ in }
  ) {
    self.file = file
    self.engine = engine
    self.add = add
    self.complete = complete
    self.didApply = didApply
  }

  /// Reads the file again, and logs the result. Returns at once. Reloads run one after the other, so the file that was
  /// read last serves in the end.
  func reload() {
    guard let file else { return }
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
    do { configuration = try complete(try EngineStart.configuration(file)) } catch {
      return StandardError.say("\(error.message); the configuration stays as it is")
    }
    // The engine logs the result.
    _ = try? await load(configuration)
  }

  /// Loads a configuration that came over the control socket, together with the additions from the command's arguments.
  func apply(_ configuration: Configuration) async throws(SwapError) -> SwapReport {
    let complete: Configuration
    do { complete = try self.complete(configuration) } catch {
      throw SwapError(reload: error.message, snapshot: engine.snapshotNumber)
    }
    return try await load(complete)
  }

  private func load(_ complete: Configuration) async throws(SwapError) -> SwapReport {
    var configuration = complete
    add(&configuration)
    let report = try await engine.reload(configuration)
    didApply(configuration)
    return report
  }
}
