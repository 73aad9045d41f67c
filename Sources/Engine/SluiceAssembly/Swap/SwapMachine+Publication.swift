// Publication.
extension SwapMachine {
  mutating func made(_ id: Int, _ snapshot: Int, _ terms: Terms, _ now: Duration) -> [Action] {
    guard running?.request == id else { return [] }
    self.terms[snapshot] = terms
    return publish(snapshot, isReturn: false, now)
  }

  /// Publishes a snapshot for new transactions. Until a loop has taken it, new transactions on that loop run on the
  /// previous snapshot.
  mutating func publish(_ snapshot: Int, isReturn: Bool, _ now: Duration) -> [Action] {
    newest = Publication(number: newest.number + 1, snapshot: snapshot, began: now)
    let limit = isClosed ? .zero : terms[snapshot]?.publish ?? Terms().publish
    running?.step = .publishing(until: now + limit, isReturn: isReturn)
    let alive = loops.indices.filter { !loops[$0].isDead }
    return [.hand(loops: alive)] + (lateLoops.isEmpty || isClosed ? settle(now) : [])
  }

  /// Loops that are alive and have not taken the newest publication.
  package var lateLoops: [Int] {
    loops.indices.filter { !loops[$0].isDead && loops[$0].publication < newest.number }
  }

  /// Called when a loop has taken a publication. It is always the publication that is newest at that moment, so an
  /// older publication never follows a newer one.
  mutating func took(_ loop: Int, _ now: Duration) -> [Action] {
    guard loops.indices.contains(loop), loops[loop].publication < newest.number else { return [] }
    loops[loop].publication = newest.number
    loops[loop].snapshot = newest.snapshot
    users[newest.snapshot, default: []].insert(loop)
    return (lateLoops.isEmpty ? settle(now) : []) + letGo(loop, now)
  }

  mutating func died(_ loop: Int, _ now: Duration) -> [Action] {
    guard loops.indices.contains(loop), !loops[loop].isDead else { return [] }
    loops[loop].isDead = true
    let settled = lateLoops.isEmpty ? settle(now) : []
    return settled + retired.map(\.snapshot).flatMap { emptied($0, loop, now) }
  }

  /// Marks the current publication as done, even if some loops are late.
  mutating func settle(_ now: Duration) -> [Action] {
    guard let running, case .publishing(_, let isReturn) = running.step else { return [] }
    let (old, new) = (served, newest.snapshot)
    served = new
    self.running = nil
    var actions: [Action] = [
      .published(Settlement(request: running.request, snapshot: new, replaced: old, late: lateLoops))
    ]
    if isReturn {
      actions += retire(old, "the engine returned to snapshot \(new)", now)
    } else {
      let reason = "snapshot \(new) took its place"
      if let before = standby { actions += retire(before.snapshot, reason, now) }
      standby = isClosed ? nil : terms[new]?.probation.map { Standby(old, for: $0, from: now) }
      if standby == nil { actions += retire(old, reason, now) }
    }
    return actions + pump(now)
  }
}
