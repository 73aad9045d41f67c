import CLinux
import Glibc

/// The service manager that has started this process, such as systemd.
enum ServiceManager {
  /// Sends a state such as `READY=1`, if the manager wants to know it (sd_notify(3)). A manager that does not take it at
  /// once does not get it.
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

  /// Takes the sockets that the manager has opened for this process (sd_listen_fds(3)). Must be called before the first
  /// child is started, which would inherit them.
  static func takeSockets() -> InheritedSockets {
    defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
    func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    guard value("LISTEN_PID").flatMap({ Int32($0) }) == getpid(),
      let count = value("LISTEN_FDS").flatMap({ Int32($0) }), (1...1024).contains(count)
    else { return InheritedSockets([]) }
    let names = value("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false) ?? []
    var sockets: [(name: String, descriptor: Int32)] = []
    for index in 0..<count {
      // The manager passes them from 3 on.
      let descriptor = 3 + index
      guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { continue }
      // systemd calls a socket without a name "unknown".
      sockets.append((Int(index) < names.count ? String(names[Int(index)]) : "unknown", descriptor))
    }
    return InheritedSockets(sockets)
  }
}
