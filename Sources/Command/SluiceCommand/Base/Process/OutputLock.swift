import Glibc

/// Keeps two processes from writing to one file at the same time.
///
/// The lock belongs to the process (POSIX `fcntl`), so a child that outlives the process does not keep it. The lock
/// ends with the process, or when the process closes any descriptor of the file.
enum OutputLock {
  /// Fails if another process holds the lock. If the file system has no locks, does nothing.
  static func take(_ descriptor: Int32, _ name: String) throws(CommandError) {
    var lock = whole
    guard fcntl(descriptor, F_SETLK, &lock) != 0, errno == EAGAIN || errno == EACCES else { return }
    var holder = whole
    let isKnown = fcntl(descriptor, F_GETLK, &holder) == 0 && holder.l_type != Int16(F_UNLCK) && holder.l_pid > 0
    throw CommandError(
      .usage,
      "\(name) is being written by \(isKnown ? "process \(holder.l_pid)" : "another process"); wait until it ends, or name another output"
    )
  }

  private static var whole: flock {
    flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
  }
}
