import CMicrohttpd
import Glibc

/// libmicrohttpd's handle, used only on one worker's thread.
struct Daemon {
  private let pointer: OpaquePointer
  private let log: UnsafeMutablePointer<sluice_mhd_log>
  /// A descriptor that is readable when the daemon has something to do. It is closed with the daemon.
  let epollDescriptor: Int32

  /// The number of connections that the library accepts in addition to the limit. They are needed because a connection
  /// that is closed to make room still counts for a moment.
  private static let connectionSlack = 32

  /// Starts a daemon. If this succeeds, the daemon owns the descriptor. The dispatcher must outlive the daemon.
  init?(accepting descriptor: Int32, _ options: ServerOptions, _ dispatcher: RequestDispatcher) {
    let context = Unmanaged.passUnretained(dispatcher).toOpaque()
    log = .allocate(capacity: 1)
    log.initialize(to: sluice_mhd_log(function: RequestCallbacks.message, context: context))
    var settings = sluice_mhd_options(
      listening_socket: descriptor,
      // This replaces the library's default limit, FD_SETSIZE. If the options have no limit, only the number of
      // descriptors limits the connections.
      connection_limit: options.maximumConnections.map { UInt32(clamping: max(1, $0) + Self.connectionSlack) }
        ?? 1_000_000,
      idle_timeout_seconds: UInt32(clamping: options.idleTimeout.components.seconds),
      connection_memory_bytes: options.connectionMemoryBytes,
      context: context,
      on_request: RequestCallbacks.request,
      on_target: RequestCallbacks.target,
      on_completed: RequestCallbacks.completed,
      on_connection: options.maximumConnections == nil ? nil : RequestCallbacks.connection,
      log: log)
    guard let daemon = sluice_mhd_start(&settings) else {
      log.deallocate()
      return nil
    }
    pointer = daemon
    epollDescriptor = sluice_mhd_epoll(daemon)
  }

  /// Does the work that is possible without waiting.
  func run() {
    MHD_run(pointer)
  }

  /// Whether a client waits to be accepted while no connection is open.
  ///
  /// Right after `run`, this means that descriptors have run out. The library then ignores the listening socket until a
  /// connection ends; if no connection is open, until the next `run`.
  var leavesClientsWaiting: Bool {
    guard sluice_mhd_connection_count(pointer) == 0 else { return false }
    var ready = pollfd(fd: epollDescriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, 0) > 0
  }

  /// The time after which `run` must be called even if no descriptor is ready; -1 means no limit.
  var timeoutMilliseconds: Int32 {
    var milliseconds: UInt64 = 0
    return MHD_get_timeout(pointer, &milliseconds) == .YES ? Int32(clamping: milliseconds) : -1
  }

  /// Closes the listening socket and every connection. Call it only once, while no connection is suspended.
  func stop() {
    MHD_stop_daemon(pointer)
    log.deallocate()
  }
}
