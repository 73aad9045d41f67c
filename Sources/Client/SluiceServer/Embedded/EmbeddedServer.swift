import Glibc
import SluiceSupport

/// A small HTTP/1.1 server inside the process, on libmicrohttpd.
///
/// For tests. It can change with any version, and will be replaced.
///
/// It listens until `stop()` is called or until it is released. The handler is called for each request when its body
/// has arrived, on one of the workers; several calls can run at the same time.
public final class EmbeddedServer: Sendable {
  /// Answers one request. Workers call it, several at the same time. It should not block; to answer later, return
  /// ``ServerResponse/deferred(_:)``.
  public typealias Handler = @Sendable (ServerRequest) -> ServerResponse

  /// The address on which the server listens, with the actual port.
  public let endpoint: ServerEndpoint
  private let workers: Locked<[ServerWorker]>
  private let file: UnixSocketFile?

  /// Starts the server, which listens when this returns. Throws if the address cannot be used, or if threads or
  /// descriptors run out.
  public init(
    on endpoint: ServerEndpoint = .tcp(), options: ServerOptions = ServerOptions(), handler: @escaping Handler
  ) throws(ServerError) {
    let socket = try ListeningSocket(on: endpoint, backlog: options.backlog)
    self.endpoint = socket.endpoint
    workers = Locked(try Self.start(socket, options, handler))
    file = socket.file
  }

  private static func start(
    _ socket: borrowing ListeningSocket, _ options: ServerOptions, _ handler: @escaping Handler
  ) throws(ServerError) -> [ServerWorker] {
    var workers: [ServerWorker] = []
    for _ in 0..<max(1, options.workers) {
      guard let worker = ServerWorker(accepting: socket, options, handler) else {
        let reason = String(cString: strerror(errno))
        for worker in workers { worker.stop() }
        socket.file?.remove()
        throw ServerError(.startFailed, socket.endpoint, underlying: reason)
      }
      workers.append(worker)
    }
    return workers
  }

  deinit { stop() }

  /// The port in use; 0 for a Unix socket.
  public var port: UInt16 { endpoint.port }

  /// `http://host:port`, without a slash at the end. It has no meaning for a Unix socket.
  public var baseURL: String { "http://\(endpoint)" }

  /// Closes the listening socket and all connections, including parked ones, and waits for the workers to end. Further
  /// calls do nothing. Must not be called from a handler.
  public func stop() {
    file?.remove()
    workers.withLock { workers in
      for worker in workers { worker.stop() }
      workers = []
    }
  }
}
