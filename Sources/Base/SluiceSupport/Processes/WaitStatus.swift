import Glibc

/// How a process ended, as waitpid(2) reports it.
package enum WaitStatus: Equatable, Sendable {
  case exited(Int32)
  case killed(signal: Int32)

  package init(_ status: Int32) {
    let signal = status & 0x7f
    self = signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal: signal)
  }

  /// The value that a shell's `$?` would have: 128 plus the signal's number if a signal ended the process.
  package var shellStatus: Int32 {
    switch self {
    case .exited(let code): code
    case .killed(let signal): 128 + signal
    }
  }

  /// Waits for the end of a child. Returns nil if the process is not a child, or was already waited for. Blocks.
  package static func wait(for process: Int32) -> WaitStatus? {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return nil }
    }
    return WaitStatus(status)
  }
}

/// The names of signals.
package enum SignalName {
  package static func of(_ number: Int32) -> String {
    let words: [Int32: String] = [
      SIGABRT: "SIGABRT", SIGALRM: "SIGALRM", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGHUP: "SIGHUP", SIGILL: "SIGILL",
      SIGINT: "SIGINT", SIGKILL: "SIGKILL", SIGPIPE: "SIGPIPE", SIGQUIT: "SIGQUIT", SIGSEGV: "SIGSEGV",
      SIGSYS: "SIGSYS", SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP", SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2",
      SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
    ]
    return words[number] ?? "signal \(number)"
  }
}
