import CLinux
import Glibc
import SluiceSupport

extension WaitStatus {
  /// If a signal ended the process, ends this process by the same signal: a shell that runs a script stops after an
  /// interrupt only if it sees that the interrupt ended the command. Does nothing if the process exited.
  func endAlike() {
    guard case .killed(let number) = self else { return }
    // The program has written its own core dump, if it wrote any.
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
