import Glibc
import SluiceMessages
import SluicePipeline
import Synchronization

// One turn of the loop: it handles events and timers, runs the inbox and the loop's own work, and calls `finishTurn()`
// of its sources.
extension Loop {
  /// The maximum number of rounds in a turn before the loop checks descriptors again. Each round runs the work that the
  /// previous round has added.
  private static let roundsPerTurn = 8

  /// Runs until the loop is told to end. Returns false if the loop has lost its descriptors and cannot continue.
  func run() -> Bool {
    repeat {
      guard turn(waiting: milliseconds(prepareToSleep())) else { return false }
    } while !isStopping.load(ordering: .acquiring)
    end()
    return true
  }

  /// - Parameter timeout: how long to wait for the first event, in milliseconds; -1 means no limit.
  /// - Returns: false if other code in the process has closed the loop's descriptors; then nothing was done.
  func turn(waiting timeout: Int32) -> Bool {
    guard let ready = poller.wait(timeout: timeout) else { return false }
    turns.store(turns.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    isAsleep.store(false, ordering: .relaxed)
    turnBegan = now
    for index in 0..<ready { dispatch(index) }
    fireTimers()
    runWork()
    return true
  }

  /// Packs a source's index and its descriptor into a tag for the poller. Each event has the tag of its descriptor.
  package func tag(_ source: Int, _ descriptor: Int32) -> UInt64 {
    UInt64(source) << 32 | UInt64(UInt32(bitPattern: descriptor))
  }

  /// Adds a source for the rest of the loop's life and returns its index. [loop]
  package func add(_ source: any LoopSource) -> Int {
    sources.append(source)
    return sources.count - 1
  }

  private func dispatch(_ index: Int) {
    guard let event = poller.event(index) else { return }
    let source = Int(event.tag >> 32)
    // A plugin may have put another set in the place of the poller's, which gives other tags.
    guard source < sources.count else { return }
    sources[source].descriptorIsReady(Int32(truncatingIfNeeded: event.tag), event.events)
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
    var work = local.takeAll()
    for piece in work {
      switch piece {
      case .call(let call): call()
      case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
    // The work is released here and not inside the queue, because releasing work may post new work.
    work.removeAll(keepingCapacity: work.capacity <= LocalWork.keptCapacity)
    local.recycle(work)
  }

  /// How long the loop may wait for events.
  enum Sleep {
    case none, untilEvent
    case until(Instant)
  }

  /// Marks the loop as asleep, unless it has something to do. The memory order here and in ``LoopInbox/push(_:)`` makes
  /// sure that no wake-up is lost.
  func prepareToSleep() -> Sleep {
    if !local.isEmpty || sources.contains(where: { $0.hasWork }) { return .none }
    isAsleep.store(true, ordering: .sequentiallyConsistent)
    if !inbox.isEmpty || isStopping.load(ordering: .sequentiallyConsistent) { return .none }
    guard let deadline = timers.nextDeadline else { return .untilEvent }
    return .until(deadline)
  }

  private func milliseconds(_ sleep: Sleep) -> Int32 {
    switch sleep {
    case .none: return 0
    case .untilEvent: return -1
    case .until(let deadline):
      let wait = deadline.duration(since: now).nanoseconds
      return Int32(clamping: (wait + 999_999) / 1_000_000)
    }
  }

  /// Cancels transfers and runs the queued work; afterwards nothing runs on this loop.
  /// - Parameter deadline: the time limit. If work is still queued then, it is dropped, its tasks continue on the
  ///   global executor, and the result is false.
  @discardableResult
  func end(by deadline: Instant = .distantFuture) -> Bool {
    for source in sources { source.loopWillEnd() }
    sources = []
    var isInTime = true
    repeat {
      inbox.takeAll { local.append($0) }
      while isInTime, !local.isEmpty {
        runLocalWork()
        isInTime = now <= deadline
      }
      if !isInTime { drop(local.takeAll()) }
    } while !inbox.closeIfEmpty()
    timers.removeAll()
    return isInTime
  }

  /// Releases work without running it; tasks continue on the global executor.
  func drop(_ work: [LoopWork]) {
    for case .job(let job) in work { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }
}
