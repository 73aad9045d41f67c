import Glibc
import SluiceSupport

/// A child that a user has started at a terminal through this process. If it stops by itself, this process stops too, so
/// that the shell takes the terminal back, as it would for the child alone. `fg` continues both.
struct ForegroundJob {
  private let process: pid_t

  init(_ process: pid_t) { self.process = process }

  /// Waits for its end. Nil if the process is not a child, or was already waited for. Blocks.
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

  /// The key of a terminal stops both at once: then the process may be running again, after an `fg`.
  private func stop(with signal: Int32) {
    guard isInForeground, ProcessRecord(of: process)?.state == "T" else { return }
    kill(getpid(), signal)
  }

  /// Without a shell that waits, nobody would continue this process.
  private var isInForeground: Bool {
    guard let terminal = FileDescriptor(opening: "/dev/tty", O_RDONLY | O_NOCTTY) else { return false }
    return tcgetpgrp(terminal.raw) == getpgrp()
  }
}
