/// A listening socket that outlives the servers that accept from it, in this process or in another.
///
/// While no server accepts, the clients that connect wait in the socket's backlog.
package final class SharedListener: Sendable {
  let socket: ListeningSocket
  /// Whether another process has the socket, too, so that clients can wait there for the next server.
  let isInherited: Bool

  /// The socket, which is closed with this object.
  package var descriptor: Int32 { socket.descriptor }
  /// The address that the socket listens on, with the actual port.
  package var endpoint: ServerEndpoint { socket.endpoint }

  package static let usualBacklog: Int32 = 4096

  /// - Parameter backlog: maximum number of connections that the kernel completes before a server takes them.
  package init(on endpoint: ServerEndpoint, backlog: Int32 = SharedListener.usualBacklog) throws(ServerError) {
    socket = try ListeningSocket(on: endpoint, backlog: backlog)
    isInherited = false
  }

  /// Sockets on one address, among which the system distributes the connections. One for a Unix socket.
  package static func several(
    _ count: Int, on endpoint: ServerEndpoint, backlog: Int32 = SharedListener.usualBacklog
  ) throws(ServerError) -> [SharedListener] {
    guard case .tcp = endpoint.form else { return [try SharedListener(on: endpoint, backlog: backlog)] }
    // A socket that shares its port would also share it with one of another process, and take half of its connections.
    try endpoint.check()
    var listeners = [SharedListener(try ListeningSocket(on: endpoint, backlog: backlog, isShared: true))]
    while listeners.count < count {
      listeners.append(
        SharedListener(try ListeningSocket(on: listeners[0].endpoint, backlog: backlog, isShared: true)))
    }
    return listeners
  }

  private init(_ socket: consuming ListeningSocket) {
    self.socket = socket
    isInherited = false
  }

  /// Takes ownership of a socket that listens already, for instance one that a service manager has opened. Nil if it is
  /// no such socket; the caller then still owns it.
  package init?(adopting descriptor: Int32) {
    guard let socket = ListeningSocket(adopting: descriptor) else { return nil }
    self.socket = socket
    isInherited = true
  }
}
