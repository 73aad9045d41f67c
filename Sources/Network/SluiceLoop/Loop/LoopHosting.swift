import CLinux
import SluicePipeline
import SluiceSupport
import Synchronization

/// Which thread runs the turns of a loop that has no thread of its own.
final class LoopHosting: Sendable {
  /// The thread's `sluice_thread_identity`; 0 when no thread has the loop.
  private let owner = Atomic<UInt64>(0)

  /// Takes the loop for the calling thread; false when another thread has it.
  func claim() -> Bool {
    let caller = sluice_thread_identity()
    let (exchanged, previous) = owner.compareExchange(
      expected: 0, desired: caller, ordering: .acquiringAndReleasing)
    return exchanged || previous == caller
  }

  /// Lets another thread take the loop; false when the calling thread does not have it.
  func release() -> Bool {
    owner.compareExchange(expected: sluice_thread_identity(), desired: 0, ordering: .acquiringAndReleasing).exchanged
  }

  /// The kernel's id of the thread that has the loop; nil when no thread has it.
  var ownerID: UInt32? {
    let owner = owner.load(ordering: .relaxed)
    return owner == 0 ? nil : UInt32(truncatingIfNeeded: owner)
  }
}

extension Loop {
  /// One turn on the calling thread, which has claimed the loop. Returns false when the loop has ended.
  func hostedTurn() -> Bool {
    guard life.withLock({ $0 == .running }) else { return false }
    asCurrent { _ = turn(waiting: 0) }
    if isStopping.load(ordering: .acquiring) {
      endHosted(within: nil)
      return false
    }
    switch prepareToSleep() {
    case .none: poller.wake()
    case .untilEvent: poller.setAlarm(at: nil)
    case .until(let deadline): poller.setAlarm(at: deadline)
    }
    return true
  }

  /// Ends the loop on the calling thread, which has claimed it.
  func endHosted(within limit: Duration?) {
    guard life.withLock({ $0 == .running }) else { return }
    _ = asCurrent { end(by: limit.map { now + $0 } ?? .distantFuture) }
    life.update { $0 = .ended }
  }

  private func asCurrent<Result>(_ body: () -> Result) -> Result {
    sluice_enter_loop(Unmanaged.passUnretained(self).toOpaque()) {
      Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue().threadDidEnd()
    }
    defer { sluice_leave_loop() }
    return body()
  }
}
