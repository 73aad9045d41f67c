import CLinux
import Glibc
import SluiceAssembly
import SluiceMessages
import SluiceServer

/// The port of `sluice dev --listen`. The supervisor owns the socket, which therefore stays open when the engine
/// restarts.
final class DevEndpoint: Sendable {
  private let listener: SharedListener

  /// The address with the actual port.
  var address: String { listener.endpoint.description }

  /// - Parameter place: `HOST:PORT`.
  init(_ place: String) throws(CommandError) {
    guard case .address(let host, let port)? = ServeSettings.Listener(place)?.place else {
      throw CommandError(.usage, "--listen: expected a port, or an address and a port, found \(PlainText.quote(place))")
    }
    do { listener = try SharedListener(on: .tcp(host: host, port: port)) } catch {
      throw CommandError(.usage, "--listen: \(error)")
    }
  }

  /// Creates the socket pair for the next process of the engine.
  /// - Returns: the object that holds the clients of the process, and the descriptor that the process inherits and the
  ///   caller must close.
  func connect() throws(CommandError) -> (clients: HeldClients, inherited: Int32) {
    var ends: [Int32] = [-1, -1]
    guard sluice_packet_pair(&ends) == 0 else {
      throw CommandError(.failed, "cannot start a process: \(String(cString: strerror(errno)))")
    }
    var byte: UInt8 = 0
    // The packet stays in the socket until the process takes it.
    let status = sluice_send_packet(ends[0], &byte, 1, listener.descriptor)
    guard status == 0 else {
      for end in ends { close(end) }
      throw CommandError(.failed, "cannot pass the listening socket on: \(String(cString: strerror(status)))")
    }
    do throws(CommandError) { return (try HeldClients(owning: ends[0]), ends[1]) } catch {
      close(ends[1])
      throw error
    }
  }
}
