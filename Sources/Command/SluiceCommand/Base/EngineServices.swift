import Sluice
import SluiceAssembly
import SluiceControl
import SluicePluginHost
import SluiceSupport

/// What a command offers beside the requests of its engine: the control socket, and the metrics.
struct EngineServices {
  /// What the arguments and the configuration ask for.
  struct Places: Sendable {
    /// Nil for no control socket.
    var control: ControlPlace?
    /// Nil for no metrics; 0 takes any free port.
    var metricsPort: UInt16?

    /// Checks the places, which can be used only after the engine has started. Its plugins and updates can send requests,
    /// so a wrong option must be found before.
    func check() throws(CommandError) {
      do throws(ControlError) { if let metricsPort { try MetricsServer.check(port: metricsPort) } } catch {
        throw EngineServices.refused(metrics: error)
      }
      do throws(ControlError) { if let control { try ControlServer.check(control) } } catch {
        throw EngineServices.refused(control: error)
      }
    }
  }

  static let options = [
    Option(
      "control", nil, "PATH", isArgumentOptional: true,
      "Listen for \"sluice ctl\" at this socket (default: one named after the process)"),
    Option(
      "metrics-port", nil, "PORT",
      "Serve the metrics for Prometheus at http://127.0.0.1:PORT/metrics; 0 takes any port"),
  ]

  private let control: ControlServer?
  private let metrics: MetricsServer?

  /// Starts both. If that fails, the engine is shut down.
  init(_ engine: Engine, _ places: Places, _ reload: EngineReload, isQuiet: Bool) throws(CommandError) {
    do throws(CommandError) {
      metrics = try Self.metrics(engine, places.metricsPort)
      // The control socket is opened last, so that a failed start does not leave its file behind.
      control = try Self.control(engine, places.control, reload)
    } catch {
      WaitingThread.run { await engine.shutdown(drain: .zero) }
      throw error
    }
    if isQuiet { return }
    if let metrics { StandardError.say("metrics: \(metrics.url)", .info) }
    if let control { StandardError.say("control socket: \(control.path)", .info) }
  }

  func stop() {
    control?.stop()
    metrics?.stop()
  }

  private static func control(
    _ engine: Engine, _ place: ControlPlace?, _ reload: EngineReload
  ) throws(CommandError) -> ControlServer? {
    guard let place else { return nil }
    do throws(ControlError) {
      return try ControlServer(engine, at: place) { (new) async throws(SwapError) in try await reload.apply(new) }
    } catch { throw refused(control: error) }
  }

  private static func metrics(_ engine: Engine, _ port: UInt16?) throws(CommandError) -> MetricsServer? {
    guard let port else { return nil }
    do throws(ControlError) { return try MetricsServer(engine, port: port) } catch { throw refused(metrics: error) }
  }

  private static func refused(control error: ControlError) -> CommandError { CommandError(.usage, "control: \(error)") }

  private static func refused(metrics error: ControlError) -> CommandError {
    CommandError(.usage, "--metrics-port: \(error)")
  }
}
