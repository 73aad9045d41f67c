/// A listening socket that outlives the servers that accept from it, in this process or in another: who connects while there is
/// none waits in its backlog.
package final class SharedListener: Sendable {
  let socket: ListeningSocket

  /// The socket, which closes with this object.
  package var descriptor: Int32 { socket.descriptor }
  /// Where it listens, with the port that was chosen.
  package var endpoint: ServerEndpoint { socket.endpoint }

  /// - Parameter backlog: connections that the kernel completes before a server takes them.
  package init(on endpoint: ServerEndpoint, backlog: Int32 = ServerOptions().backlog) throws(ServerError) {
    socket = try ListeningSocket(on: endpoint, backlog: backlog)
  }

  /// Takes over a socket that listens already.
  package init(adopting descriptor: Int32, at endpoint: ServerEndpoint) {
    socket = ListeningSocket(adopting: descriptor, at: endpoint)
  }
}
