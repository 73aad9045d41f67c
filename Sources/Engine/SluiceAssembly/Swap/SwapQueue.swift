/// The swaps that wait for the running swap. Rollbacks come first, then the others in the order of their requests. A
/// swap is dropped if a newer swap also does its work.
package struct SwapQueue: Sendable {
  package enum Kind: Sendable, Hashable {
    /// A swap of the libraries of these plugins; nil means all libraries. It waits for the end of a canary, unless it ends
    /// the canary.
    case swap(Set<String>?, endsCanary: Bool = false)
    case reload
    case rollback
    /// A rollback because this snapshot has failed its probation.
    case breach(snapshot: Int)
    /// This canary gets a larger share of the new transactions.
    case step(Int)
    /// This canary gets all new transactions.
    case promotion(Int)
    /// This canary gets no new transactions any more, and its builds are refused from then on.
    case abort(Int)
  }

  package struct Entry: Sendable, Hashable {
    package let id: Int
    package let kind: Kind
  }

  package private(set) var entries: [Entry] = []

  /// Adds an entry. Returns the entries that it supersedes, which are removed.
  mutating func add(_ entry: Entry) -> [Entry] {
    let superseded = entries.filter { entry.kind.supersedes($0.kind) }
    entries.removeAll { entry.kind.supersedes($0.kind) }
    if entry.kind.isReturn {
      let place = entries.firstIndex { !$0.kind.isReturn } ?? entries.endIndex
      entries.insert(entry, at: place)
    } else {
      entries.append(entry)
    }
    return superseded
  }

  /// - Parameter besidesWaiting: whether the entries that wait for the end of a canary stay in the queue.
  mutating func next(besidesWaiting: Bool) -> Entry? {
    let index = besidesWaiting ? entries.firstIndex { !$0.kind.waitsForCanary } : entries.indices.first
    return index.map { entries.remove(at: $0) }
  }

  /// Of the entries that wait for the end of a canary, removes all besides the newest, and returns them.
  mutating func keepNewestWaiting() -> [Entry] {
    let older = entries.filter(\.kind.waitsForCanary).dropLast()
    entries.removeAll { entry in older.contains { $0.id == entry.id } }
    return Array(older)
  }

  /// Returns false if the swap is no longer waiting.
  mutating func remove(_ id: Int) -> Bool {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
    entries.remove(at: index)
    return true
  }

  mutating func removeAll() -> [Entry] {
    defer { entries = [] }
    return entries
  }
}

extension SwapQueue.Kind {
  /// Whether the request is a rollback, or the end of a canary. It comes before other requests.
  package var isReturn: Bool {
    switch self {
    case .rollback, .breach, .abort: true
    case .swap, .reload, .step, .promotion: false
    }
  }

  /// Whether the engine itself has requested the rollback, after a breach during probation.
  package var isBreach: Bool {
    if case .breach = self { return true }
    return false
  }

  package var isAbort: Bool {
    if case .abort = self { return true }
    return false
  }

  /// Whether a canary gets a larger share.
  package var advancesCanary: Bool {
    switch self {
    case .step, .promotion: true
    case .swap, .reload, .rollback, .breach, .abort: false
    }
  }

  package var waitsForCanary: Bool {
    if case .swap(_, endsCanary: false) = self { return true }
    return false
  }

  func supersedes(_ older: Self) -> Bool {
    switch (self, older) {
    case (.reload, .swap), (.reload, .reload), (.rollback, .rollback): true
    // A swap that ends a canary does more than one that waits for its end.
    case (.swap(_, endsCanary: false), .swap(_, endsCanary: true)): false
    case (.swap(nil, _), .swap): true
    case (.swap(let new?, _), .swap(let old?, _)): old.isSubset(of: new)
    default: false
    }
  }
}
