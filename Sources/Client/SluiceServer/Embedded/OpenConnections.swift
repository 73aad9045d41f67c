/// The connections of one worker, whose number is limited.
///
/// If a new connection exceeds the limit, the connection that was idle for the longest time is closed, so that many
/// idle clients cannot keep others out. A connection whose request is being answered is never closed.
struct OpenConnections {
  typealias ID = UInt

  private struct Entry {
    let descriptor: Int32
    /// When the connection was opened, or its last request began or ended, whichever came last. It is the value that a
    /// counter had then, and not a time.
    var turn: UInt64
    /// Whether a whole request has arrived and its answer was not sent yet.
    var isBusy = false
    /// Whether the connection must close and is not closed yet.
    var isLeaving = false
  }

  let limit: Int
  private var entries: [ID: Entry] = [:]
  private var lastTurn: UInt64 = 0

  init(limit: Int) { self.limit = max(1, limit) }

  /// Adds a connection. Returns the descriptor of a connection that must close to make room, or nil if there is room or
  /// none is idle.
  mutating func open(_ id: ID, descriptor: Int32) -> Int32? {
    let staying = entries.filter { !$0.value.isLeaving }
    entries[id] = Entry(descriptor: descriptor, turn: nextTurn())
    guard staying.count >= limit else { return nil }
    guard let idle = staying.filter({ !$0.value.isBusy }).min(by: { $0.value.turn < $1.value.turn }) else { return nil }
    entries[idle.key]?.isLeaving = true
    return idle.value.descriptor
  }

  mutating func close(_ id: ID) { entries[id] = nil }

  /// Notes that a request has arrived. Returns false, and does not count the request, if too many requests are already
  /// being answered.
  mutating func begin(_ id: ID) -> Bool {
    guard entries.count(where: { $0.value.isBusy }) < limit else { return false }
    mark(id, isBusy: true)
    return true
  }

  /// Notes that the answer was sent or given up.
  mutating func end(_ id: ID) { mark(id, isBusy: false) }

  private mutating func mark(_ id: ID, isBusy: Bool) {
    let turn = nextTurn()
    entries[id]?.isBusy = isBusy
    entries[id]?.turn = turn
  }

  private mutating func nextTurn() -> UInt64 {
    lastTurn += 1
    return lastTurn
  }
}
