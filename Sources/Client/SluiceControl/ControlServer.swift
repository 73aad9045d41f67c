public import Sluice
import SluiceAssembly
import SluiceServer

/// Lets programs of the same user query and change an engine, over a Unix socket: HTTP with JSON documents.
/// docs/control.md describes them.
///
///     let control = try ControlServer(engine)
///     …
///     await engine.shutdown()
///     control.stop()
///
/// It listens from `init` until ``stop()`` or the end of its life. It has its own thread, and requests of the engine
/// never wait for it.
public final class ControlServer: Sendable {
  /// The function that gets a new configuration, by default ``Engine/reload(_:)``.
  public typealias Reload = @Sendable (Configuration) async throws(SwapError) -> SwapReport

  /// The path of the socket.
  public let path: String
  private let server: EmbeddedServer

  /// - Parameters:
  /// - place: where to listen. If there is a socket at the path and no process listens on it, the socket is replaced.
  ///   Any other file at the path is an error.
  /// - reload: needed only if the program adds stages or settings to each configuration that it loads.
  public init(
    _ engine: Engine, at place: ControlPlace = .userFolder, reload: Reload? = nil
  ) throws(ControlError) {
    path = try ControlFolder.path(of: place)
    let plain: Reload = { (new) async throws(SwapError) in try await engine.reload(new) }
    let handler = ControlHandler(ControlCommands(engine, reload: reload ?? plain))
    var options = ServerOptions()
    options.workers = 1
    options.maximumBodyBytes = ControlHandler.maximumBodyBytes
    options.bodyRefusal = { _ in ControlHandler.tooLarge }
    options.headRefusal = ControlHandler.malformed
    options.maximumConnections = ControlHandler.maximumConnections
    options.crowdRefusal = ControlHandler.crowded
    options.connectionMemoryBytes = ControlHandler.connectionMemoryBytes
    options.idleTimeout = .seconds(30)
    options.backlog = 128
    do throws(ServerError) {
      server = try EmbeddedServer(on: .unix(path: path), options: options) { handler.respond(to: $0) }
    } catch { throw ControlError(error) }
  }

  /// Checks whether a server could listen there now. Creates at most the user's folder.
  package static func check(_ place: ControlPlace) throws(ControlError) {
    let endpoint = ServerEndpoint.unix(path: try ControlFolder.path(of: place))
    do throws(ServerError) { try endpoint.check() } catch { throw ControlError(error) }
  }

  deinit { stop() }

  /// Removes the socket, closes all connections and waits for the thread. A running command continues, but its answer
  /// is not sent. Further calls do nothing.
  public func stop() { server.stop() }
}
