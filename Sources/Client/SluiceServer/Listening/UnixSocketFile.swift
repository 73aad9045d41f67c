import CLinux
import Glibc
import SluiceSupport

/// The file of a Unix socket on which this process listens.
///
/// The file is created and removed while the folder is locked (`flock`), for two reasons. A socket looks abandoned to
/// other processes between its `bind` and its `listen`. And two processes that start at the same path must not both
/// replace an abandoned socket.
final class UnixSocketFile: Sendable {
  private let path: String
  private let device: dev_t
  private let inode: ino_t
  private let isRemoved = Locked(false)

  /// Returns a listening socket, which the caller must close, and its file.
  static func listen(at path: String, _ backlog: Int32) throws(ServerError) -> (Int32, UnixSocketFile) {
    let endpoint = ServerEndpoint.unix(path: path)
    let folder = try folder(of: path, endpoint)
    return try folder.withLock(endpoint) { () throws(ServerError) in
      if try isAbandoned(path, endpoint), unlink(path) != 0, errno != ENOENT {
        throw ServerError(errorNumber: errno, endpoint)
      }
      return try bind(path, endpoint, backlog)
    }
  }

  /// Checks, without changing anything, whether ``listen(at:_:)`` could listen now.
  static func check(_ path: String) throws(ServerError) {
    let endpoint = ServerEndpoint.unix(path: path)
    _ = try folder(of: path, endpoint)
    _ = try isAbandoned(path, endpoint)
  }

  private static func folder(of path: String, _ endpoint: ServerEndpoint) throws(ServerError) -> SocketFolder {
    guard path.utf8.count <= UnixSocket.maximumPathBytes, !path.utf8.contains(0) else {
      throw ServerError(
        .pathUnfit, endpoint,
        underlying:
          "the path has \(path.utf8.count) bytes, a Unix socket allows at most \(UnixSocket.maximumPathBytes)",
        advice: "name a shorter one")
    }
    return try SocketFolder(of: path, endpoint)
  }

  private init(path: String, _ status: stat) {
    self.path = path
    device = status.st_dev
    inode = status.st_ino
  }

  /// Removes the file, unless another file has its path now. Further calls do nothing.
  func remove() {
    let isFirst = isRemoved.withLock { isRemoved in
      defer { isRemoved = true }
      return !isRemoved
    }
    guard isFirst else { return }
    let folder = try? SocketFolder(of: path, .unix(path: path))
    folder?.tryLock()
    var status = stat()
    if lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode { unlink(path) }
  }

  /// Removes the sockets in one folder on which no process listens any more.
  static func removeAbandoned(_ paths: [String]) {
    let abandoned = paths.filter { UnixSocket.find(at: $0) == .abandoned }
    guard let first = abandoned.first, let folder = try? SocketFolder(of: first, .unix(path: first)), folder.tryLock()
    else { return }
    // The sockets are checked a second time, now with the folder locked: without the lock, a socket that another
    // process creates can look abandoned between its `bind` and its `listen`.
    for path in abandoned where UnixSocket.find(at: path) == .abandoned { unlink(path) }
  }

  /// Whether a socket on which no process listens any more is at the path. Such a socket may be removed; anything else
  /// at the path is an error.
  private static func isAbandoned(_ path: String, _ endpoint: ServerEndpoint) throws(ServerError) -> Bool {
    switch UnixSocket.find(at: path) {
    case .nothing: return false
    case .abandoned: return true
    case .listening(let process):
      throw ServerError(
        .addressInUse, endpoint, underlying: "\(process.map { "process \($0)" } ?? "another process") listens there",
        advice: "end it, or name another path")
    case .symbolicLink:
      throw ServerError(
        .pathUnfit, endpoint, underlying: "it is a symbolic link",
        advice: "name the path that the link leads to, or remove the link")
    case .otherFile:
      throw ServerError(
        .pathUnfit, endpoint, underlying: "the file there is not a socket", advice: "name another path")
    case .unknown(let number): throw ServerError(errorNumber: number, endpoint)
    }
  }

  private static func bind(
    _ path: String, _ endpoint: ServerEndpoint, _ backlog: Int32
  ) throws(ServerError) -> (Int32, UnixSocketFile) {
    let type = sluice_socket_stream | sluice_socket_close_on_exec | Int32(O_NONBLOCK)
    let descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw ServerError(errorNumber: errno, endpoint) }
    // Linux gives the file the mode of the socket, minus the umask, so the file is never open to other users.
    fchmod(descriptor, 0o600)
    var status = stat()
    guard UnixSocket.withAddress(path, { Glibc.bind(descriptor, $0, $1) }) == 0, lstat(path, &status) == 0,
      chmod(path, 0o600) == 0, Glibc.listen(descriptor, backlog) == 0
    else {
      let error = ServerError(errorNumber: errno, endpoint)
      close(descriptor)
      throw error
    }
    return (descriptor, UnixSocketFile(path: path, status))
  }
}

/// The folder of a socket. A folder is refused if another user, except root, could replace the socket by another file.
private final class SocketFolder {
  private static let patience = Duration.seconds(5)

  private let descriptor: FileDescriptor
  private let path: String

  init(of socket: String, _ endpoint: ServerEndpoint) throws(ServerError) {
    let path = socket.lastIndex(of: "/").map { $0 == socket.startIndex ? "/" : String(socket[..<$0]) } ?? "."
    guard let descriptor = FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY) else {
      let code: ServerError.Code = errno == EACCES ? .permissionDenied : .pathUnfit
      throw ServerError(
        code, endpoint, underlying: "its folder \(path): \(String(cString: strerror(errno)))",
        advice: "make the folder, or name another path")
    }
    guard let status = descriptor.status() else { throw ServerError(errorNumber: errno, endpoint) }
    let isShared = status.st_mode & 0o022 != 0 && status.st_mode & S_ISVTX == 0
    guard !isShared, status.st_uid == geteuid() || status.st_uid == 0 else {
      throw ServerError(
        .pathUnfit, endpoint, underlying: "its folder \(path) is open to other users",
        advice: "name a path in a folder of your own with mode 0700")
    }
    self.path = path
    self.descriptor = descriptor
  }

  /// Locks the folder. Waits only a limited time for the lock, because every process that can read the folder can hold
  /// it.
  func withLock<Result>(
    _ endpoint: ServerEndpoint, _ body: () throws(ServerError) -> Result
  ) throws(ServerError) -> Result {
    guard tryLock() else {
      throw ServerError(
        .listenFailed, endpoint, underlying: "another process keeps its folder \(path) locked",
        advice: "name a path in a folder of your own")
    }
    defer { flock(descriptor.raw, LOCK_UN) }
    return try body()
  }

  @discardableResult
  func tryLock() -> Bool {
    let end = ContinuousClock.now + Self.patience
    while flock(descriptor.raw, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else { return false }
      usleep(2000)
    }
    return true
  }
}
