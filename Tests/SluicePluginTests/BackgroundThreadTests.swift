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

  @Test func `no signal is delivered on it, and its maker's own are as before`() throws {
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
    var after = Self.blocked
    for signal in signals { #expect(sigismember(&before, signal) == sigismember(&after, signal)) }
  }

  @Test func `one that is detached runs to its end`() async throws {
    let hasRun = Signal()
    try BackgroundThread { hasRun.set() }.detach()
    try await hasRun.wait()
  }
}
