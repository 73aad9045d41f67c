import CLinux
import SluiceSupport

/// The clients that connected to the endpoint while nothing served. The kernel keeps their connections until the next
/// engine accepts them.
///
/// The request of such a client is not sent if the client has closed the connection since: nobody waits for its
/// response, and the client may have sent the request again. A client that has only ended its own direction looks the
/// same, and counts as gone too, as for every gateway.
struct WaitingClients: Sendable {
  /// The kernel counts the time since data arrived in ticks of its timer, which are at most this long.
  private static let tick = Duration.milliseconds(10)

  /// When this engine began to accept connections.
  private let began = MonotonicClock.now

  /// Whether the request arrived before the engine served, and its client has closed the connection.
  func isAbandoned(_ connection: Int32) -> Bool {
    guard sluice_socket_peer_has_closed(connection) != 0 else { return false }
    let served = MonotonicClock.now - began
    let age = sluice_socket_milliseconds_since_data(connection)
    return age < 0 || .milliseconds(age) + Self.tick >= served
  }
}
