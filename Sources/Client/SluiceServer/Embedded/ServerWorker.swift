import Glibc
import SluiceSupport

/// A thread with a daemon. It waits for the daemon's descriptors and for answers to parked connections.
///
/// The workers of a server accept from the same socket.
final class ServerWorker: Sendable {
  private let parking: ConnectionParking
  private let thread: SystemThread
  private let alarm: Alarm

  /// Returns nil, with `errno` set, if descriptors or threads have run out.
  init?(
    accepting socket: borrowing ListeningSocket, _ options: ServerOptions, _ handler: @escaping EmbeddedServer.Handler
  ) {
    guard let alarm = Alarm(), let listener = socket.duplicate() else { return nil }
    let parking = ConnectionParking(alarm: alarm)
    let dispatcher = RequestDispatcher(handler: handler, options, parking: parking)
    guard let daemon = Daemon(accepting: listener, options, dispatcher) else {
      close(listener)
      return nil
    }
    let loop = WorkerLoop(daemon: daemon, dispatcher: dispatcher, parking: parking, alarm: alarm)
    guard let thread = SystemThread(nil, { loop.run() }) else {
      daemon.stop()
      return nil
    }
    self.parking = parking
    self.thread = thread
    self.alarm = alarm
  }

  /// Closes all connections and waits for the thread. Call it once.
  func stop() {
    parking.close()
    thread.join()
  }
}

/// The work of a worker's thread.
// Unchecked: the value is created on the thread that starts the server, and then used only on the worker's thread.
private struct WorkerLoop: @unchecked Sendable {
  let daemon: Daemon
  let dispatcher: RequestDispatcher
  let parking: ConnectionParking
  let alarm: Alarm

  /// If no descriptor is free for a new connection, the server waits this long before it tries again.
  private static let pauseMilliseconds: Int32 = 50

  func run() {
    withExtendedLifetime(dispatcher) {
      while !parking.isClosed {
        parking.resumeReleased()
        daemon.run()
        wait()
      }
      parking.resumeReleased()
      // This run closes the connections that were just resumed. It is needed because the daemon must not be stopped
      // while a connection is suspended.
      daemon.run()
      daemon.stop()
    }
  }

  private func wait() {
    let isStarved = self.isStarved
    var descriptors = [
      // `poll` ignores a negative descriptor.
      pollfd(fd: isStarved ? -1 : daemon.epollDescriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    poll(&descriptors, nfds_t(descriptors.count), isStarved ? Self.pauseMilliseconds : daemon.timeoutMilliseconds)
    if descriptors[1].revents != 0 { alarm.clear() }
  }

  /// Whether there is a waiting client that the daemon cannot accept. The daemon's descriptor then stays readable, so
  /// `poll` on it would return at once.
  private var isStarved: Bool {
    guard daemon.leavesClientsWaiting else { return false }
    // This run accepts a client that has connected since the last run.
    daemon.run()
    return daemon.leavesClientsWaiting
  }
}
