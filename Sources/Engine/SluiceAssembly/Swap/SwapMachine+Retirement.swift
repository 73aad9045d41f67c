// Ends replaced snapshots.
extension SwapMachine {
  /// A replaced snapshot that the engine will not return to.
  package struct Retired: Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
      /// The engine waits for its transactions to finish.
      case draining(until: Duration)
      /// Its suspended transactions have been expired, and the engine waits for their end.
      case expiring(until: Duration)
      /// A loop has not taken a newer snapshot, so it can still begin transactions on this snapshot when it continues.
      case held
      /// The engine waits for its notifications and its scheduled work to finish.
      case completing(until: Duration, nextCount: Duration?)
      /// Its instances are being ended.
      case ending
      /// Its transactions do not end, so the snapshot never ends.
      case leaked
      /// The engine was shut down before the snapshot could end.
      case kept
    }

    package var snapshot: Int
    package var reason: String
    package var since: Duration
    /// The loops on which transactions of this snapshot can still run.
    package var remaining: Set<Int>
    /// The time when all current work on the snapshot must have ended.
    package var end: Duration
    package var phase: Phase

    package var deadline: Duration? {
      switch phase {
      case .draining(let until), .expiring(let until): until
      case .completing(_, let next): next
      case .held, .ending, .leaked, .kept: nil
      }
    }
  }

  /// The number of snapshots whose instances are being ended.
  package var endingCount: Int { retired.count { $0.phase == .ending } }

  mutating func retire(_ snapshot: Int, _ reason: String, _ now: Duration) -> [Action] {
    let remaining = (users[snapshot] ?? []).filter { !loops[$0].isDead }
    let end = now + (terms[served] ?? Terms()).drain
    retired.append(
      Retired(
        snapshot: snapshot, reason: reason, since: now, remaining: remaining, end: end,
        phase: isClosed ? .kept : .draining(until: end)))
    if isClosed { return [] }
    return remaining.isEmpty
      ? complete(snapshot, now) : [.watchLeases(snapshot: snapshot, loops: remaining.sorted())]
  }

  mutating func emptied(_ snapshot: Int, _ loop: Int, _ now: Duration) -> [Action] {
    guard let index = index(of: snapshot), retired[index].remaining.remove(loop) != nil else { return [] }
    switch retired[index].phase {
    case .draining, .expiring, .held: break
    case .completing, .ending, .leaked, .kept: return []
    }
    guard retired[index].remaining.isEmpty, !isClosed else { return [] }
    return complete(snapshot, now)
  }

  private mutating func complete(_ snapshot: Int, _ now: Duration) -> [Action] {
    guard let index = index(of: snapshot) else { return [] }
    retired[index].phase = .completing(until: retired[index].end, nextCount: nil)
    return [.countCompletions(snapshot: snapshot)]
  }

  mutating func counted(_ snapshot: Int, _ isWorking: Bool, _ now: Duration) -> [Action] {
    guard let index = index(of: snapshot), case .completing(let until, _) = retired[index].phase, !isClosed else {
      return []
    }
    guard !isWorking || now >= until else {
      retired[index].phase = .completing(until: until, nextCount: min(now + Self.countInterval, until))
      return []
    }
    retired[index].phase = .ending
    return [.end(snapshot: snapshot, because: retired[index].reason)]
  }

  /// Called when a loop has taken the newest snapshot. Expires the suspended transactions of each held snapshot that no
  /// late loop can use any more.
  mutating func letGo(_ loop: Int, _ now: Duration) -> [Action] {
    var actions: [Action] = []
    for index in retired.indices where retired[index].phase == .held && holders(of: retired[index]).isEmpty {
      retired[index].phase = .expiring(until: now + Self.expiryLimit)
      actions.append(.expire(snapshot: retired[index].snapshot, loops: retired[index].remaining.sorted()))
    }
    return actions
  }

  mutating func drainFurther(_ now: Duration) -> [Action] {
    var actions: [Action] = []
    for index in retired.indices {
      guard let deadline = retired[index].deadline, now >= deadline else { continue }
      let snapshot = retired[index].snapshot
      switch retired[index].phase {
      case .draining:
        retired[index].phase = .expiring(until: now + Self.expiryLimit)
        actions.append(.expire(snapshot: snapshot, loops: retired[index].remaining.sorted()))
      case .expiring:
        guard holders(of: retired[index]).isEmpty else {
          retired[index].phase = .held
          continue
        }
        retired[index].phase = .leaked
        actions.append(.leak(snapshot: snapshot))
      case .completing(let until, _):
        retired[index].phase = .completing(until: until, nextCount: nil)
        actions.append(.countCompletions(snapshot: snapshot))
      case .held, .ending, .leaked, .kept: continue
      }
    }
    return actions
  }

  mutating func forget(_ snapshot: Int) {
    retired.removeAll { $0.snapshot == snapshot }
    users[snapshot] = nil
    terms[snapshot] = nil
  }

  /// The loops whose new transactions would still run on this snapshot.
  package func holders(of retired: Retired) -> [Int] {
    retired.remaining.filter { loop in
      loops[loop].snapshot == retired.snapshot || loops[loop].canary == retired.snapshot
    }.sorted()
  }

  private func index(of snapshot: Int) -> Int? { retired.firstIndex { $0.snapshot == snapshot } }
}
