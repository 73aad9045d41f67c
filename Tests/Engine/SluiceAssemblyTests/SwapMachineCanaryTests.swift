import Testing

@testable import SluiceAssembly

/// The actions that the swap machine returns while a canary runs.
@Suite struct SwapMachineCanaryTests {
  private typealias Machine = SwapMachine

  private static let terms = Machine.Terms(
    canary: Machine.CanaryTerms(steps: 3, hold: .seconds(30)), probation: .seconds(30))

  private static func settled(
    _ request: Int, _ snapshot: Int, replaced: Int = 1, canary: Int? = nil, step: Int = 0, dropped: Int? = nil,
    isOnProbation: Bool = false, late: [Int] = []
  ) -> Machine.Action {
    .published(
      Machine.Settlement(
        request: request, snapshot: snapshot, replaced: replaced, canary: canary,
        canaryStep: canary == nil ? nil : step, droppedCanary: dropped, isOnProbation: isOnProbation,
        late: late))
  }

  /// Lets every loop take the newest publication. Returns the actions.
  @discardableResult
  private static func take(_ machine: inout Machine, at now: Duration) -> [Machine.Action] {
    machine.loops.indices.flatMap { machine.handle(.took(loop: $0), at: now) }
  }

  /// A machine in which snapshot 2 is in the first step of its canary since zero, beside snapshot 1.
  private static func running(_ terms: Machine.Terms = terms) -> Machine {
    var machine = Machine(loops: 2, snapshot: 1, Machine.Terms())
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, terms), at: .zero)
    take(&machine, at: .zero)
    return machine
  }

  /// Compares the canary at the end of a step.
  private static func judge(_ machine: inout Machine, at now: Duration, isEnough: Bool = true) -> [Machine.Action] {
    guard machine.handle(.passed, at: now) == [.sample(snapshot: 2, against: 1)] else { return [] }
    return machine.handle(.sampled(snapshot: 2, breach: nil, isEnough: isEnough), at: now)
  }

  @Test func `a canary serves beside the served snapshot`() {
    var machine = Machine(loops: 2, snapshot: 1, Machine.Terms())
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    #expect(machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero) == [.hand(loops: [0, 1])])
    #expect(machine.handle(.took(loop: 0), at: .zero) == [])
    #expect(machine.handle(.took(loop: 1), at: .seconds(1)) == [Self.settled(1, 1, canary: 2)])
    #expect(machine.served == 1 && machine.canary?.snapshot == 2 && machine.running == nil)
    #expect(machine.loops.allSatisfy { $0.snapshot == 1 && $0.canary == 2 })
    #expect(machine.deadline == .milliseconds(1100))
  }

  @Test func `each step that is passed leads to the next one, and the last one to the publication`() {
    var machine = Self.running()
    for step in 1...2 {
      let now = Duration.seconds(step * 30)
      #expect(Self.judge(&machine, at: now) == [.request(.step(2), because: nil)])
      #expect(machine.deadline == nil)
      #expect(machine.handle(.requested(step * 10, .step(2)), at: now) == [.hand(loops: [0, 1])])
      #expect(Self.take(&machine, at: now) == [Self.settled(step * 10, 1, canary: 2, step: step)])
      #expect(machine.canary?.step == step)
    }
    #expect(Self.judge(&machine, at: .seconds(90)) == [.request(.promotion(2), because: nil)])
    #expect(machine.handle(.requested(30, .promotion(2)), at: .seconds(90)) == [.hand(loops: [0, 1])])
    #expect(Self.take(&machine, at: .seconds(90)) == [Self.settled(30, 2, isOnProbation: true)])
    #expect(machine.served == 2 && machine.canary == nil && machine.standby?.snapshot == 1)
    #expect(machine.retired.isEmpty)
  }

  @Test func `without probation, the replaced snapshot drains after the promotion`() {
    var machine = Self.running(Machine.Terms(canary: Machine.CanaryTerms(steps: 1, hold: .zero)))
    _ = machine.handle(.requested(2, .promotion(2)), at: .zero)
    #expect(
      Self.take(&machine, at: .zero) == [Self.settled(2, 2), .watchLeases(snapshot: 1, loops: [0, 1])])
  }

  @Test func `a step is held until its time has passed and the canary has had enough transactions`() {
    var machine = Self.running()
    #expect(Self.judge(&machine, at: .seconds(29)) == [])
    #expect(machine.deadline == .milliseconds(29_100))
    #expect(Self.judge(&machine, at: .seconds(3000), isEnough: false) == [])
    #expect(machine.deadline == .milliseconds(3_000_100))
    #expect(Self.judge(&machine, at: .seconds(3001)) == [.request(.step(2), because: nil)])
  }

  @Test func `a shadow is a step with a time of its own, and with fewer comparisons`() {
    var machine = Self.running(
      Machine.Terms(canary: Machine.CanaryTerms(steps: 2, hold: .seconds(30), shadow: .seconds(600))))
    #expect(machine.canary?.isShadow == true && machine.deadline == .seconds(10))
    #expect(Self.judge(&machine, at: .seconds(599)) == [])
    #expect(Self.judge(&machine, at: .seconds(609)) == [.request(.step(2), because: nil)])
    _ = machine.handle(.requested(2, .step(2)), at: .seconds(609))
    #expect(Self.take(&machine, at: .seconds(609)) == [Self.settled(2, 1, canary: 2, step: 1)])
    #expect(machine.canary?.isShadow == false && machine.deadline == .seconds(609) + .milliseconds(100))
    #expect(Self.judge(&machine, at: .seconds(639)) == [.request(.promotion(2), because: nil)])
  }

  /// An operator can promote the canary while its samples are replayed.
  @Test func `a late verdict about a shadow does nothing`() {
    var machine = Self.running(
      Machine.Terms(
        canary: Machine.CanaryTerms(steps: 2, hold: .seconds(30), shadow: .seconds(600)), probation: .seconds(30)))
    let verdict = Machine.Event.sampled(snapshot: 2, breach: "different", step: 0)
    _ = machine.handle(.requested(2, .step(2)), at: .zero)
    Self.take(&machine, at: .zero)
    #expect(machine.handle(verdict, at: .zero) == [])
    _ = machine.handle(.requested(3, .promotion(2)), at: .zero)
    Self.take(&machine, at: .zero)
    #expect(machine.served == 2 && machine.standby != nil && machine.handle(verdict, at: .zero) == [])
  }

  @Test func `a shadow without steps leads to the publication`() {
    var machine = Self.running(
      Machine.Terms(canary: Machine.CanaryTerms(steps: 1, hold: .seconds(30), shadow: .milliseconds(500))))
    #expect(machine.deadline == .milliseconds(250))
    #expect(Self.judge(&machine, at: .milliseconds(500)) == [.request(.promotion(2), because: nil)])
  }

  @Test func `a breach ends the canary, and refuses its builds`() {
    var machine = Self.running()
    _ = machine.handle(.passed, at: .seconds(1))
    #expect(
      machine.handle(.sampled(snapshot: 2, breach: "worse"), at: .seconds(1))
        == [.request(.abort(2), because: "worse")])
    #expect(machine.deadline == nil)
    #expect(
      machine.handle(.requested(2, .abort(2)), at: .seconds(1))
        == [.refuseBuilds(of: 2, besides: 1, request: 2), .hand(loops: [0, 1])])
    #expect(
      Self.take(&machine, at: .seconds(1))
        == [Self.settled(2, 1, dropped: 2), .watchLeases(snapshot: 2, loops: [0, 1])])
    #expect(machine.served == 1 && machine.canary == nil && machine.standby == nil)
    #expect(machine.retired.map(\.snapshot) == [2])
  }

  @Test func `swaps wait for the end of a canary, and only the newest of them is kept`() {
    var machine = Self.running()
    #expect(machine.handle(.requested(2, .swap(["a"])), at: .zero) == [])
    #expect(machine.handle(.requested(3, .swap(["b"])), at: .zero) == [.answer(2, .superseded)])
    _ = machine.handle(.requested(4, .abort(2)), at: .zero)
    #expect(Self.take(&machine, at: .zero).contains(.prepare(3)))
  }

  @Test func `swaps that were waiting when a canary began are reduced to the newest`() {
    var machine = Machine(loops: 1, snapshot: 1, Machine.Terms())
    for (id, name) in [(1, "a"), (2, "b"), (3, "c")] { _ = machine.handle(.requested(id, .swap([name])), at: .zero) }
    _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero)
    #expect(machine.handle(.took(loop: 0), at: .zero) == [Self.settled(1, 1, canary: 2), .answer(2, .superseded)])
    #expect(machine.queue.entries.map(\.id) == [3])
  }

  @Test func `a reload publishes at once and ends the canary`() {
    var machine = Self.running()
    #expect(machine.handle(.requested(2, .reload), at: .zero) == [.prepare(2)])
    // The canary goes on while the reload is prepared.
    #expect(machine.canary?.snapshot == 2)
    _ = machine.handle(.made(2, snapshot: 3, Machine.Terms()), at: .zero)
    #expect(
      Self.take(&machine, at: .zero) == [
        Self.settled(2, 3, dropped: 2), .watchLeases(snapshot: 2, loops: [0, 1]),
        .watchLeases(snapshot: 1, loops: [0, 1]),
      ])
    #expect(machine.served == 3 && machine.canary == nil)
  }

  @Test func `a reload that is refused leaves the canary alone`() {
    var machine = Self.running()
    _ = machine.handle(.requested(2, .reload), at: .zero)
    _ = machine.handle(.stopped(2), at: .zero)
    #expect(machine.canary?.snapshot == 2 && machine.deadline == .milliseconds(100))
  }

  @Test func `a rollback during a canary returns to the served snapshot, and refuses nothing`() {
    var machine = Self.running()
    #expect(machine.handle(.requested(2, .rollback), at: .zero) == [.hand(loops: [0, 1])])
    #expect(
      Self.take(&machine, at: .zero)
        == [Self.settled(2, 1, dropped: 2), .watchLeases(snapshot: 2, loops: [0, 1])])
  }

  @Test func `a decision about a canary that has ended does nothing`() {
    var machine = Self.running()
    _ = machine.handle(.requested(2, .abort(2)), at: .zero)
    Self.take(&machine, at: .zero)
    for kind in [SwapQueue.Kind.step(2), .promotion(2), .abort(2)] {
      #expect(machine.handle(.requested(3, kind), at: .zero) == [.answer(3, .superseded)])
    }
    #expect(machine.handle(.sampled(snapshot: 2, breach: "late"), at: .zero) == [])
    #expect(machine.served == 1)
  }

  @Test func `the next step after the last one is the publication`() {
    var machine = Self.running(Machine.Terms(canary: Machine.CanaryTerms(steps: 1, hold: .zero)))
    _ = machine.handle(.requested(2, .step(2)), at: .zero)
    Self.take(&machine, at: .zero)
    #expect(machine.served == 2 && machine.canary == nil)
  }

  @Test func `a canary begins although a snapshot is on probation, which ends`() {
    var machine = Machine(loops: 1, snapshot: 1, Machine.Terms())
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Machine.Terms(probation: .seconds(30))), at: .zero)
    _ = machine.handle(.took(loop: 0), at: .zero)
    #expect(machine.standby?.snapshot == 1)
    _ = machine.handle(.requested(2, .swap(nil)), at: .zero)
    _ = machine.handle(.made(2, snapshot: 3, Self.terms), at: .zero)
    #expect(
      machine.handle(.took(loop: 0), at: .zero)
        == [Self.settled(2, 2, replaced: 2, canary: 3), .watchLeases(snapshot: 1, loops: [0])])
    #expect(machine.standby == nil)
  }

  @Test func `a loop that has not taken the end of a canary keeps it from ending`() throws {
    var machine = Self.running()
    _ = machine.handle(.requested(2, .abort(2)), at: .zero)
    _ = machine.handle(.took(loop: 1), at: .zero)
    #expect(
      machine.handle(.passed, at: .seconds(5))
        == [Self.settled(2, 1, dropped: 2, late: [0]), .watchLeases(snapshot: 2, loops: [0, 1])])
    #expect(machine.holders(of: try #require(machine.retired.first)) == [0])
    _ = machine.handle(.took(loop: 0), at: .seconds(6))
    #expect(machine.holders(of: try #require(machine.retired.first)) == [])
  }

  @Test func `an end of a canary that has to wait refuses its builds at once`() {
    var machine = Self.running()
    _ = machine.handle(.requested(2, .reload), at: .zero)
    #expect(
      machine.handle(.requested(3, .abort(2)), at: .zero) == [.refuseBuilds(of: 2, besides: 1, request: 3)])
    #expect(machine.handle(.stopped(2), at: .zero) == [.hand(loops: [0, 1])])
  }

  @Test func `a swap that ends the canary does not wait for it`() {
    var machine = Self.running()
    #expect(machine.handle(.requested(2, .swap(["a"], endsCanary: true)), at: .zero) == [.prepare(2)])
    _ = machine.handle(.made(2, snapshot: 3, Machine.Terms()), at: .zero)
    #expect(Self.take(&machine, at: .zero).first == Self.settled(2, 3, dropped: 2))
    #expect(machine.served == 3 && machine.canary == nil)
  }

  @Test func `a canary that is made after the end of the engine is not published`() {
    var machine = Machine(loops: 2, snapshot: 1, Machine.Terms())
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.closed, at: .zero)
    #expect(machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero) == [.answer(1, .shutdown), .leaveCanary(2)])
    #expect(machine.served == 1 && machine.running == nil && machine.canary == nil)
  }

  @Test func `if the engine ends while a step is published, the canary is left undecided after the step`() {
    var machine = Machine(loops: 1, snapshot: 1, Machine.Terms())
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero)
    #expect(
      machine.handle(.closed, at: .zero) == [Self.settled(1, 1, canary: 2, late: [0]), .leaveCanary(2)])
  }

  @Test func `if the engine ends, the canary is left undecided`() {
    var machine = Self.running()
    #expect(machine.handle(.closed, at: .zero) == [.leaveCanary(2)])
    #expect(machine.deadline == nil)
    #expect(machine.handle(.sampled(snapshot: 2, breach: "late"), at: .zero) == [])
    #expect(machine.handle(.requested(3, .promotion(2)), at: .zero) == [.answer(3, .shutdown)])
  }

  /// Sends every event in every state of a canary, and then lets everything end.
  @Test func `no event in any state of a canary loses a snapshot or leaves the machine waiting`() {
    let states: [(String, (inout Machine) -> Void)] = [
      (
        "preparing",
        { machine in
          machine = Machine(loops: 2, snapshot: 1, Machine.Terms());
          _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
        }
      ),
      (
        "first step taken by one loop",
        { machine in
          _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
          _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero)
          _ = machine.handle(.took(loop: 0), at: .zero)
        }
      ),
      ("holding", { $0 = Self.running() }),
      (
        "being compared",
        {
          $0 = Self.running(); _ = $0.handle(.passed, at: .seconds(1))
        }
      ),
      (
        "stepping",
        {
          $0 = Self.running(); _ = $0.handle(.requested(2, .step(2)), at: .seconds(1))
        }
      ),
      (
        "promoting",
        {
          $0 = Self.running(); _ = $0.handle(.requested(2, .promotion(2)), at: .seconds(1))
        }
      ),
      (
        "aborting",
        {
          $0 = Self.running(); _ = $0.handle(.requested(2, .abort(2)), at: .seconds(1))
        }
      ),
      (
        "reloading",
        {
          $0 = Self.running(); _ = $0.handle(.requested(2, .reload), at: .seconds(1))
        }
      ),
    ]
    let events: [Machine.Event] = [
      .requested(9, .swap(nil)), .requested(9, .reload), .requested(9, .rollback), .requested(9, .breach(snapshot: 1)),
      .requested(9, .step(2)), .requested(9, .promotion(2)), .requested(9, .abort(2)),
      .requested(9, .abort(2)), .cancelled(1), .cancelled(2), .made(1, snapshot: 2, Self.terms),
      .made(2, snapshot: 3, Machine.Terms()), .stopped(1), .stopped(2), .took(loop: 0), .took(loop: 1),
      .died(loop: 0), .died(loop: 1), .sampled(snapshot: 2, breach: nil), .sampled(snapshot: 2, breach: "worse"),
      .sampled(snapshot: 2, breach: nil, isEnough: true), .sampled(snapshot: 1, breach: "worse"),
      .emptied(snapshot: 2, loop: 0), .counted(snapshot: 2, isWorking: false), .ended(snapshot: 7), .leftBehind,
      .caughtUp, .passed, .closed,
    ]
    for (name, enter) in states {
      for event in events {
        var machine = Machine(loops: 2, snapshot: 1, Machine.Terms())
        enter(&machine)
        let actions = machine.handle(event, at: .seconds(2))
        let ends = Self.letEnd(&machine, actions, at: .seconds(3))
        #expect(ends, "\(name), \(event)")
      }
    }
  }

  /// Answers actions as a coordinator would until there are no more. Returns whether nothing runs then, and whether
  /// every snapshot except the served one and those that are kept has ended.
  private static func letEnd(_ machine: inout Machine, _ first: [Machine.Action], at start: Duration) -> Bool {
    var now = start
    var actions = first
    var next = 10
    for _ in 0..<200 {
      if actions.isEmpty {
        if !machine.queue.entries.contains(where: \.kind.isAbort), let canary = machine.canary, canary.holdEnd != nil,
          canary.nextSample == nil
        {
          // A comparison was requested before.
          actions = machine.handle(.sampled(snapshot: canary.snapshot, breach: "worse"), at: now)
          if !actions.isEmpty { continue }
        }
        if let running = machine.running, running.step == .preparing {
          actions = machine.handle(.stopped(running.request), at: now)
          continue
        }
        guard let deadline = machine.deadline else { break }
        now = max(now, deadline)
        actions = machine.handle(.passed, at: now)
        continue
      }
      let action = actions.removeFirst()
      switch action {
      case .prepare(let id), .giveUp(let id): actions += machine.handle(.stopped(id), at: now)
      case .hand(let loops): actions += loops.flatMap { machine.handle(.took(loop: $0), at: now) }
      case .sample(let snapshot, _): actions += machine.handle(.sampled(snapshot: snapshot, breach: "worse"), at: now)
      case .request(let kind, _):
        next += 1
        actions += machine.handle(.requested(next, kind), at: now)
      case .watchLeases(let snapshot, let loops), .expire(let snapshot, let loops):
        actions += loops.flatMap { machine.handle(.emptied(snapshot: snapshot, loop: $0), at: now) }
      case .countCompletions(let snapshot):
        actions += machine.handle(.counted(snapshot: snapshot, isWorking: false), at: now)
      case .end(let snapshot, _): actions += machine.handle(.ended(snapshot: snapshot), at: now)
      case .answer, .refuseBuilds, .published, .stoodProbation, .leak, .leaveCanary: break
      }
    }
    if machine.isClosed { return true }
    let isQuiet = machine.running == nil && machine.canary == nil && machine.standby == nil
    return isQuiet && machine.queue.entries.isEmpty && machine.retired.isEmpty && machine.newest.canary == nil
  }
}
