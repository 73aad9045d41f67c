import CLinux
import Glibc
import SluiceSupport

extension WaitStatus {
  /// If a signal ended the process, ends this one by the same signal: a shell that runs a script stops after an interrupt
  /// only if it sees that the interrupt has ended the command. Does nothing after an ordinary end.
  func endAlike() {
    guard case .killed(let number) = self else { return }
    // The program has left its own image of memory, if any.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    signal(number, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
  }
}
