import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// The events of one loop on their way to a tracer's thread: a ring, and a reserve list for events that must not be
/// lost.
///
/// While there is room in the ring, adding takes no lock and allocates nothing. When the ring is full, the kind of the
/// event decides:
/// - The first event of a transaction waits for room, which blocks the loop. If there is no room in time, the event
///   goes to the reserve.
/// - The last event of a transaction goes to the reserve.
/// - Any other event is dropped. All later events of its transaction except the last one are then dropped too, so that
///   no event arrives without its predecessor.
///
/// So the reserve holds at most one last event for each transaction in flight, and only a few first events: after a few
/// waits, the tracer has exceeded its time budget and is switched off. While the reserve is not empty, each new event
/// is added to the end of the reserve or dropped, which keeps the order.
final class EventQueue: Sendable {
  private let ring: EventRing
  private let reserve = Locked<[ReservedRecord]>([])
  private let reservedCount = Atomic<Int>(0)
  /// Whether the loop waits for room in the ring.
  private let isWaiting = Atomic<Bool>(false)
  /// Counts how often there was room again for a waiting event. The number is not used: a `Monitor<Void>` would be
  /// enough, but a value without size shares its address with data that is read outside of the lock, and the thread
  /// sanitizer reports this as a race.
  private let room = Monitor(0)
  private let patience: Duration

  /// - Parameter patience: the time for which the first event of a transaction waits for room.
  init(capacityBytes: Int, patience: Duration) {
    ring = EventRing(capacityBytes: capacityBytes)
    self.patience = patience
  }

  /// Adds a copy of the event. Returns false if the event is dropped. [loop]
  func add(_ event: TraceEvent) -> Bool {
    let isBoundary = event.kind == .willExecute || event.kind == .didComplete
    if !isBoundary, event.exchange.attachments[self] != nil { return false }
    let record = EventRecord(event)
    if write(record) { return true }
    guard isBoundary else {
      event.exchange.attachments[self] = self
      return false
    }
    if event.kind == .willExecute, waitForRoom(), write(record) { return true }
    reserve.withLock { reserve in
      reserve.append(ReservedRecord(record))
      reservedCount.store(reserve.count, ordering: .sequentiallyConsistent)
    }
    return true
  }

  private func write(_ record: EventRecord) -> Bool {
    guard reservedCount.load(ordering: .acquiring) == 0 else { return false }
    return ring.write(byteCount: record.byteCount) { record.write(to: $0) }
  }

  var isHoldingUp: Bool { isWaiting.load(ordering: .relaxed) }

  private func waitForRoom() -> Bool {
    isWaiting.store(true, ordering: .sequentiallyConsistent)
    defer { isWaiting.store(false, ordering: .relaxed) }
    return room.wait(upTo: patience) { _ in hasRoom ? true : nil } ?? false
  }

  private var hasRoom: Bool { reservedCount.load(ordering: .sequentiallyConsistent) == 0 && ring.isHalfFree }

  var isEmpty: Bool { ring.isEmpty && reservedCount.load(ordering: .sequentiallyConsistent) == 0 }

  /// Passes all queued events to the body, in order. Returns false if there were none. [the tracer's thread]
  /// - Parameter body: returns false to get no more events.
  func drain(_ body: (UnsafeMutableRawPointer) -> Bool) -> Bool {
    var isAny = false
    var wantsMore = true
    while wantsMore, ring.read({ wantsMore = body($0) }) {
      isAny = true
      makeRoom()
    }
    // The ring gets no events while the reserve is not empty, so the reserve's events come after all of the ring's.
    guard wantsMore, reservedCount.load(ordering: .acquiring) > 0, ring.isEmpty else { return isAny }
    let records = reserve.withLock { reserve in
      defer { reserve = [] }
      reservedCount.store(0, ordering: .sequentiallyConsistent)
      return reserve
    }
    for record in records where wantsMore { wantsMore = body(record.memory) }
    makeRoom()
    return true
  }

  private func makeRoom() {
    guard isWaiting.load(ordering: .sequentiallyConsistent), hasRoom else { return }
    room.update { $0 &+= 1 }
  }
}

/// A record that has its own memory. Unchecked: the record is written before another thread gets it, and only read
/// afterwards.
private final class ReservedRecord: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer

  init(_ record: EventRecord) {
    memory = .allocate(byteCount: record.byteCount, alignment: 16)
    record.write(to: memory)
  }

  deinit { memory.deallocate() }
}
