import CLinux
import CSluice
import Glibc
package import SluicePipeline
import SluiceSupport
import Synchronization

/// `"delivery": "queued"`: passes bounded copies of the events to a plugin's tracer, on a separate thread.
///
///     loop 0 ─► EventQueue ─┐
///     loop 1 ─► EventQueue ─┴─► thread "sluice-tracer" ─► on_event, one at a time
///
/// All events of a transaction come from one loop, so they arrive in order.
package final class QueuedTracer: Tracer {
  /// The size of a ring with room for some thousand events. The system provides a page of this memory only when the
  /// page is first used.
  package static let defaultCapacityBytes = 1 << 20
  /// How long the first event of a transaction can wait for room in the queue if the plugin has no `deadline`. The wait
  /// blocks the loop.
  package static let defaultPatience = Duration.milliseconds(250)
  /// The idle time after which the thread sleeps, so that a stream of events wakes it only once.
  private static let lingerNanoseconds = 1_000_000

  private enum Phase: Sendable {
    case idle
    case running
    /// Deliver the queued events, and end.
    case finishing
    /// End after the current call.
    case abandoned
    case ended
  }

  private struct State: Sendable {
    var phase = Phase.idle
    var isWoken = false
  }

  private let instance: PluginInstance
  private let queues: [EventQueue]
  private let state = Monitor(State())
  private let isSleeping = Atomic<Bool>(false)
  private let isAbandoned = Atomic<Bool>(false)

  /// - Parameters:
  ///   - loops: how many loops the engine has.
  ///   - capacityBytes: the size of each loop's ring; a power of two.
  package init(
    _ instance: PluginInstance, loops: Int, capacityBytes: Int = QueuedTracer.defaultCapacityBytes,
    patience: Duration = QueuedTracer.defaultPatience
  ) {
    self.instance = instance
    queues = (0..<loops).map { _ in EventQueue(capacityBytes: capacityBytes, patience: patience) }
  }

  /// Starts the thread. Call it when the instance is active, and before the first event. [control]
  package func start() throws(PluginError) {
    state.withLock { $0.phase = .running }
    instance.openWork.update { $0 += 1 }
    let isStarted = SystemThread.start(named: "sluice-tracer") { [self] in
      work()
    } then: { [self] in
      instance.openWork.update { $0 -= 1 }
      state.update { $0.phase = .ended }
    }
    guard !isStarted else { return }
    instance.openWork.update { $0 -= 1 }
    state.withLock { $0.phase = .idle }
    throw PluginError(
      .activateFailed, .plugin(name: instance.name, path: instance.generation.path),
      "no thread could be started for its queued delivery")
  }

  /// Delivers the queued events and ends the thread. If this takes longer than the limit, stops waiting and logs an
  /// error. The transactions must be over. [control]
  package func stop(within limit: Duration) {
    let wasRunning = state.update { state in
      guard state.phase == .running else { return false }
      state.phase = .finishing
      return true
    }
    guard wasRunning else { return }
    guard state.wait(upTo: limit, { $0.phase == .ended ? true : nil }) == nil else { return }
    isAbandoned.store(true, ordering: .relaxed)
    state.update { if $0.phase != .ended { $0.phase = .abandoned } }
    instance.hostHandle.log(.error, "did not take its queued events within \(limit); the rest is dropped")
  }

  /// Whether a loop waits for room in its queue.
  var isHoldingUp: Bool { queues.contains { $0.isHoldingUp } }

  package var interests: TraceInterests { instance.interests }

  package func record(_ event: TraceEvent) { _ = offer(event) }

  package func offer(_ event: TraceEvent) -> Bool {
    let isTaken = queues[event.exchange.loop.index].add(event)
    if isSleeping.load(ordering: .sequentiallyConsistent) { wake() }
    return isTaken
  }

  private func wake() {
    guard isSleeping.exchange(false, ordering: .sequentiallyConsistent) else { return }
    state.update { $0.isWoken = true }
  }

  // MARK: The tracer's thread

  private func work() {
    while !isAbandoned.load(ordering: .relaxed) {
      if drain() { continue }
      var pause = timespec(tv_sec: 0, tv_nsec: Self.lingerNanoseconds)
      nanosleep(&pause, nil)
      if drain() { continue }
      guard sleep() else { return }
    }
  }

  private func drain() -> Bool {
    var isAny = false
    for queue in queues {
      let isSome = queue.drain { record in
        ThreadWatcher.yield()
        instance.deliver(EventRecord.event(at: record))
        return !isAbandoned.load(ordering: .relaxed)
      }
      if isSome { isAny = true }
    }
    return isAny
  }

  /// Waits until there is something to do. Returns false if the thread must end.
  private func sleep() -> Bool {
    isSleeping.store(true, ordering: .sequentiallyConsistent)
    defer { isSleeping.store(false, ordering: .relaxed) }
    guard queues.allSatisfy(\.isEmpty) else { return true }
    return state.wait { state in
      if state.isWoken {
        state.isWoken = false
        return true
      }
      return state.phase == .running ? nil : false
    }
  }
}

extension sluice_event {
  fileprivate var transaction: (high: UInt64, low: UInt64) {
    withUnsafeBytes(of: transaction_id) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }
}

extension PluginInstance {
  /// Calls the tracer without an exchange, on the thread for queued delivery.
  func deliver(_ event: UnsafePointer<sluice_event>) {
    guard let function = tracerCalls.on_event else { return }
    withTurn {
      var context = CallContext(self, nil, .event)
      CallContext.push(&context) { _ in
        subject.call(.onEvent, transaction: event.pointee.transaction, attempt: event.pointee.attempt) {
          function(handle, event)
        }
      }
    }
  }
}
