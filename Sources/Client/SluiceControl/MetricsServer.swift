public import Sluice
import SluiceServer

/// Serves the metrics of an engine in Prometheus' text format: `GET /metrics` on a TCP port of this machine.
///
///     let metrics = try MetricsServer(engine, port: 9464)
///     …
///     await engine.shutdown()
///     metrics.stop()
///
/// It listens only on 127.0.0.1, from `init` until ``stop()`` or the end of its life, on its own thread. Every user of
/// the machine can read the metrics. They contain names of stages and the counts of plugins, but no requests.
public final class MetricsServer: Sendable {
  private static let host = "127.0.0.1"
  private static let path = "/metrics"
  private let server: EmbeddedServer

  /// - Parameter port: 0 selects any free port.
  public init(_ engine: Engine, port: UInt16 = 0) throws(ControlError) {
    var options = ServerOptions()
    options.workers = 1
    options.maximumBodyBytes = 1 << 10
    options.maximumConnections = 16
    options.idleTimeout = .seconds(30)
    options.backlog = 128
    do throws(ServerError) {
      server = try EmbeddedServer(on: Self.endpoint(port), options: options) { Self.respond(to: $0, engine) }
    } catch { throw ControlError(error) }
  }

  /// Checks whether the port is free now.
  package static func check(port: UInt16) throws(ControlError) {
    do throws(ServerError) { try endpoint(port).check() } catch { throw ControlError(error) }
  }

  private static func endpoint(_ port: UInt16) -> ServerEndpoint { .tcp(host: host, port: port) }

  deinit { stop() }

  /// The port in use.
  public var port: UInt16 { server.port }

  /// The URL for a scraper.
  public var url: String { server.baseURL + Self.path }

  /// Closes the port and all connections, and waits for the thread. Further calls do nothing.
  public func stop() { server.stop() }

  private static func respond(to request: ServerRequest, _ engine: Engine) -> ServerResponse {
    guard HostField.isLocal(request.headers.first("Host") ?? "", servedAs: host) else {
      return .text("the field Host names another machine\n", status: 421)
    }
    guard request.path == path else { return .text("there is only \(path)\n", status: 404) }
    guard request.method == "GET" || request.method == "HEAD" else {
      var refusal = ServerResponse.text("\(path) accepts only GET and HEAD\n", status: 405)
      refusal.headers.append(HeaderLine("Allow", "GET, HEAD"))
      return refusal
    }
    return .text(engine.prometheusText(), type: ControlHandler.prometheusType)
  }
}
