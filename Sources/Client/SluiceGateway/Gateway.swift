package import Sluice
package import SluiceAssembly
package import SluiceServer
import SluiceSupport
import SluiceTransport

/// Serves clients with the pipeline of an engine: each request of a client is one transaction, which goes to one
/// upstream. It is a gateway in the sense of RFC 9110 §3.7, also called a reverse proxy.
///
///     var settings = ServeSettings()
///     settings.upstream = "http://127.0.0.1:9000"
///     let gateway = try Gateway(engine, on: ServeSettings.Listener(host: "127.0.0.1", port: 8080), settings)
///     …
///     gateway.drain(within: .seconds(30))
///     await engine.shutdown()
///
/// A transaction begins on the loop that has accepted the connection, and stays there.
package final class Gateway: Sendable {
  private let server: Server
  private let tls: ServerTLS?
  private let listener: ServeSettings.Listener

  /// Listens when this returns. The loops of the engine serve the connections, so the gateway must end before the engine.
  /// - Parameters:
  ///   - settings: must name an upstream.
  ///   - socket: a socket that listens already; must be given for a place that the process has inherited.
  package init(
    _ engine: Engine, on listener: ServeSettings.Listener, _ settings: ServeSettings, socket: SharedListener? = nil,
    observer: (any GatewayObserver)? = nil
  ) throws(ServerError) {
    self.listener = listener
    let limits = ServerLimits(settings.limits, loops: engine.loops.count)
    let handler = GatewayHandler(engine, listener, settings, bufferBytes: limits.bufferBytes, observer)
    let sockets: [SharedListener]
    if let socket {
      sockets = [socket]
    } else if case .address(let host, let port) = listener.place {
      sockets = try SharedListener.several(engine.loops.count, on: .tcp(host: host, port: port))
    } else {
      preconditionFailure("a place that the process has inherited has no socket")
    }
    tls = try Self.context(listener, at: sockets[0].endpoint).map { ServerTLS($0) }
    server = Server(accepting: sockets, engine.loops, limits: limits, tls: tls, handler)
  }

  /// Reads the certificates again, from the same files. Connections that are open keep theirs. If a file is not valid,
  /// the certificates stay as they are.
  package func reloadCertificates() throws(ServerError) {
    guard let tls, let context = try Self.context(listener, at: endpoint) else { return }
    tls.context = context
  }

  /// Why the files of a port's certificates cannot be used; nil if nothing is wrong with them.
  package static func certificateProblem(of listener: ServeSettings.Listener) -> String? {
    do throws(TLSFailure) { _ = try context(listener) } catch { return error.reason }
    return nil
  }

  private static func context(
    _ listener: ServeSettings.Listener, at place: ServerEndpoint
  ) throws(ServerError) -> TLSServerContext? {
    do throws(TLSFailure) { return try context(listener) } catch {
      throw ServerError(.certificateUnfit, place, underlying: error.reason)
    }
  }

  /// Nil for a port without TLS.
  private static func context(_ listener: ServeSettings.Listener) throws(TLSFailure) -> TLSServerContext? {
    guard let tls = listener.tls else { return nil }
    return try TLSServerContext(
      tls.certificates.map { TLSServerContext.Certificate(chain: $0.chain, key: $0.key) },
      clientAuthorities: tls.clientAuthorities, needsClient: listener.clients == .certificate)
  }

  /// Whether clients use TLS.
  package var isSecure: Bool { tls != nil }

  /// The address with the actual port.
  package var endpoint: ServerEndpoint { server.endpoint }

  /// Accepts no further connections, and waits until the requests in flight are answered. Connections that are left when
  /// the time has passed are closed. Blocks; must not be called on a loop of the engine.
  /// - Returns: whether all requests were answered in time.
  @discardableResult
  package func drain(within limit: Duration) -> Bool { Self.drain([self], within: limit) }

  /// Does the same for several gateways at once.
  package static func drain(_ gateways: [Gateway], within limit: Duration) -> Bool {
    let deadline = MonotonicClock.now + limit
    let waits = gateways.map { $0.server.beginDraining() }
    return waits.reduce(true) { isInTime, wait in wait(max(.zero, deadline - MonotonicClock.now)) && isInTime }
  }
}

extension ServerLimits {
  /// - Parameter loops: the number of loops that share the connections.
  fileprivate init(_ limits: ServeSettings.Limits, loops: Int) {
    self.init()
    if let count = limits.connections { connections = (count + loops - 1) / loops }
    streams = limits.streams ?? streams
    requestsPerConnection = limits.requestsPerConnection ?? requestsPerConnection
    headTimeout = limits.headTimeout ?? headTimeout
    idle = limits.idle ?? idle
    bodyIdle = limits.bodyIdle ?? bodyIdle
    bufferBytes = limits.bufferBytes ?? bufferBytes
  }
}
