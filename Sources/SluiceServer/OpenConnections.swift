/// The connections of one worker, of which there are never more than a limit.
///
/// Where one comes that would be too many, the one on which nothing was asked for the longest has to go: a crowd of idle clients
/// keeps nobody out. One whose request is being answered stays.
struct OpenConnections {
  typealias ID = UInt

  private struct Entry {
    let descriptor: Int32
    /// When it was opened, or its last request began or ended, counted.
    var turn: UInt64
    /// From the end of its request to the end of the answer.
    var isBusy = false
    /// It was sent away, and is not closed yet.
    var isLeaving = false
  }

  let limit: Int
  private var entries: [ID: Entry] = [:]
  private var lastTurn: UInt64 = 0

  init(limit: Int) { self.limit = max(1, limit) }

  /// Gives the descriptor of the one that has to go for it.
  mutating func open(_ id: ID, descriptor: Int32) -> Int32? {
    let staying = entries.filter { !$0.value.isLeaving }
    entries[id] = Entry(descriptor: descriptor, turn: nextTurn())
    guard staying.count >= limit else { return nil }
    guard let idle = staying.filter({ !$0.value.isBusy }).min(by: { $0.value.turn < $1.value.turn }) else { return nil }
    entries[idle.key]?.isLeaving = true
    return idle.value.descriptor
  }

  mutating func close(_ id: ID) { entries[id] = nil }

  /// A request is there. False where too many are being answered already: the last one does not count against the limit.
  mutating func begin(_ id: ID) -> Bool {
    guard entries.count(where: { $0.value.isBusy }) < limit else { return false }
    mark(id, isBusy: true)
    return true
  }

  /// Its answer is sent, or given up.
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
