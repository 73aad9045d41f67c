// Publication.
extension SwapMachine {
  mutating func made(_ id: Int, _ snapshot: Int, _ terms: Terms, _ now: Duration) -> [Action] {
    guard running?.request == id else { return [] }
    self.terms[snapshot] = terms
    guard let canary = terms.canary else { return publish(snapshot, now) }
    if isClosed {
      // The new builds have not proved themselves.
      running = nil
      return [.answer(id, .shutdown), .leaveCanary(snapshot)]
    }
    self.canary = Canary(snapshot: snapshot, terms: canary)
    return publish(served, beside: snapshot, now)
  }

  /// Publishes a snapshot for new transactions. Until a loop has taken it, new transactions on that loop run on the
  /// previous snapshot.
  /// - Parameter canary: the snapshot that serves a part of them.
  mutating func publish(
    _ snapshot: Int, beside canary: Int? = nil, isReturn: Bool = false, _ now: Duration
  ) -> [Action] {
    let dropped = newest.canary.flatMap { $0 == snapshot || $0 == canary ? nil : $0 }
    newest = Publication(
      number: newest.number + 1, snapshot: snapshot, canary: canary,
      canaryStep: canary == nil ? nil : self.canary?.step, droppedCanary: dropped, began: now)
    if canary == nil { self.canary = nil }
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
    loops[loop].canary = newest.canary
    for snapshot in [newest.snapshot, newest.canary].compactMap(\.self) { users[snapshot, default: []].insert(loop) }
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
    let replacesOther = newest.canary == nil && old != new
    let probation = replacesOther && !isReturn && !isClosed ? terms[new]?.probation : nil
    var actions: [Action] = [
      .published(
        Settlement(
          request: running.request, snapshot: new, replaced: old, canary: newest.canary,
          canaryStep: newest.canaryStep, droppedCanary: newest.droppedCanary, isOnProbation: probation != nil,
          late: lateLoops))
    ]
    if let dropped = newest.droppedCanary {
      actions += retire(dropped, old == new ? "it was a canary that was ended" : "snapshot \(new) was published", now)
    }
    if newest.canary != nil {
      // A probation ends with the next swap, also if that is a canary.
      if let before = standby { actions += retire(before.snapshot, "a canary has begun", now) }
      standby = nil
      beginStep(now)
    } else if !replacesOther {
      // A canary was ended, and nothing else has changed.
    } else if isReturn {
      actions += retire(old, "the engine returned to snapshot \(new)", now)
    } else {
      let reason = "snapshot \(new) took its place"
      if let before = standby { actions += retire(before.snapshot, reason, now) }
      standby = probation.map { Standby(old, for: $0, from: now) }
      if standby == nil { actions += retire(old, reason, now) }
    }
    return actions + pump(now)
  }
}
