import SluiceMessages
import SluicePipeline

/// The times at which the hops under way were issued, by transaction. The table allocates only when more hops are in
/// flight than ever before.
///
/// Transaction ids are random, so they need no hashing. An entry whose place is taken goes to the next free place.
struct IssueTimes {
  private struct Place {
    /// The right half of the id, which is never 0; 0 if the place is free.
    var key: UInt64 = 0
    var time: UInt64 = 0
  }

  private var places: [Place]
  private(set) var count = 0

  /// - Parameter capacity: a power of two.
  init(capacity: Int = 256) { places = [Place](repeating: Place(), count: capacity) }

  /// Stores a time, which replaces an earlier one of the same transaction.
  mutating func set(_ time: Instant, for id: TransactionID) {
    let index = place(of: id.low)
    if places[index].key == 0 {
      count += 1
      places[index].key = id.low
    }
    places[index].time = time.nanoseconds
    if count * 2 > places.count { grow() }
  }

  /// Removes and returns the time; nil if no time was set.
  mutating func remove(_ id: TransactionID) -> Instant? {
    let index = place(of: id.low)
    guard places[index].key != 0 else { return nil }
    let time = places[index].time
    places[index].key = 0
    count -= 1
    closeGap(at: index)
    return Instant(nanoseconds: time)
  }

  private var mask: Int { places.count - 1 }

  private func home(_ key: UInt64) -> Int { Int(truncatingIfNeeded: key) & mask }

  /// The index of the key, or the index at which to insert it.
  private func place(of key: UInt64) -> Int {
    var index = home(key)
    while places[index].key != 0, places[index].key != key { index = (index + 1) & mask }
    return index
  }

  /// Moves later entries into the free place at `start` if a search would otherwise stop there and not find them.
  private mutating func closeGap(at start: Int) {
    var gap = start
    var index = (gap + 1) & mask
    while places[index].key != 0 {
      let distanceFromHome = (index - home(places[index].key)) & mask
      if distanceFromHome >= (index - gap) & mask {
        places[gap] = places[index]
        places[index].key = 0
        gap = index
      }
      index = (index + 1) & mask
    }
  }

  private mutating func grow() {
    let old = places
    places = [Place](repeating: Place(), count: old.count * 2)
    for entry in old where entry.key != 0 { places[place(of: entry.key)] = entry }
  }
}
