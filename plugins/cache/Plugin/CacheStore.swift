import CacheRules
import struct SluiceMessages.HeaderFields
import SluiceSupport

/// All stored responses, in one store that all event loops share. Responses in memory are found at once. If the disk
/// must be read, only the transaction that looks for the response waits.
final class CacheStore: Sendable {
  /// The result of a look-up.
  struct Found: Sendable {
    var entry: Entry?
    /// Whether there are responses for the URL, even if none matches the request.
    var isKnown: Bool
    /// The number of invalidations before the look-up. A higher number later shows that there were more.
    var invalidations: UInt64
  }

  private struct State {
    var memory: MemoryStore
    var invalidations = InvalidationLog()
  }

  private let state: Locked<State>
  private let disk: DiskStore?

  init(memoryBytes: Int, disk: DiskStore?) {
    state = Locked(State(memory: MemoryStore(maximumBytes: memoryBytes)))
    self.disk = disk
  }

  /// - Parameter isGood: whether the entry in memory is sufficient. If so, the disk is not read.
  func find(_ url: String, for request: HeaderFields, _ isGood: (Entry) -> Bool) async -> Found {
    // The digests are computed before taking the lock, which all loops share.
    let selections = names(of: url).selections(of: request)
    let found = state.withLock { state in
      let (entry, isKnown) = state.memory.find(url, selections)
      return Found(entry: entry, isKnown: isKnown, invalidations: state.invalidations.number)
    }
    guard let disk, found.entry.map(isGood) != true else { return found }
    let stored = await disk.load(url)
    guard !stored.isEmpty else { return found }
    return adopt(stored, of: url, for: request, found)
  }

  /// The lists of request fields on which the responses in memory depend.
  private func names(of url: String) -> [[String]] {
    state.withLock { $0.memory.names(of: url) }
  }

  /// Keeps responses from disk in memory, unless a newer response was stored or the URL was invalidated in the
  /// meantime.
  private func adopt(_ stored: [Entry], of url: String, for request: HeaderFields, _ found: Found) -> Found {
    let selections = Set(names(of: url) + stored.map(\.selection.names)).selections(of: request)
    let fitting = stored.filter { selections.contains($0.selection) }
    return state.withLock { state in
      let (current, isKnown) = state.memory.find(url, selections)
      var result = Found(entry: current, isKnown: isKnown || !stored.isEmpty, invalidations: found.invalidations)
      guard !state.invalidations.isInvalidated(url, since: found.invalidations),
        let candidate = fitting.latest(), current.map({ $0.head.received < candidate.head.received }) ?? true
      else { return result }
      state.memory.insert(candidate, replacing: current)
      result.entry = candidate
      return result
    }
  }

  /// Stores an answer; returns false if its URL was invalidated while the request was in flight.
  @discardableResult
  func store(_ entry: Entry, replacing replaced: Entry?, since invalidations: UInt64) -> Bool {
    let isStored = state.withLock { state in
      guard !state.invalidations.isInvalidated(entry.url, since: invalidations) else { return false }
      state.memory.insert(entry, replacing: replaced)
      return true
    }
    if isStored { disk?.store(entry, replacing: replaced) }
    return isStored
  }

  /// Removes one outdated response.
  func discard(_ entry: Entry) {
    state.withLock { $0.memory.remove(entry) }
    disk?.discard(entry)
  }

  /// Removes all responses of a URL (RFC 9111 §4.4).
  func invalidate(_ url: String) {
    state.withLock { state in
      state.memory.remove(url)
      state.invalidations.add(url)
    }
    disk?.remove(url)
  }

  func open() throws {
    try disk?.open()
  }

  /// Writes the entries that are still queued, and closes the folder.
  func close(within deadline: Duration) {
    disk?.close(within: deadline)
  }
}
