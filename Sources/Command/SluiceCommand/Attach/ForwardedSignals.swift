import CLinux
import Glibc
import SluiceSupport

/// The signals of the command that are meant for the program. The program is in the same process group, so it already
/// gets the signals that go to the whole group. Each signal must reach it only once.
struct ForwardedSignals {
  private static let numbers = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2]

  /// The program.
  private let process: pid_t

  init(to process: pid_t) { self.process = process }

  static var all: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    return signals
  }

  /// Forwards signals until this process ends. The signals must be blocked in all threads.
  func forward() -> Never {
    var signals = Self.all
    while true {
      var facts = siginfo_t()
      let number = sigwaitinfo(&signals, &facts)
      if number > 0, isForProgram(facts) { kill(process, number) }
    }
  }

  private func isForProgram(_ facts: siginfo_t) -> Bool {
    // The terminal sends its signals to the whole group, except the hangup, which only the leader of the session gets.
    if facts.si_code == SI_KERNEL { return facts.si_signo == SIGHUP && getsid(0) == getpid() }
    // If the program or one of its children signals the whole group (`kill 0`), the signal has already reached the
    // program.
    return !(facts.si_code == SI_USER && isOfProgram(facts._sifields._kill.si_pid))
  }

  /// Whether a process is the program, or was started by it.
  private func isOfProgram(_ sender: pid_t) -> Bool {
    var ancestor = sender
    for _ in 0..<64 where ancestor != process {
      guard let parent = ProcessRecord(of: ancestor)?.parent, parent > 1 else { return false }
      ancestor = parent
    }
    return ancestor == process
  }
}
