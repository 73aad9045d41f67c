import Glibc
import SluicePipeline
import Synchronization

// One turn: events, timers, the inbox, the loop's own work, and what its sources do at the end.
extension Loop {
  /// How often work that makes work is followed within a turn before descriptors are looked at again.
  private static let roundsPerTurn = 8

  func run() {
    repeat {
      let ready = poller.wait(timeout: prepareToSleep())
      turns.store(turns.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      isAsleep.store(false, ordering: .relaxed)
      turnBegan = now
      for index in 0..<ready { dispatch(index) }
      fireTimers()
      runWork()
    } while !hasEnded()
  }

  /// Work of the source comes back under its index, with the descriptor.
  func tag(_ source: Int, _ descriptor: Int32) -> UInt64 {
    UInt64(source) << 32 | UInt64(UInt32(bitPattern: descriptor))
  }

  /// Adds a source for the rest of the loop's life and returns its index. [loop]
  func add(_ source: any LoopSource) -> Int {
    sources.append(source)
    return sources.count - 1
  }

  private func dispatch(_ index: Int) {
    guard let event = poller.event(index) else { return }
    let source = sources[Int(event.tag >> 32)]
    source.descriptorIsReady(Int32(truncatingIfNeeded: event.tag), event.events)
  }

  private func fireTimers() {
    while let timer = timers.popDue(at: turnBegan) {
      let target = timer.target
      timer.target = nil
      target?.timerDidFire(timer)
    }
  }

  private func runWork() {
    var rounds = 0
    repeat {
      inbox.takeAll { local.append($0) }
      runLocalWork()
      for source in sources { source.finishTurn() }
      rounds += 1
    } while !local.isEmpty && rounds < Self.roundsPerTurn
  }

  private func runLocalWork() {
    guard !local.isEmpty else { return }
    let work = local.takeAll()
    for piece in work {
      switch piece {
      case .call(let call): call()
      case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
    local.recycle(work)
  }

  /// Says that the loop sleeps, unless there is something to do; the order against ``LoopInbox/push(_:)`` loses no
  /// wake-up.
  private func prepareToSleep() -> Int32 {
    if !local.isEmpty || sources.contains(where: { $0.hasWork }) { return 0 }
    isAsleep.store(true, ordering: .sequentiallyConsistent)
    if !inbox.isEmpty || isStopping.load(ordering: .sequentiallyConsistent) { return 0 }
    guard let deadline = timers.nextDeadline else { return -1 }
    let wait = deadline.duration(since: now).nanoseconds
    return Int32(clamping: (wait + 999_999) / 1_000_000)
  }

  private func hasEnded() -> Bool {
    guard isStopping.load(ordering: .acquiring) else { return false }
    for source in sources { source.loopWillEnd() }
    sources = []
    repeat {
      inbox.takeAll { local.append($0) }
      while !local.isEmpty { runLocalWork() }
    } while !inbox.closeIfEmpty()
    timers.removeAll()
    return true
  }
}
