/// All values of a fact that varies between two runs of the old build.
struct ReplayVariation: Sendable, Hashable {
  /// The index of the fact in the list of what varies.
  let place: Int
  let key: ReplayFacts.Key
  let old: [ReplayValue]
  let new: [ReplayValue?]
}

extension ReplayReport {
  /// What the report shows in place of the old value.
  static let differentEachTime = "a different value each time"

  /// Reports values that no longer vary as differences: in the old build, the value was different in each run of each
  /// request, and in the new build it is the same in all runs of all requests. With fewer than two requests, such a value
  /// can be the same by chance, for example if it is the time in seconds.
  package mutating func findConstants() {
    let all = comparisons.indices.flatMap { index in comparisons[index].variations.map { (index, $0) } }
    let groups = Dictionary(grouping: all) { $0.1.key }.values.filter { group in
      let (old, new) = (group.flatMap(\.1.old), group.flatMap(\.1.new))
      return group.count > 1 && Set(old).count == old.count && Set(new).count == 1
    }
    for (index, variation) in groups.joined().sorted(by: { ($0.0, -$0.1.place) < ($1.0, -$1.1.place) }) {
      var difference = comparisons[index].varying.remove(at: variation.place)
      difference.old = Self.differentEachTime
      comparisons[index].differences.append(difference)
    }
  }
}
