/// Sizes and limits of an embedded server.
public struct ServerOptions: Sendable {
  /// Threads, each with its own epoll set; the handler runs on them and should not block.
  public var workers = 2
  /// A larger request body is read to its end, dropped, and answered with 413.
  public var maximumBodyBytes = 64 * 1024 * 1024
  /// For the request line and headers of one connection; more is answered with 431 or 414.
  public var connectionMemoryBytes = 32 * 1024
  /// Connections without traffic are closed after this time, in whole seconds; zero means never. Parked connections
  /// stay open.
  public var idleTimeout: Duration = .zero
  /// The answer to a larger request body; gets ``maximumBodyBytes``.
  public var bodyRefusal: @Sendable (Int) -> ServerResponse = {
    .text("the request body is larger than \($0) bytes\n", status: 413)
  }
  /// The answer to a request whose head can be read in two ways. The connection is closed afterwards.
  public var headRefusal: @Sendable (HeadFault) -> ServerResponse = {
    .text("the head of the request is not valid: \($0.reason)\n", status: $0.status)
  }
  /// Maximum number of connections for each worker, at least 1; nil means no limit. A further one closes the connection
  /// that was idle for the longest time; if none is idle, its request is answered with ``crowdRefusal``.
  public var maximumConnections: Int?
  /// The answer to a request when all connections are busy.
  public var crowdRefusal: ServerResponse = .text("too many requests are being answered\n", status: 503)
  /// Connections that the kernel completes before a worker takes them.
  public var backlog: Int32 = 4096

  /// Two workers, request bodies up to 64 MiB, no idle timeout, and no limit of connections.
  public init() {}
}
