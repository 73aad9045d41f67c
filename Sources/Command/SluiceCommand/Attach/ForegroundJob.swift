import Glibc
import SluiceSupport

/// A child that a user has started at a terminal through this process. If the child stops, this process stops too, so
/// that the shell takes the terminal back. `fg` continues both.
struct ForegroundJob {
  private let process: pid_t

  init(_ process: pid_t) { self.process = process }

  /// Blocks until the child has ended. Returns nil if the process is not a child or was already waited for.
  func wait() -> WaitStatus? {
    var status: Int32 = 0
    while true {
      let found = waitpid(process, &status, WUNTRACED)
      if found < 0, errno == EINTR { continue }
      guard found == process else { return nil }
      guard status & 0xff == 0x7f else { return WaitStatus(status) }
      stop(with: status >> 8 & 0xff)
    }
  }

  /// Stops this process as well, unless the child already runs again. Ctrl-Z stops both processes at once, so `fg` may
  /// already have continued them.
  private func stop(with signal: Int32) {
    guard isInForeground, ProcessRecord(of: process)?.state == "T" else { return }
    kill(getpid(), signal)
  }

  /// Only a process in the foreground has a shell that waits for it and can continue it.
  private var isInForeground: Bool {
    guard let terminal = FileDescriptor(opening: "/dev/tty", O_RDONLY | O_NOCTTY) else { return false }
    return tcgetpgrp(terminal.raw) == getpgrp()
  }
}
