import Glibc
import SluiceSupport
import SluiceTestKit
import Testing

/// Threads, and what they share.
struct ThreadTests {
  @Test func `a thread has the first 15 bytes of its name, and blocks every signal but those of faults`() throws {
    let seen = Locked<(name: String, blocked: Set<Int32>)>(("", []))
    let thread = SystemThread("a name of 21 letters!") {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      let blocked = (1...31).filter { sigismember(&mask, $0) == 1 }
      let name = FileDescriptor(opening: "/proc/thread-self/comm", O_RDONLY)?.readAll(capacity: 64) ?? []
      seen.withLock { $0 = (String(decoding: name, as: UTF8.self), Set(blocked)) }
    }
    try #require(thread).join()
    let (name, blocked) = seen.withLock { $0 }
    #expect(name == "a name of 21 le\n")
    let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
    // No process can block SIGKILL and SIGSTOP (signal(7)).
    #expect(Set(1...31).subtracting(blocked) == Set(faults + [SIGKILL, SIGSTOP]))
  }

  private final class Held: Sendable {}
  private struct Reference: @unchecked Sendable { weak var held: Held? }

  /// Starts a thread that alone holds an object, and that ends its body when the gate opens.
  private func start(at gate: Monitor<Bool>, _ isReleased: Handover<Bool>) -> Bool {
    let held = Held()
    let reference = Reference(held: held)
    return SystemThread.start {
      gate.wait { $0 ? () : nil }
      return withExtendedLifetime(held) { reference }
    } then: {
      isReleased.give($0.held == nil)
    }
  }

  @Test func `what a thread's body holds is released before its result is used`() async {
    let gate = Monitor(false)
    let isReleased = await Handover<Bool>.wait { handover in
      if !start(at: gate, handover) { handover.give(false) }
      gate.update { $0 = true }
    }
    #expect(isReleased)
  }

  @Test func `a monitor wakes each thread that waits, and a wait without a change ends in time`() throws {
    let monitor = Monitor(0)
    let threads = try (1...4).map { number in
      try #require(
        SystemThread {
          monitor.wait { $0 >= number ? () : nil }
          monitor.update { $0 += 1 }
        })
    }
    monitor.update { $0 = 1 }
    for thread in threads { thread.join() }
    #expect(monitor.withLock { $0 } == 5)
    #expect(monitor.wait(upTo: .milliseconds(1)) { $0 == 0 ? true : nil } == nil)
    #expect(monitor.wait(upTo: .seconds(-1)) { $0 == 0 ? true : nil } == nil)
    // A limit beyond the range of the system's clock is a long wait, and not a wait that ends at once.
    let waiter = try #require(SystemThread { _ = monitor.wait(upTo: .seconds(Int64.max)) { $0 == 6 ? true : nil } })
    monitor.update { $0 = 6 }
    waiter.join()
  }
}
