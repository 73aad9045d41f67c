/// Sizes and limits of an embedded server.
public struct ServerOptions: Sendable {
  /// The number of threads. Each has its own epoll set. The handler runs on these threads, and should not block.
  public var workers = 2
  /// The maximum size of a request body. A larger body is read to its end, dropped, and answered with 413.
  public var maximumBodyBytes = 64 * 1024 * 1024
  /// Memory for the heads of a request and of its response. A larger head of a request is answered with 431 or 414. If
  /// the head of a response has no room in it, the answer is 500.
  public var connectionMemoryBytes = 32 * 1024
  /// Connections without traffic are closed after this time, in whole seconds; zero means never. Parked connections
  /// stay open.
  public var idleTimeout: Duration = .zero
  /// Makes the answer to a request body that is too large; its parameter is ``maximumBodyBytes``.
  public var bodyRefusal: @Sendable (Int) -> ServerResponse = {
    .text("the request body is larger than \($0) bytes\n", status: 413)
  }
  /// Makes the answer to a request that two programs could read differently, such as one with two different values of
  /// `Content-Length`. The connection is then closed.
  public var headRefusal: @Sendable (HeadFault) -> ServerResponse = {
    .text("the head of the request is not valid: \($0.reason)\n", status: $0.status)
  }
  /// Maximum number of connections for each worker, at least 1; nil means no limit. If a new connection exceeds this
  /// number, the connection that was idle for the longest time is closed. If none is idle, the new connection's request
  /// is answered with ``crowdRefusal``.
  public var maximumConnections: Int?
  /// The answer to a request when all connections are busy.
  public var crowdRefusal: ServerResponse = .text("too many requests are being answered\n", status: 503)
  /// Maximum number of connections that the kernel completes before a worker takes them.
  public var backlog: Int32 = SharedListener.usualBacklog

  /// The defaults: two workers, request bodies up to 64 MiB, no idle timeout, and no limit of connections.
  public init() {}
}
