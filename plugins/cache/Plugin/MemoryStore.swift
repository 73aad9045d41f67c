/// Entries in memory within a bound of bytes; what was used longest ago goes first. For one thread at a time.
struct MemoryStore {
  private struct Place {
    var entry: Entry
    var older: Int
    var newer: Int
  }

  private static let none = -1

  let maximumBytes: Int
  private(set) var byteCount = 0
  /// The slots of each URL.
  private var variants: [String: [Int]] = [:]
  private var places: [Place?] = []
  private var free: [Int] = []
  private var oldest = Self.none
  private var newest = Self.none

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  var count: Int { places.count - free.count }

  /// The latest entry of the URL that fits, which counts as used; and whether there is any of that URL.
  mutating func find(_ url: String, _ fits: (Entry) -> Bool) -> (entry: Entry?, isKnown: Bool) {
    guard let slots = variants[url] else { return (nil, false) }
    let found = slots.compactMap { slot in places[slot].flatMap { fits($0.entry) ? (slot, $0.entry) : nil } }
    guard let entry = found.map(\.1).latest(), let slot = found.first(where: { $0.1 === entry })?.0 else {
      return (nil, true)
    }
    unlink(slot)
    link(slot)
    return (entry, true)
  }

  /// Takes an entry in, in place of that with the same selection and of the one that it replaces.
  mutating func insert(_ entry: Entry, replacing replaced: Entry?) {
    for slot in variants[entry.url] ?? [] {
      guard let old = places[slot]?.entry, old === replaced || old.selection == entry.selection else { continue }
      removeSlot(slot)
    }
    guard entry.byteCount <= maximumBytes else { return }
    let slot = free.popLast() ?? places.endIndex
    if slot == places.endIndex { places.append(nil) }
    places[slot] = Place(entry: entry, older: Self.none, newer: Self.none)
    variants[entry.url, default: []].append(slot)
    byteCount += entry.byteCount
    link(slot)
    while byteCount > maximumBytes, oldest != Self.none { removeSlot(oldest) }
  }

  mutating func remove(_ url: String) {
    for slot in variants[url] ?? [] { removeSlot(slot) }
  }

  mutating func remove(_ entry: Entry) {
    for slot in variants[entry.url] ?? [] where places[slot]?.entry === entry { removeSlot(slot) }
  }

  private mutating func removeSlot(_ slot: Int) {
    guard let entry = places[slot]?.entry else { return }
    unlink(slot)
    places[slot] = nil
    free.append(slot)
    byteCount -= entry.byteCount
    variants[entry.url]?.removeAll { $0 == slot }
    if variants[entry.url]?.isEmpty == true { variants[entry.url] = nil }
  }

  private mutating func link(_ slot: Int) {
    places[slot]?.older = newest
    places[slot]?.newer = Self.none
    if newest != Self.none { places[newest]?.newer = slot } else { oldest = slot }
    newest = slot
  }

  private mutating func unlink(_ slot: Int) {
    guard let place = places[slot] else { return }
    if place.older != Self.none { places[place.older]?.newer = place.newer } else { oldest = place.newer }
    if place.newer != Self.none { places[place.newer]?.older = place.older } else { newest = place.older }
  }
}
