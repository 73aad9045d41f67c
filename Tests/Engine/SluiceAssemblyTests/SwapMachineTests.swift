import Testing

@testable import SluiceAssembly

/// The actions that the swap machine returns for each event.
@Suite struct SwapMachineTests {
  private static let terms = SwapMachine.Terms(publish: .seconds(5), probation: nil, drain: .seconds(30))
  private static let watched = SwapMachine.Terms(publish: .seconds(5), probation: .seconds(30), drain: .seconds(30))

  private func machine(loops: Int = 2) -> SwapMachine { SwapMachine(loops: loops, snapshot: 1, Self.terms) }

  private func settled(
    _ request: Int, _ snapshot: Int, replaced: Int, isOnProbation: Bool = false, late: [Int] = []
  ) -> SwapMachine.Action {
    .published(
      SwapMachine.Settlement(
        request: request, snapshot: snapshot, replaced: replaced, isOnProbation: isOnProbation, late: late))
  }

  /// Publishes snapshot `number` on every loop. The request has the same number.
  private func publish(_ number: Int, on machine: inout SwapMachine, at now: Duration, _ terms: SwapMachine.Terms) {
    _ = machine.handle(.requested(number, .swap(nil)), at: now)
    _ = machine.handle(.made(number, snapshot: number, terms), at: now)
    for loop in machine.loops.indices { _ = machine.handle(.took(loop: loop), at: now) }
  }

  /// Publishes snapshots 2 and 3 at 10 s and 20 s. Loop 0 takes neither of them in time.
  private func publishTwiceWithoutLoop0(on machine: inout SwapMachine) {
    for (request, snapshot) in [(1, 2), (2, 3)] {
      let now = Duration.seconds(request * 10)
      _ = machine.handle(.requested(request, .swap(nil)), at: now)
      _ = machine.handle(.made(request, snapshot: snapshot, Self.terms), at: now)
      _ = machine.handle(.took(loop: 1), at: now)
      _ = machine.handle(.passed, at: now + .seconds(5))
    }
  }

  // MARK: The queue

  @Test func `one swap runs at a time, and a newer swap supersedes a waiting swap that it includes`() {
    var machine = machine()
    #expect(machine.handle(.requested(1, .swap(nil)), at: .zero) == [.prepare(1)])
    #expect(machine.handle(.requested(2, .swap(["a"])), at: .zero) == [])
    #expect(machine.handle(.requested(3, .swap(nil)), at: .zero) == [.answer(2, .superseded)])
    #expect(machine.handle(.stopped(1), at: .zero) == [.prepare(3)])
  }

  @Test func `a swap can be cancelled only while it waits or is prepared`() {
    var machine = machine()
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.requested(2, .reload), at: .zero)
    #expect(machine.handle(.cancelled(2), at: .zero) == [.answer(2, .cancelled)])
    #expect(machine.handle(.cancelled(1), at: .zero) == [.giveUp(1)])
    _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero)
    #expect(machine.handle(.cancelled(1), at: .zero) == [])
    #expect(machine.handle(.cancelled(9), at: .zero) == [])
  }

  @Test func `if 64 snapshots have not ended, a swap is refused, but a rollback is not`() {
    var machine = machine(loops: 1)
    for number in 2...65 { publish(number, on: &machine, at: .zero, number == 65 ? Self.watched : Self.terms) }
    #expect(machine.retiredCount == 63)
    _ = machine.handle(.leftBehind, at: .zero)
    #expect(machine.handle(.requested(70, .swap(nil)), at: .zero) == [.answer(70, .tooManyRetired(64))])
    #expect(machine.handle(.requested(71, .reload), at: .zero) == [.answer(71, .tooManyRetired(64))])
    #expect(machine.handle(.requested(72, .rollback), at: .zero) == [.hand(loops: [0])])
    _ = machine.handle(.took(loop: 0), at: .zero)
    _ = machine.handle(.caughtUp, at: .zero)
    _ = machine.handle(.ended(snapshot: 1), at: .zero)
    #expect(machine.handle(.requested(73, .swap(nil)), at: .zero) == [.prepare(73)])
  }

  // MARK: Publication

  @Test func `a publication is done when the last loop has taken it`() {
    var machine = machine()
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    #expect(machine.handle(.made(1, snapshot: 2, Self.terms), at: .seconds(1)) == [.hand(loops: [0, 1])])
    #expect(machine.handle(.took(loop: 1), at: .seconds(1)) == [])
    #expect(machine.served == 1)
    #expect(
      machine.handle(.took(loop: 0), at: .seconds(1)) == [
        settled(1, 2, replaced: 1), .watchLeases(snapshot: 1, loops: [0, 1]),
      ])
    #expect(machine.served == 2 && machine.running == nil)
  }

  @Test func `after its time limit, a publication is done on the loops that answer, and it names the other loops`() {
    var machine = machine(loops: 4)
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .seconds(1))
    for loop in [0, 1, 3] { _ = machine.handle(.took(loop: loop), at: .seconds(1)) }
    #expect(machine.deadline == .seconds(6))
    #expect(machine.handle(.passed, at: .milliseconds(5999)) == [])
    #expect(
      machine.handle(.passed, at: .seconds(6)) == [
        settled(1, 2, replaced: 1, late: [2]), .watchLeases(snapshot: 1, loops: [0, 1, 2, 3]),
      ])
    #expect(machine.lateLoops == [2])
  }

  @Test func `even if the only loop is stuck, a publication is done after its time limit`() {
    var machine = machine(loops: 1)
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero)
    #expect(machine.handle(.passed, at: .seconds(5)).first == settled(1, 2, replaced: 1, late: [0]))
    #expect(machine.served == 2)
  }

  @Test func `a rollback that waits for a stuck swap takes at most its own time limit`() {
    var machine = machine()
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Self.watched), at: .zero)
    _ = machine.handle(.took(loop: 1), at: .zero)
    #expect(machine.handle(.requested(2, .rollback), at: .seconds(1)) == [])
    #expect(
      machine.handle(.passed, at: .seconds(5))
        == [settled(1, 2, replaced: 1, isOnProbation: true, late: [0]), .hand(loops: [0, 1])])
    _ = machine.handle(.took(loop: 1), at: .seconds(5))
    #expect(machine.handle(.passed, at: .seconds(10)).first == settled(2, 1, replaced: 2, late: [0]))
  }

  @Test func `a late loop takes the newest snapshot, and if the loop reports this twice, nothing changes`() {
    var machine = machine()
    publishTwiceWithoutLoop0(on: &machine)
    #expect(machine.newest.snapshot == 3 && machine.loops[0].snapshot == 1)
    _ = machine.handle(.took(loop: 0), at: .seconds(60))
    #expect(machine.loops[0].snapshot == 3 && machine.loops[0].publication == 3)
    #expect(machine.handle(.took(loop: 0), at: .seconds(60)) == [])
  }

  @Test func `a publication does not wait for a loop whose thread has ended`() {
    var machine = machine()
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero)
    _ = machine.handle(.took(loop: 1), at: .zero)
    #expect(
      machine.handle(.died(loop: 0), at: .seconds(1)) == [
        settled(1, 2, replaced: 1), .watchLeases(snapshot: 1, loops: [1]),
      ])
    #expect(machine.handle(.died(loop: 0), at: .seconds(2)) == [])
    _ = machine.handle(.requested(2, .swap(nil)), at: .seconds(3))
    #expect(machine.handle(.made(2, snapshot: 3, Self.terms), at: .seconds(3)) == [.hand(loops: [1])])
  }

  // MARK: Probation

  @Test func `a snapshot that passes its probation ends the previous one`() {
    var machine = machine()
    publish(2, on: &machine, at: .zero, Self.watched)
    #expect(machine.standby?.snapshot == 1 && machine.deadline == .milliseconds(100))
    #expect(machine.handle(.passed, at: .milliseconds(100)) == [.sample(snapshot: 2, against: 1)])
    // Only one sample is requested at a time.
    #expect(machine.handle(.passed, at: .milliseconds(300)) == [])
    #expect(machine.handle(.sampled(snapshot: 2, breach: nil), at: .milliseconds(300)) == [])
    #expect(machine.deadline == .milliseconds(400))
    _ = machine.handle(.passed, at: .seconds(30))
    #expect(
      machine.handle(.sampled(snapshot: 2, breach: nil), at: .seconds(30)) == [
        .stoodProbation(2), .watchLeases(snapshot: 1, loops: [0, 1]),
      ])
  }

  @Test func `a breach of the probation rule leads to one rollback, and its builds are refused`() {
    var machine = machine()
    publish(2, on: &machine, at: .zero, Self.watched)
    _ = machine.handle(.passed, at: .seconds(1))
    #expect(
      machine.handle(.sampled(snapshot: 2, breach: "worse"), at: .seconds(1))
        == [.request(.breach(snapshot: 2), because: "worse")])
    #expect(machine.deadline == nil)
    #expect(
      machine.handle(.requested(5, .breach(snapshot: 2)), at: .seconds(1)) == [
        .refuseBuilds(of: 2, besides: 1, request: 5), .hand(loops: [0, 1]),
      ])
    #expect(machine.standby == nil)
    _ = machine.handle(.took(loop: 0), at: .seconds(1))
    #expect(
      machine.handle(.took(loop: 1), at: .seconds(1)) == [
        settled(5, 1, replaced: 2), .watchLeases(snapshot: 2, loops: [0, 1]),
      ])
    #expect(machine.handle(.requested(6, .breach(snapshot: 2)), at: .seconds(2)) == [.answer(6, .superseded)])
  }

  @Test func `a swap during a probation ends the snapshot that was on standby`() {
    var machine = machine()
    publish(2, on: &machine, at: .zero, Self.watched)
    publish(3, on: &machine, at: .seconds(1), Self.watched)
    #expect(machine.standby?.snapshot == 2 && machine.retired.map(\.snapshot) == [1])
    // A sample of snapshot 2 that arrives now is out of date.
    #expect(machine.handle(.sampled(snapshot: 2, breach: "worse"), at: .seconds(2)) == [])
  }

  // MARK: The end of replaced snapshots

  @Test func `a replaced snapshot ends when no transaction uses it and its plugins have no open work`() {
    var machine = machine()
    publish(2, on: &machine, at: .zero, Self.terms)
    #expect(machine.handle(.emptied(snapshot: 1, loop: 0), at: .seconds(1)) == [])
    #expect(machine.handle(.emptied(snapshot: 1, loop: 1), at: .seconds(1)) == [.countCompletions(snapshot: 1)])
    #expect(machine.handle(.counted(snapshot: 1, isWorking: true), at: .seconds(1)) == [])
    #expect(machine.handle(.passed, at: .milliseconds(1010)) == [.countCompletions(snapshot: 1)])
    #expect(
      machine.handle(.counted(snapshot: 1, isWorking: false), at: .milliseconds(1010)) == [
        .end(snapshot: 1, because: "snapshot 2 took its place")
      ])
    #expect(machine.endingCount == 1)
    _ = machine.handle(.ended(snapshot: 1), at: .seconds(2))
    #expect(machine.retired.isEmpty && machine.endingCount == 0)
  }

  @Test func `the wait for open work ends with the drain`() {
    var machine = machine(loops: 1)
    publish(2, on: &machine, at: .zero, Self.terms)
    _ = machine.handle(.emptied(snapshot: 1, loop: 0), at: .zero)
    #expect(
      machine.handle(.counted(snapshot: 1, isWorking: true), at: .seconds(30)) == [
        .end(snapshot: 1, because: "snapshot 2 took its place")
      ])
  }

  @Test func `after the drain, suspended calls expire, and running calls make the snapshot leak`() {
    var machine = machine()
    publish(2, on: &machine, at: .zero, Self.terms)
    _ = machine.handle(.emptied(snapshot: 1, loop: 1), at: .seconds(1))
    #expect(machine.deadline == .seconds(30))
    #expect(machine.handle(.passed, at: .seconds(30)) == [.expire(snapshot: 1, loops: [0])])
    #expect(machine.handle(.passed, at: .seconds(35)) == [.leak(snapshot: 1)])
    // A leaked snapshot is never ended, even when its transactions are over.
    #expect(machine.handle(.emptied(snapshot: 1, loop: 0), at: .seconds(40)) == [])
    #expect(machine.retiredCount == 1)
  }

  @Test func `a snapshot that a stuck loop might still use is kept until the loop answers`() {
    var machine = machine()
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Self.terms), at: .zero)
    _ = machine.handle(.took(loop: 1), at: .zero)
    _ = machine.handle(.passed, at: .seconds(5))
    _ = machine.handle(.emptied(snapshot: 1, loop: 1), at: .seconds(5))
    #expect(machine.handle(.passed, at: .seconds(35)) == [.expire(snapshot: 1, loops: [0])])
    #expect(machine.handle(.passed, at: .seconds(40)) == [])
    #expect(machine.retired.first?.phase == .held && machine.deadline == nil)
    #expect(machine.handle(.took(loop: 0), at: .seconds(99)) == [.expire(snapshot: 1, loops: [0])])
    #expect(machine.handle(.emptied(snapshot: 1, loop: 0), at: .seconds(99)) == [.countCompletions(snapshot: 1)])
  }

  @Test func `a snapshot that a stuck loop never took does not wait for that loop to end`() {
    var machine = machine()
    publishTwiceWithoutLoop0(on: &machine)
    #expect(machine.handle(.emptied(snapshot: 2, loop: 1), at: .seconds(30)) == [.countCompletions(snapshot: 2)])
  }

  @Test func `transactions of a loop whose thread has ended do not keep a snapshot alive`() {
    var machine = machine()
    publish(2, on: &machine, at: .zero, Self.terms)
    _ = machine.handle(.emptied(snapshot: 1, loop: 1), at: .seconds(1))
    #expect(machine.handle(.died(loop: 0), at: .seconds(2)) == [.countCompletions(snapshot: 1)])
  }

  // MARK: The end of the engine

  @Test func `the end of the engine answers waiting swaps, gives up the swap in preparation, and begins no more swaps`()
  {
    var machine = machine()
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.requested(2, .reload), at: .zero)
    #expect(machine.handle(.closed, at: .zero) == [.answer(2, .shutdown), .giveUp(1)])
    #expect(machine.handle(.requested(3, .rollback), at: .zero) == [.answer(3, .shutdown)])
    #expect(machine.handle(.stopped(1), at: .zero) == [])
    #expect(machine.running == nil)
  }

  @Test func `at the end of the engine, a running publication counts as done, and nothing is drained`() {
    var machine = machine()
    _ = machine.handle(.requested(1, .swap(nil)), at: .zero)
    _ = machine.handle(.made(1, snapshot: 2, Self.watched), at: .zero)
    _ = machine.handle(.took(loop: 1), at: .zero)
    #expect(machine.handle(.closed, at: .zero) == [settled(1, 2, replaced: 1, late: [0])])
    #expect(machine.deadline == nil && machine.endingCount == 0)
    #expect(machine.handle(.took(loop: 0), at: .zero) == [])
  }
}
