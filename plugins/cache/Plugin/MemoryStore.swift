/// Entries in memory, with limits of bytes and of entries for each URL. The least recently used entry is removed first.
/// Only one thread at a time may use the store.
struct MemoryStore {
  private struct Place {
    var entry: Entry
    var older: Int
    var newer: Int
    /// A counter that grows with each use of an entry, so a larger number means a later use.
    var lastUse: UInt64 = 0
  }

  /// The maximum number of entries of one URL; beyond it, the least recently used one is removed.
  private static let maximumVariants = 128
  private static let none = -1

  let maximumBytes: Int
  private(set) var byteCount = 0
  /// For each URL, the slots of its entries: first by the field names of an entry's selection, then by the digest of
  /// the values.
  private var variants: [String: [[String]: [Digest?: Int]]] = [:]
  private var places: [Place?] = []
  private var free: [Int] = []
  private var oldest = Self.none
  private var newest = Self.none
  private var useCount: UInt64 = 0

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  var count: Int { places.count - free.count }

  /// The lists of request fields on which responses of the URL depend, without duplicates.
  func names(of url: String) -> [[String]] { variants[url].map { Array($0.keys) } ?? [] }

  /// Returns the newest entry of the URL that has one of the selections, and whether the URL has any entry. Marks the
  /// entry as used.
  mutating func find(_ url: String, _ selections: [Entry.Selection]) -> (entry: Entry?, isKnown: Bool) {
    guard let known = variants[url] else { return (nil, false) }
    let slots = selections.compactMap { known[$0.names]?[$0.digest] }.sorted { lastUse($0) > lastUse($1) }
    guard let entry = slots.compactMap({ places[$0]?.entry }).latest(), let slot = slot(of: entry) else {
      return (nil, true)
    }
    unlink(slot)
    link(slot)
    return (entry, true)
  }

  /// Adds an entry. Removes the entry that it replaces, and an entry that has the same selection.
  mutating func insert(_ entry: Entry, replacing replaced: Entry?) {
    if let replaced { remove(replaced) }
    if let slot = variants[entry.url]?[entry.selection.names]?[entry.selection.digest] { removeSlot(slot) }
    guard entry.byteCount <= maximumBytes else { return }
    let slot = free.popLast() ?? places.endIndex
    if slot == places.endIndex { places.append(nil) }
    places[slot] = Place(entry: entry, older: Self.none, newer: Self.none)
    variants[entry.url, default: [:]][entry.selection.names, default: [:]][entry.selection.digest] = slot
    byteCount += entry.byteCount
    link(slot)
    removeSurplus(of: entry.url)
    while byteCount > maximumBytes, oldest != Self.none { removeSlot(oldest) }
  }

  mutating func remove(_ url: String) {
    for slot in slots(of: url) { removeSlot(slot) }
  }

  mutating func remove(_ entry: Entry) {
    if let slot = slot(of: entry) { removeSlot(slot) }
  }

  private mutating func removeSurplus(of url: String) {
    let slots = slots(of: url)
    guard slots.count > Self.maximumVariants, let first = slots.min(by: { lastUse($0) < lastUse($1) }) else { return }
    removeSlot(first)
  }

  private func slots(of url: String) -> [Int] {
    variants[url].map { $0.values.flatMap { $0.values } } ?? []
  }

  /// The index of the entry in `places`; nil if the entry is not stored here, or if another entry has replaced it.
  private func slot(of entry: Entry) -> Int? {
    guard let slot = variants[entry.url]?[entry.selection.names]?[entry.selection.digest],
      places[slot]?.entry === entry
    else { return nil }
    return slot
  }

  private func lastUse(_ slot: Int) -> UInt64 { places[slot]?.lastUse ?? 0 }

  private mutating func removeSlot(_ slot: Int) {
    guard let entry = places[slot]?.entry else { return }
    unlink(slot)
    places[slot] = nil
    free.append(slot)
    byteCount -= entry.byteCount
    forget(entry.url, entry.selection)
  }

  private mutating func forget(_ url: String, _ selection: Entry.Selection) {
    variants[url]?[selection.names]?[selection.digest] = nil
    if variants[url]?[selection.names]?.isEmpty == true { variants[url]?[selection.names] = nil }
    if variants[url]?.isEmpty == true { variants[url] = nil }
  }

  private mutating func link(_ slot: Int) {
    places[slot]?.older = newest
    places[slot]?.newer = Self.none
    useCount += 1
    places[slot]?.lastUse = useCount
    if newest != Self.none { places[newest]?.newer = slot } else { oldest = slot }
    newest = slot
  }

  private mutating func unlink(_ slot: Int) {
    guard let place = places[slot] else { return }
    if place.older != Self.none { places[place.older]?.newer = place.newer } else { oldest = place.newer }
    if place.newer != Self.none { places[place.newer]?.older = place.older } else { newest = place.older }
  }
}
