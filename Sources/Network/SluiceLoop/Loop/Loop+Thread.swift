import CLinux
import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

extension Loop {
  /// Ends the loop: transfers are cancelled, queued work runs, the thread is joined. May be called on any thread except
  /// the loop's own. A second call waits for the first. A hosted loop ends in its next turn, or in this call if no
  /// other thread runs it.
  package func shutdown() { _ = shutdown(within: nil) }

  /// Like ``shutdown()``, but waits at most `limit` for the thread. Returns false if the thread is in a call that does
  /// not return in time. The loop then ends when that call returns. A thread that has already ended
  /// is not waited for.
  package func shutdown(within limit: Duration?) -> Bool {
    isStopping.store(true, ordering: .sequentiallyConsistent)
    if !poller.wake() { noteLostDescriptors() }
    if let hosting, !isCurrent, hosting.claim() {
      endHosted(within: limit)
      return true
    }
    guard let limit else {
      life.wait { $0 == .running ? nil : () }
      join()
      return true
    }
    guard life.wait(upTo: limit, { $0 == .running ? nil : () }) != nil else {
      leaveBehind()
      return false
    }
    join()
    return true
  }

  /// Detaches the thread: no other thread joins it, and its resources are freed when it ends.
  private func leaveBehind() {
    thread.withLock { thread in
      thread?.detach()
      thread = nil
    }
  }

  private func join() {
    guard life.withLock({ $0 != .lostDescriptors }) else { return leaveBehind() }
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  /// Called when code on the loop's thread ends this thread, such as `pthread_exit` in a stage. The loop runs nothing
  /// afterwards. Called on the thread that is about to end.
  ///
  /// - Parameter hasLostDescriptors: whether the loop has ended because its descriptors were closed.
  func threadDidEnd(hasLostDescriptors: Bool = false) {
    repeat {
      inbox.takeAll { drop([$0]) }
    } while !inbox.closeIfEmpty()
    life.update { $0 = hasLostDescriptors ? .lostDescriptors : .diedEarly }
  }

  /// Called when the thread cannot be woken any more. It can be in a wait that never ends.
  func noteLostDescriptors() { life.update { if $0 == .running { $0 = .lostDescriptors } } }

  func startThread() throws(TransportError) {
    let started = SystemThread("sluice-loop-\(index)") { [self] in
      sluice_enter_loop(Unmanaged.passUnretained(self).toOpaque()) {
        Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue().threadDidEnd()
      }
      let isWhole = run()
      sluice_leave_loop()
      guard isWhole else { return threadDidEnd(hasLostDescriptors: true) }
      life.update { $0 = .ended }
    }
    guard let started else {
      throw TransportError(
        .resources, "event loop: cannot start a thread: \(SystemError.text(errno))", isBeforeSending: true)
    }
    thread.withLock { $0 = started }
  }
}
