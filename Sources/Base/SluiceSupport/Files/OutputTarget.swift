package import Glibc

/// What a path leads to, for a writer.
///
/// All writers follow one rule. A regular file is created or replaced. A pipe or a device is written where it is: it is
/// never replaced by a file, never emptied, and keeps its mode. A writer that needs a regular file refuses it. A folder
/// and a socket are always refused.
package enum OutputTarget: Equatable, Sendable {
  /// A regular file, or nothing yet.
  case file
  /// A pipe or a device.
  case stream
  case folder
  case socket
  /// A symbolic link. Only the result of lstat(2) has this kind.
  case link

  package init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: self = .file
    case S_IFDIR: self = .folder
    case S_IFSOCK: self = .socket
    case S_IFLNK: self = .link
    default: self = .stream
    }
  }

  /// Follows symbolic links. A path that cannot be examined counts as a file, because opening it finds the reason.
  package init(at path: String) {
    self = SystemPath.status(of: path).map(Self.init) ?? .file
  }

  /// Whether reading or writing can wait for another process.
  package var mayWait: Bool { self == .stream || self == .socket }

  /// Whether a path leads to a FIFO. Of all streams, only a FIFO without a reader fails with `ENXIO` because of its
  /// reader: a device fails with it if it is not there, such as `/dev/tty` without a terminal.
  package static func isPipe(at path: String) -> Bool {
    SystemPath.status(of: path).map { $0.st_mode & S_IFMT == S_IFIFO } ?? false
  }

  /// Opens a path for writing. If it is a FIFO without a reader, waits for a reader, but at most for `limit`.
  ///
  /// Returns a descriptor that blocks, or -1 with `errno` set. It is `ENXIO` for a FIFO that still has no reader, for a
  /// socket, and for a device that is not there.
  package static func open(_ path: String, _ flags: CInt, mode: mode_t, limit: Duration) -> CInt {
    let deadline = MonotonicClock.now + limit
    while true {
      let descriptor = openAtOnce(path, flags, mode: mode)
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
      }
      guard errno == ENXIO, MonotonicClock.now < deadline, isPipe(at: path) else { return -1 }
      var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
      nanosleep(&pause, nil)
      errno = ENXIO
    }
  }

  /// Opens a path for writing without waiting: a FIFO without a reader fails with `ENXIO`. The descriptor does not
  /// block.
  package static func openAtOnce(_ path: String, _ flags: CInt, mode: mode_t) -> CInt {
    var descriptor: CInt
    repeat {
      descriptor = SystemPath.open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode: mode)
    } while descriptor < 0 && errno == EINTR
    return SharedState.keepingStreams(descriptor)
  }
}

// Symbolic links, for writers that put a complete file in place of the earlier one.
extension OutputTarget {
  /// The path behind the symbolic links at a path, so that a file can be replaced and the links stay. The last link may
  /// lead to a name without a file. Without a link, returns the path itself.
  ///
  /// Follows what the system lets this process follow (`fs.protected_symlinks`); otherwise returns nil with `errno` set.
  /// Stops at a link of `/proc`, see ``isInProc(_:)``.
  package static func following(_ path: String) -> String? {
    let path = SystemPath.absolute(path)
    var (end, isOwn) = (path, true)
    var status = stat()
    for step in 0... {
      guard lstat(end, &status) == 0, OutputTarget(status) == .link, !isInProc(end) else { break }
      guard step < 40, let next = destination(of: end) else {
        errno = ELOOP
        return nil
      }
      if status.st_uid != geteuid(), status.st_uid != 0 { isOwn = false }
      end = next
    }
    guard end != path else { return path }
    var reached = stat()
    guard stat(path, &reached) == 0 else {
      // Somebody else could have put a link to a new file of ours into a shared folder.
      guard errno == ENOENT else { return nil }
      errno = EACCES
      return isOwn ? end : nil
    }
    guard stat(end, &status) == 0, status.st_dev == reached.st_dev, status.st_ino == reached.st_ino else {
      errno = ELOOP
      return nil
    }
    return end
  }

  /// Why a file could not be written at a path, or created there, as the system says without changing anything; nil if
  /// it could. The value is that of `errno`.
  package static func obstacle(at path: String) -> CInt? {
    let target = SystemPath.of(path)
    if faccessat(AT_FDCWD, target, F_OK, AT_EACCESS) == 0 {
      return faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) == 0 ? nil : errno
    }
    guard errno == ENOENT, let end = following(target) else { return errno }
    // The kernel lets nobody create a file in /proc, although the modes of its folders can allow it.
    guard !isInProc(end) else { return ENOENT }
    return faccessat(AT_FDCWD, "\(folder(of: end))/.", W_OK | X_OK, AT_EACCESS) == 0 ? nil : errno
  }

  /// Whether a path is in `/proc`. A link there, such as the one that `/dev/stdout` leads to, stands for an open file.
  package static func isInProc(_ path: String) -> Bool {
    var (place, proc, root) = (stat(), stat(), stat())
    guard stat(folder(of: path), &place) == 0, stat("/proc", &proc) == 0, stat("/", &root) == 0 else { return false }
    // If nothing is mounted at /proc, it is a folder of the same file system as many others.
    return place.st_dev == proc.st_dev && proc.st_dev != root.st_dev
  }

  private static func destination(of link: String) -> String? {
    let text = SymbolicLink.target(link)
    guard let text, !text.hasPrefix("/"), link.contains("/") else { return text }
    return folder(of: link) + "/" + text
  }

  /// The folder of a path; `.` for a name without a slash.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
