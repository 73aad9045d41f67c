import CLinux
import Glibc

/// What is found at the path of a Unix socket.
public enum UnixSocket: Sendable, Equatable {
  case nothing
  /// A socket without a listener: the process that created it has ended without removing it.
  case abandoned
  /// The process that listens; nil if the kernel does not name it.
  case listening(process: Int32?)
  case symbolicLink
  /// A file that is not a socket.
  case otherFile
  /// The path cannot be examined; the value is the operating system's error number.
  case unknown(errorNumber: Int32)

  /// The size of the longest path that a socket can have: `sun_path` of unix(7) without its NUL.
  public static let maximumPathBytes = 107

  /// Examines the path, and connects to a socket that it finds there.
  public static func find(at path: String) -> UnixSocket {
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT ? .nothing : .unknown(errorNumber: errno) }
    switch status.st_mode & S_IFMT {
    case S_IFSOCK: return knock(path)
    case S_IFLNK: return .symbolicLink
    default: return .otherFile
    }
  }

  /// Removes the sockets without a listener from a folder, and nothing else. Does nothing if another user, except root,
  /// could replace files in the folder.
  /// - Parameter names: names of sockets in the folder.
  public static func removeAbandoned(_ names: [String], in folder: String) {
    UnixSocketFile.removeAbandoned(names.map { "\(folder)/\($0)" })
  }

  private static func knock(_ path: String) -> UnixSocket {
    let type = sluice_socket_stream | sluice_socket_close_on_exec | Int32(O_NONBLOCK)
    let descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { return .unknown(errorNumber: errno) }
    defer { close(descriptor) }
    guard let status = withAddress(path, { connect(descriptor, $0, $1) }) else {
      return .unknown(errorNumber: ENAMETOOLONG)
    }
    // A full queue (EAGAIN) also means that some process listens.
    guard status == 0 || errno == EAGAIN else {
      switch errno {
      case ECONNREFUSED: return .abandoned
      case ENOENT: return .nothing
      // The path leads to a datagram socket.
      case EPROTOTYPE: return .listening(process: nil)
      default: return .unknown(errorNumber: errno)
      }
    }
    var peer = sluice_socket_peer()
    let isKnown = status == 0 && sluice_socket_peer_of(descriptor, &peer) == 1
    return .listening(process: isKnown ? peer.process : nil)
  }

  /// Makes the socket address of a path. Returns nil if the path is too long for an address.
  static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    guard path.utf8.count <= maximumPathBytes, !path.utf8.contains(0) else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
