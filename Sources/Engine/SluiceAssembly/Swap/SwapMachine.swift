/// Decides about swaps: which request is the next, which snapshot each loop gets, and when and how a replaced snapshot
/// ends.
///
///     request ─► queue ─► prepare ─► canary ─► publish ─► probation ─► drain ─► end
///                           │ stopped  │ breach   │ late loops     │ breach: publish the previous one
///                           ▼          ▼          ▼                ▼
///                        answered   share 0    named; get the newest when they come back
///
/// A canary is a snapshot that serves a part of the new transactions, beside the served one, and a larger part with each
/// step. Each step is a publication. In the first step it can serve none: its builds then replay samples in the shadow.
///
/// It is a value without tasks, clocks or loops. It takes events with their time, and returns actions, which
/// the engine's `SwapCoordinator` performs. The coordinator reads ``deadline`` to know when to send ``Event/passed``. Snapshots,
/// requests and loops are represented by numbers.
package struct SwapMachine: Sendable {
  /// The maximum for the number of replaced snapshots that have not ended, plus the number of builds that have not
  /// returned from a step.
  package static let retiredLimit = 64
  /// The time limit for all transactions of a replaced snapshot to end, counted from the expiry of its suspended
  /// transactions.
  package static let expiryLimit = Duration.seconds(5)
  /// How often the machine asks whether notifications still have no outcome.
  package static let countInterval = Duration.milliseconds(10)

  /// The settings of a snapshot's configuration for publication and retirement.
  package struct Terms: Sendable, Hashable {
    /// How long the loops have to take the snapshot.
    package var publish: Duration
    /// Nil publishes the snapshot for all new transactions at once.
    package var canary: CanaryTerms?
    /// Nil means no probation.
    package var probation: Duration?
    /// The time limit for the drain of the replaced snapshot.
    package var drain: Duration

    package init(
      publish: Duration = .seconds(5), canary: CanaryTerms? = nil, probation: Duration? = nil,
      drain: Duration = .seconds(30)
    ) {
      (self.publish, self.canary, self.probation, self.drain) = (publish, canary, probation, drain)
    }
  }

  package enum Event: Sendable, Hashable {
    case requested(Int, SwapQueue.Kind)
    case cancelled(Int)
    /// The steps of a request have made a snapshot.
    case made(Int, snapshot: Int, Terms)
    /// The steps of a request have ended without a snapshot.
    case stopped(Int)
    /// A loop has taken the newest publication.
    case took(loop: Int)
    /// The thread of a loop has ended.
    case died(loop: Int)
    /// The result of comparing the snapshot on probation with the previous snapshot, or a canary with the served one.
    /// `breach` is nil if the new snapshot is not worse, and `isEnough` says whether a canary has had what its step needs,
    /// besides its time. `step` is the step of the canary that was compared.
    case sampled(snapshot: Int, breach: String?, isEnough: Bool = false, step: Int? = nil)
    /// On that loop, no transaction runs on the replaced snapshot any more.
    case emptied(snapshot: Int, loop: Int)
    /// Whether notifications of a replaced snapshot still have no outcome.
    case counted(snapshot: Int, isWorking: Bool)
    /// The replaced snapshot's own instances, which no other snapshot has, have all ended.
    case ended(snapshot: Int)
    /// A step of a build has not returned in time (`leftBehind`), or has returned after all (`caughtUp`).
    case leftBehind
    case caughtUp
    /// The time of ``deadline`` might have been reached.
    case passed
    /// The engine ends.
    case closed
  }

  package enum Action: Sendable, Hashable {
    /// Perform the steps of a request, and then send `made` or `stopped`.
    case prepare(Int)
    /// Stop these steps.
    case giveUp(Int)
    /// Answer a request that needed no work.
    case answer(Int, Refusal)
    /// From now on, refuse the builds that the first snapshot has and the second snapshot does not have.
    case refuseBuilds(of: Int, besides: Int, request: Int)
    /// Make these loops take the newest publication.
    case hand(loops: [Int])
    case published(Settlement)
    /// Compare a snapshot with another one: the served one with the one on standby, or a canary with the served one.
    case sample(snapshot: Int, against: Int)
    /// Request what follows from a comparison.
    case request(SwapQueue.Kind, because: String?)
    /// The engine ends before the canary is decided.
    case leaveCanary(Int)
    case stoodProbation(Int)
    /// For each of these loops, send `emptied` when no transaction runs on the snapshot any more.
    case watchLeases(snapshot: Int, loops: [Int])
    /// End the suspended calls of the snapshot on these loops as if their deadlines had passed.
    case expire(snapshot: Int, loops: [Int])
    case countCompletions(snapshot: Int)
    case end(snapshot: Int, because: String)
    /// Leave the snapshot as it is, because its transactions do not end.
    case leak(snapshot: Int)
  }

  /// Why a request was answered without any work.
  package enum Refusal: Sendable, Hashable {
    case superseded, cancelled, shutdown
    /// Too many replaced snapshots have not ended. The value is their number.
    case tooManyRetired(Int)
  }

  /// A publication that counts as done.
  package struct Settlement: Sendable, Hashable {
    package var request: Int
    package var snapshot: Int
    package var replaced: Int
    /// The canary that serves beside `snapshot` from now on.
    package var canary: Int?
    /// The index of the canary's step.
    package var canaryStep: Int?
    /// The canary that no longer serves, although it was not published.
    package var droppedCanary: Int?
    /// Whether `snapshot` is on probation, and `replaced` stands by.
    package var isOnProbation = false
    /// Loops that have not taken the snapshot.
    package var late: [Int]
  }

  package struct Publication: Sendable, Hashable {
    /// The number of the publication. It is not the number of the snapshot, because a snapshot to which the engine
    /// returns is published a second time.
    package var number: Int
    package var snapshot: Int
    /// The canary that serves beside the snapshot.
    package var canary: Int?
    /// The index of the canary's step.
    package var canaryStep: Int?
    /// The canary that no longer serves.
    var droppedCanary: Int?
    package var began: Duration
  }

  package struct Running: Sendable, Hashable {
    package enum Step: Sendable, Hashable {
      case preparing
      /// - Parameter isReturn: whether the engine returns to the snapshot on standby, which needs no steps.
      case publishing(until: Duration, isReturn: Bool)
    }

    package var request: Int
    package var kind: SwapQueue.Kind
    package var step: Step
    /// The time at which the machine began the request.
    package var since: Duration
  }

  /// The replaced snapshot, while the new one is on probation.
  package struct Standby: Sendable, Hashable {
    package var snapshot: Int
    /// When the probation ends.
    package var end: Duration
    package var interval: Duration
    /// When the next comparison is due; nil while the result of a comparison is awaited, and after a breach.
    package var nextSample: Duration?
  }

  package struct LoopState: Sendable, Hashable {
    /// The number of the publication on which new transactions of that loop run.
    package var publication: Int
    package var snapshot: Int
    package var canary: Int?
    package var isDead = false
  }

  package internal(set) var queue = SwapQueue()
  package internal(set) var running: Running?
  /// The snapshot on which new transactions run on all loops that answer.
  package internal(set) var served: Int
  /// The newest publication, which loops take.
  package internal(set) var newest: Publication
  package internal(set) var canary: Canary?
  package internal(set) var standby: Standby?
  package internal(set) var retired: [Retired] = []
  var overdue = 0
  package internal(set) var isClosed = false
  package internal(set) var loops: [LoopState]
  /// For each snapshot, the loops on which its transactions can be running.
  var users: [Int: Set<Int>]
  var terms: [Int: Terms]

  package init(loops: Int, snapshot: Int, _ terms: Terms) {
    served = snapshot
    newest = Publication(number: 1, snapshot: snapshot, began: .zero)
    self.loops = Array(repeating: LoopState(publication: 1, snapshot: snapshot), count: loops)
    users = [snapshot: Set(0..<loops)]
    self.terms = [snapshot: terms]
  }

  package mutating func handle(_ event: Event, at now: Duration) -> [Action] {
    switch event {
    case .requested(let id, let kind): return request(id, kind, now)
    case .cancelled(let id): return cancel(id)
    case .made(let id, let snapshot, let terms): return made(id, snapshot, terms, now)
    case .stopped(let id):
      if running?.request == id, running?.step == .preparing { running = nil }
      return pump(now)
    case .took(let loop): return took(loop, now)
    case .died(let loop): return died(loop, now)
    case .sampled(let snapshot, let breach, let isEnough, let step):
      // The canary can have gone on, or have been published, in the meantime.
      if let step, snapshot != canary?.snapshot || step != canary?.step { return [] }
      return snapshot == canary?.snapshot ? judged(breach, isEnough, now) : sampled(snapshot, breach, now)
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

  /// When to send ``Event/passed``; nil when the machine waits for nothing.
  package var deadline: Duration? {
    var deadlines = isClosed ? [] : retired.compactMap(\.deadline)
    if case .publishing(let until, _)? = running?.step { deadlines.append(until) }
    if !isClosed { deadlines += [canary?.nextSample, standby?.nextSample].compactMap(\.self) }
    return deadlines.min()
  }

  private mutating func passed(_ now: Duration) -> [Action] {
    var actions: [Action] = []
    if case .publishing(let until, _)? = running?.step, now >= until { actions += settle(now) }
    guard !isClosed else { return actions }
    return actions + sampleIfDue(at: now) + drainFurther(now)
  }
}

// The queue.
extension SwapMachine {
  /// The number of snapshots and builds that count against ``retiredLimit``.
  package var retiredCount: Int { retired.count + overdue }

  private mutating func request(_ id: Int, _ kind: SwapQueue.Kind, _ now: Duration) -> [Action] {
    guard !isClosed else { return [.answer(id, .shutdown)] }
    // The builds are refused before the request's turn, so that a reload that is being prepared does not publish them.
    if let canary, kind == .abort(canary.snapshot) {
      return [.refuseBuilds(of: canary.snapshot, besides: served, request: id)] + enqueue(id, kind, now)
    }
    return enqueue(id, kind, now)
  }

  private mutating func enqueue(_ id: Int, _ kind: SwapQueue.Kind, _ now: Duration) -> [Action] {
    let superseded = queue.add(SwapQueue.Entry(id: id, kind: kind))
    return superseded.map { .answer($0.id, .superseded) } + pump(now)
  }

  private mutating func cancel(_ id: Int) -> [Action] {
    if queue.remove(id) { return [.answer(id, .cancelled)] }
    guard running?.request == id, running?.step == .preparing else { return [] }
    return [.giveUp(id)]
  }

  /// Begins the next request if no request is under way.
  mutating func pump(_ now: Duration) -> [Action] {
    var actions: [Action] = []
    if canary != nil { actions += queue.keepNewestWaiting().map { .answer($0.id, .superseded) } }
    while running == nil, let entry = queue.next(besidesWaiting: canary != nil) {
      switch entry.kind {
      case .step(let snapshot), .promotion(let snapshot), .abort(let snapshot):
        guard snapshot == canary?.snapshot else {
          actions.append(.answer(entry.id, .superseded))
          continue
        }
        actions += decide(entry, snapshot, now)
      case .breach(let snapshot):
        guard let standby, snapshot == served else {
          actions.append(.answer(entry.id, .superseded))
          continue
        }
        actions.append(.refuseBuilds(of: served, besides: standby.snapshot, request: entry.id))
        actions += goBack(entry, now)
      case .rollback where canary != nil: actions += decide(entry, served, now)
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

  /// Returns to the snapshot on standby. The snapshot is no longer on standby afterwards. The end of a probation can
  /// therefore not end it.
  private mutating func goBack(_ entry: SwapQueue.Entry, _ now: Duration) -> [Action] {
    guard let snapshot = standby?.snapshot else { return [] }
    standby = nil
    running = Running(request: entry.id, kind: entry.kind, step: .preparing, since: now)
    return publish(snapshot, isReturn: true, now)
  }

  private mutating func close(_ now: Duration) -> [Action] {
    isClosed = true
    var actions: [Action] = queue.removeAll().map { .answer($0.id, .shutdown) }
    if let running {
      if running.step == .preparing { actions.append(.giveUp(running.request)) } else { actions += settle(now) }
    }
    return actions + (canary.map { [.leaveCanary($0.snapshot)] } ?? [])
  }
}
