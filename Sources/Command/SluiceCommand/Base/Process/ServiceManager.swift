import CLinux
import Glibc

/// Tells the service manager that has started this process about its state, if the manager wants to know it
/// (sd_notify(3)). Does nothing otherwise.
enum ServiceManager {
  /// Sends a state such as `READY=1`. A manager that does not take it at once does not get it.
  static func notify(_ state: String) {
    guard let place = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), place.utf8.count > 1 else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var path = Array(place.utf8)
    guard path[0] == UInt8(ascii: "/") || path[0] == UInt8(ascii: "@"),
      path.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return }
    // An abstract address begins with a NUL (unix(7)).
    if path[0] == UInt8(ascii: "@") { path[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let descriptor = socket(AF_UNIX, sluice_socket_datagram | sluice_socket_close_on_exec, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = sendto(descriptor, state, state.utf8.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), address, size)
      }
    }
  }
}
