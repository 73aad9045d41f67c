import Glibc
import SluicePlugin
import SluiceTestKit
import Testing

struct BackgroundThreadTests {
  private static var blocked: sigset_t {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    return mask
  }

  @Test
  func `no signal is delivered on a background thread, and the signal mask of the creating thread does not change`()
    throws
  {
    let isBlocked = Watched<[Int32: Bool]>([:])
    let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGCHLD, SIGUSR1]
    var before = Self.blocked
    let thread = try BackgroundThread {
      var mask = Self.blocked
      let found = signals.map { ($0, sigismember(&mask, $0) == 1) }
      isBlocked.update { $0 = Dictionary(uniqueKeysWithValues: found) }
    }
    thread.join()
    #expect(isBlocked.value.count == signals.count && isBlocked.value.values.allSatisfy { $0 })
    #expect(try Self.blockedFaults().isEmpty)
    var after = Self.blocked
    for signal in signals { #expect(sigismember(&before, signal) == sigismember(&after, signal)) }
  }

  /// Returns the fault signals that are blocked on a background thread. If a fault raises a blocked signal, the kernel
  /// ends the process without calling a handler.
  private static func blockedFaults() throws -> [Int32] {
    let found = Watched<[Int32]>([])
    try BackgroundThread {
      var mask = Self.blocked
      let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS].filter { sigismember(&mask, $0) == 1 }
      found.update { $0 = faults }
    }.join()
    return found.value
  }

  @Test func `a detached thread runs to its end`() async throws {
    let hasRun = Signal()
    try BackgroundThread { hasRun.set() }.detach()
    try await hasRun.wait()
  }
}
