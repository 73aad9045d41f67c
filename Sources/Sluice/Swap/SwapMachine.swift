/// Decides about swaps: what comes next, what is published where, when the snapshot before is over, and how it ends.
///
///     request ─► queue ─► prepare ─► publish ─► probation ─► drain ─► end
///                           │ stopped    │ late loops     │ breach: publish the one before
///                           ▼            ▼                ▼
///                        answered     named, and given the newest when they come back
///
/// A value without tasks, clocks or loops: events come in with their time, actions come out, and whoever performs them asks
/// for ``deadline`` to know when to come back with ``Event/passed``. Snapshots, requests and loops are numbers here.
struct SwapMachine: Sendable {
  /// Replaced snapshots that may wait for their end, and builds that have not returned from a step.
  static let retiredLimit = 64
  /// After the suspensions of a replaced snapshot were expired: how long its transactions may take to end.
  static let expiryLimit = Duration.seconds(5)
  /// How often it is asked whether notifications still have no outcome.
  static let countInterval = Duration.milliseconds(10)

  /// What the configuration of a snapshot says about its publication.
  struct Terms: Sendable, Hashable {
    /// How long loops may take to take it.
    var publish = Duration.seconds(5)
    /// Nil goes without.
    var probation: Duration?
    /// For what it replaces.
    var drain = Duration.seconds(30)
  }

  enum Event: Sendable, Hashable {
    case requested(Int, SwapQueue.Kind)
    case cancelled(Int)
    /// The steps of a request have made a snapshot.
    case made(Int, snapshot: Int, Terms)
    /// The steps of a request came to nothing.
    case stopped(Int)
    /// A loop has taken the newest publication.
    case took(loop: Int)
    /// The thread of a loop is gone.
    case died(loop: Int)
    /// How the snapshot on probation compares with the one before.
    case sampled(snapshot: Int, breach: String?)
    /// No transaction runs on a replaced snapshot any more, on that loop.
    case emptied(snapshot: Int, loop: Int)
    /// Whether notifications of a replaced snapshot still have no outcome.
    case counted(snapshot: Int, isWorking: Bool)
    /// The instances that only a replaced snapshot had are over.
    case ended(snapshot: Int)
    /// A step of a build has not returned in time, or returned at last.
    case leftBehind
    case caughtUp
    /// ``deadline`` may have passed.
    case passed
    /// The engine ends.
    case closed
  }

  enum Action: Sendable, Hashable {
    /// Perform the steps of a request; ends in `made` or `stopped`.
    case prepare(Int)
    /// Have them stop.
    case giveUp(Int)
    /// Answer a request of which nothing was done.
    case answer(Int, Refusal)
    /// Refuse the builds that the one snapshot has and the other has not, from now on.
    case refuseBuilds(of: Int, besides: Int, request: Int)
    /// Have these loops take the newest publication.
    case hand(loops: [Int])
    case published(Settlement)
    /// Compare what serves with what stands by.
    case sample(snapshot: Int, standby: Int)
    /// Ask for a return, since a snapshot is worse than the one before.
    case requestReturn(from: Int, because: String)
    case stoodProbation(Int)
    /// Say for each of these loops when no transaction runs on the snapshot.
    case watchLeases(snapshot: Int, loops: [Int])
    /// End what is suspended there as if its deadline had passed.
    case expire(snapshot: Int, loops: [Int])
    case countCompletions(snapshot: Int)
    case end(snapshot: Int, because: String)
    /// Its transactions do not end: it stays as it is.
    case leak(snapshot: Int)
  }

  /// Why nothing was done.
  enum Refusal: Sendable, Hashable {
    case superseded, cancelled, shutdown
    /// So many replaced snapshots have not ended.
    case tooManyRetired(Int)
  }

  /// A publication that counts as done.
  struct Settlement: Sendable, Hashable {
    var request: Int
    var snapshot: Int
    var replaced: Int
    /// Loops that have not taken it.
    var late: [Int]
  }

  struct Publication: Sendable, Hashable {
    /// Counts them: a snapshot that is gone back to is published again.
    var number: Int
    var snapshot: Int
    var began: Duration
  }

  struct Running: Sendable, Hashable {
    enum Step: Sendable, Hashable {
      case preparing
      /// - Parameter isReturn: by pointer, to what stood by.
      case publishing(until: Duration, isReturn: Bool)
    }

    var request: Int
    var kind: SwapQueue.Kind
    var step: Step
    /// Since it is its turn.
    var since: Duration
  }

  struct Standby: Sendable, Hashable {
    var snapshot: Int
    var end: Duration
    var interval: Duration
    /// Nil while an answer is due, and after a breach.
    var nextLook: Duration?
  }

  struct LoopState: Sendable, Hashable {
    /// The number of the publication that new transactions there run on.
    var publication: Int
    var snapshot: Int
    var isDead = false
  }

  var queue = SwapQueue()
  var running: Running?
  /// What stands in front of new transactions, as far as loops answer.
  var served: Int
  /// What loops take.
  var newest: Publication
  var standby: Standby?
  var retired: [Retired] = []
  var overdue = 0
  var isClosed = false
  var loops: [LoopState]
  /// The loops on which transactions of a snapshot may run.
  var users: [Int: Set<Int>]
  var terms: [Int: Terms]

  init(loops: Int, snapshot: Int, _ terms: Terms) {
    served = snapshot
    newest = Publication(number: 1, snapshot: snapshot, began: .zero)
    self.loops = Array(repeating: LoopState(publication: 1, snapshot: snapshot), count: loops)
    users = [snapshot: Set(0..<loops)]
    self.terms = [snapshot: terms]
  }

  mutating func handle(_ event: Event, at now: Duration) -> [Action] {
    switch event {
    case .requested(let id, let kind): return request(id, kind, now)
    case .cancelled(let id): return cancel(id)
    case .made(let id, let snapshot, let terms): return made(id, snapshot, terms, now)
    case .stopped(let id):
      if running?.request == id { running = nil }
      return pump(now)
    case .took(let loop): return took(loop, now)
    case .died(let loop): return died(loop, now)
    case .sampled(let snapshot, let breach): return sampled(snapshot, breach, now)
    case .emptied(let snapshot, let loop): return emptied(snapshot, loop, now)
    case .counted(let snapshot, let isWorking): return counted(snapshot, isWorking, now)
    case .ended(let snapshot):
      forget(snapshot)
      return []
    case .leftBehind:
      overdue += 1
      return []
    case .caughtUp:
      overdue -= 1
      return []
    case .passed: return passed(now)
    case .closed: return close(now)
    }
  }

  /// When to come back with ``Event/passed``; nil where nothing is waited for.
  var deadline: Duration? {
    var deadlines = isClosed ? [] : retired.compactMap(\.deadline)
    if case .publishing(let until, _)? = running?.step { deadlines.append(until) }
    if !isClosed, let look = standby?.nextLook { deadlines.append(look) }
    return deadlines.min()
  }

  private mutating func passed(_ now: Duration) -> [Action] {
    var actions: [Action] = []
    if case .publishing(let until, _)? = running?.step, now >= until { actions += settle(now) }
    guard !isClosed else { return actions }
    if let standby, let look = standby.nextLook, now >= look {
      self.standby?.nextLook = nil
      actions.append(.sample(snapshot: served, standby: standby.snapshot))
    }
    return actions + drainFurther(now)
  }
}

// The queue.
extension SwapMachine {
  /// Those that wait for their end.
  var retiredCount: Int { retired.count + overdue }

  private mutating func request(_ id: Int, _ kind: SwapQueue.Kind, _ now: Duration) -> [Action] {
    guard !isClosed else { return [.answer(id, .shutdown)] }
    let superseded = queue.add(SwapQueue.Entry(id: id, kind: kind))
    return superseded.map { .answer($0.id, .superseded) } + pump(now)
  }

  private mutating func cancel(_ id: Int) -> [Action] {
    if queue.remove(id) { return [.answer(id, .cancelled)] }
    guard running?.request == id, running?.step == .preparing else { return [] }
    return [.giveUp(id)]
  }

  /// Begins the next one where none is under way.
  mutating func pump(_ now: Duration) -> [Action] {
    var actions: [Action] = []
    while running == nil, let entry = queue.next() {
      switch entry.kind {
      case .breach(let snapshot):
        guard let standby, snapshot == served else {
          actions.append(.answer(entry.id, .superseded))
          continue
        }
        actions.append(.refuseBuilds(of: served, besides: standby.snapshot, request: entry.id))
        actions += goBack(entry, now)
      case .rollback where standby != nil: actions += goBack(entry, now)
      case .rollback: actions += prepare(entry, now)
      case .swap, .reload:
        guard retiredCount < Self.retiredLimit else {
          actions.append(.answer(entry.id, .tooManyRetired(retiredCount)))
          continue
        }
        actions += prepare(entry, now)
      }
    }
    return actions
  }

  private mutating func prepare(_ entry: SwapQueue.Entry, _ now: Duration) -> [Action] {
    running = Running(request: entry.id, kind: entry.kind, step: .preparing, since: now)
    return [.prepare(entry.id)]
  }

  /// To what stands by, which from here on nothing else ends.
  private mutating func goBack(_ entry: SwapQueue.Entry, _ now: Duration) -> [Action] {
    guard let snapshot = standby?.snapshot else { return [] }
    standby = nil
    running = Running(request: entry.id, kind: entry.kind, step: .preparing, since: now)
    return publish(snapshot, isReturn: true, now)
  }

  private mutating func close(_ now: Duration) -> [Action] {
    isClosed = true
    var actions: [Action] = queue.removeAll().map { .answer($0.id, .shutdown) }
    guard let running else { return actions }
    if running.step == .preparing { actions.append(.giveUp(running.request)) } else { actions += settle(now) }
    return actions
  }
}
