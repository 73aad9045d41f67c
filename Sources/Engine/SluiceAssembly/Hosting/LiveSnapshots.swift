/// The published snapshot, and the earlier ones on which transactions can still be running.
package struct LiveSnapshots: Sendable {
  /// The snapshot for new transactions.
  package private(set) var published: Snapshot
  private var live: [Int: Snapshot]

  package init(published: Snapshot) {
    self.published = published
    live = [published.number: published]
  }

  /// The live snapshot with this number.
  package subscript(_ number: Int) -> Snapshot? { live[number] }

  /// All of them: the published snapshot, then the others in the order of their numbers.
  package var all: [Snapshot] {
    [published] + live.values.filter { $0 !== published }.sorted { $0.number < $1.number }
  }

  /// Adds a snapshot that some loops might take before it is published.
  package mutating func adopt(_ snapshot: Snapshot) { live[snapshot.number] = snapshot }

  /// Makes a snapshot the published one. The earlier one stays live until it is released.
  package mutating func publish(_ snapshot: Snapshot) {
    adopt(snapshot)
    published = snapshot
  }

  /// Removes a snapshot on which no transaction runs any more. Returns its parts that no other live snapshot has: they
  /// are to be ended, the last one first.
  package mutating func release(_ snapshot: Snapshot) -> [SnapshotPart] {
    live[snapshot.number] = nil
    return snapshot.parts.filter { part in
      guard let instance = part.instance else { return false }
      return !live.values.contains { $0.holds(instance) }
    }
  }
}
