import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceLoop
import SluicePipeline
import SluiceSupport
import SluiceTraceContext
import Synchronization

/// Keeps a number of transactions in flight. The reader fills a queue in batches. Each loop takes as many jobs from the
/// queue as it has free places, and hands over their results once per turn. A request therefore needs no thread switch,
/// and no lock that several threads compete for.
///
///     InputLines ─► feed ─► RunQueue ─► turn ─► Engine.submit ─► finish ─► RunLane ─► ByteOutput
///                                        ▲                                    │
///                                        └──────── places for next jobs ◄─────┘
final class RunSession: Sendable {
  struct State {
    var queue: RunQueue
    var inFlight = 0
    var isInputEnded = false
    var isStopping = false
    var isReaderWaiting = false
    var outputFailure: ByteOutput.Failure?
    var sideFailure: ByteOutput.Failure?
    var counts = RunCounts()
    /// The number of jobs in flight that each lane has taken, by the index of its loop.
    var taken: [Int]
    /// The indexes of loops that are stuck. If there are any, lanes no longer keep places free for each other, and the
    /// engine chooses the loop for new requests.
    var stuck: Set<Int> = []
  }

  /// The numbers and jobs with which ended results change the counts of the session.
  private struct Ended {
    var count = 0
    var failed = 0
    var taken = 0
    var jobs: [RunJob] = []
  }

  let settings: RunSettings
  private let engine: Engine
  let input: InputLines
  let output: ByteOutput
  private let sides: SideOutputs
  /// Nil if the run is not resumed.
  let resumed: ResumedInput?
  private let mask: Locked<SecretMask>
  let parser: RunParser
  /// The lanes, by the index of their loop.
  private let lanes: [RunLane]
  let hasStopped = Atomic<Bool>(false)
  private let parent = EngineStart.extraction.parent
  let skipped = Atomic<Int>(0)
  let state: Monitor<State>

  /// - Parameter resumed: knows which lines have a result of an earlier run; nil if the run is not resumed.
  init(
    _ settings: RunSettings, _ engine: Engine, _ input: InputLines, _ output: ByteOutput, _ sides: SideOutputs,
    resumed: ResumedInput?
  ) {
    lanes = engine.loops.map { RunLane($0) }
    state = Monitor(
      State(
        queue: RunQueue(settings.hostLimits), counts: resumed?.counts ?? RunCounts(),
        taken: Array(repeating: 0, count: lanes.count)))
    self.resumed = resumed
    self.settings = settings
    self.engine = engine
    self.input = input
    self.output = output
    self.sides = sides
    mask = Locked(SecretMask(settings.configuration.redaction))
    parser = RunParser(
      transport: settings.configuration.transport, defaults: settings.defaults, refusals: settings.archived?.refusals
    ) { [engine] in engine.baseURL }
    output.listen(
      ByteOutput.Listener(
        onRoom: { [weak self] in self?.goOn() },
        onFailure: { [weak self] failure in
          self?.state.withLock { $0.outputFailure = failure }
          self?.stop()
        }))
    sides.listen(
      ByteOutput.Listener(
        onRoom: { [weak self] in self?.goOn() },
        onFailure: { [weak self] failure in
          self?.state.withLock { $0.sideFailure = failure }
          self?.stop()
        }))
    engine.observeStuckLoops(self)
  }

  /// Continues when an output has room again.
  private func goOn() {
    // The output makes room without holding this lock. A reader that has seen no room keeps this lock until it begins
    // to wait. Because this function takes the lock, it wakes such a reader in every case.
    state.update { _ in }
    beginJobs()
  }

  /// Whether all outputs have room.
  var hasRoom: Bool { output.hasRoom && sides.hasRoom }

  var counts: RunCounts { state.withLock { $0.counts } }
  /// The bytes of lines that were skipped because they have a result of an earlier run.
  var skippedBytes: Int { skipped.load(ordering: .relaxed) }
  var inFlight: Int { state.withLock { $0.inFlight } }
  var outputFailure: ByteOutput.Failure? { state.withLock { $0.outputFailure } }
  var sideFailure: ByteOutput.Failure? { state.withLock { $0.sideFailure } }

  /// From now on, hides the secrets that the reloaded configuration names.
  func adopt(_ redaction: RedactionSettings) { mask.withLock { $0 = SecretMask(redaction) } }

  /// Stops the session: no further request begins. Can be called on any thread.
  func stop() {
    hasStopped.store(true, ordering: .relaxed)
    state.update { $0.isStopping = true }
    input.interrupt()
  }

  /// Waits until `body` returns a value. Must be called on the thread that reads or on the thread that ends the run.
  func waitAsReader<Result>(_ body: (inout State) -> Result?) -> Result {
    state.wait { state in
      let result = body(&state)
      state.isReaderWaiting = result == nil
      return result
    }
  }

  // MARK: Turns of the loops

  /// Makes the loops begin jobs in free places. Must not be called on a loop.
  func beginJobs() {
    while let job = takeForEngine() { submit(job) }
    for lane in lanes { post(lane) }
  }

  /// Takes a job from the queue if a loop is stuck. The engine then chooses a loop that is not stuck.
  private func takeForEngine() -> RunJob? {
    let (job, wakes): (RunJob?, Bool) = state.withLock { state in
      guard !state.stuck.isEmpty, canBegin(state), let job = state.queue.popFirst() else { return (nil, false) }
      state.inFlight += 1
      return (job, state.isReaderWaiting)
    }
    if wakes { state.broadcast() }
    return job
  }

  /// Whether a lane may begin a job. `hasRoom` must be read under the lock. Otherwise the session could miss room that
  /// becomes free at this moment.
  private func canBegin(_ state: borrowing State) -> Bool {
    state.inFlight < settings.concurrency && !state.isStopping && !settings.hasStarter && hasRoom
  }

  private func post(_ lane: RunLane) { lane.post { [self] in turn(of: lane) } }

  /// Hands over the results of the lane, and begins jobs in the places that became free. Must be called on the lane's
  /// loop.
  private func turn(of lane: RunLane) {
    lane.turnBegins()
    let ended = handOver(lane)
    let (jobs, wakes) = state.withLock { state in
      count(ended, of: lane, &state)
      let jobs = takeJobs(for: lane, &state)
      let isUseful = settings.hasStarter || jobs.isEmpty || state.queue.isHalfEmpty
      defer { if isUseful { state.isReaderWaiting = false } }
      return (jobs, isUseful && (state.isReaderWaiting || settings.hasStarter))
    }
    if wakes { state.broadcast() }
    guard !jobs.isEmpty else { return }
    // The jobs are stored and begun one at a time. If a stage blocks the loop, another thread can therefore begin the
    // remaining jobs.
    lane.keep(jobs)
    while let job = lane.nextJob() { submit(job, by: lane) }
  }

  private func takeJobs(for lane: RunLane, _ state: inout State) -> [RunJob] {
    guard !state.queue.isEmpty, canBegin(state) else { return [] }
    let free = settings.concurrency - state.inFlight
    let share = (settings.concurrency + lanes.count - 1) / lanes.count
    let places = !state.stuck.isEmpty ? free : min(free, share - state.taken[lane.loop.index])
    guard places > 0 else { return [] }
    var jobs: [RunJob] = []
    jobs.reserveCapacity(places)
    while jobs.count < places, let job = state.queue.popFirst() { jobs.append(job) }
    state.inFlight += jobs.count
    state.taken[lane.loop.index] += jobs.count
    return jobs
  }

  /// Writes the results that the lane has collected. Can be called on any thread.
  private func handOver(_ lane: RunLane) -> Ended {
    lane.take { results in
      guard results.count > 0 else { return Ended() }
      results.text.withBytes { _ = output.append($0) }
      return Ended(count: results.count, failed: results.failed, taken: results.taken, jobs: results.jobs)
    }
  }

  private func count(_ ended: Ended, of lane: RunLane?, _ state: inout State) {
    state.counts.completed += ended.count
    state.counts.failed += ended.failed
    state.inFlight -= ended.count
    if let lane { state.taken[lane.loop.index] -= ended.taken }
    for job in ended.jobs { state.queue.end(job) }
  }

  // MARK: Completions

  /// - Parameter lane: the lane that took the job from the queue; nil if another thread took it.
  func submit(_ job: RunJob, by lane: RunLane? = nil) {
    engine.submit(sides.asked(job.request), parent: parent) { [self] result in
      sides.note(result)
      finish(job, result, by: lane)
    }
  }

  /// Called on the loop of the transaction, or on another thread if that loop is stalled or the request was refused.
  private func finish(_ job: RunJob, _ result: TransactionResult, by taker: RunLane?) {
    guard let index = Loop.currentIndex else { return finishOutside(job, result, by: taker) }
    let lane = lanes[index]
    let waiting = lane.add { results in
      add(job, result, to: &results)
      if taker != nil { results.taken += 1 }
    }
    if waiting >= RunLane.fullBytes {
      let ended = handOver(lane)
      state.update { count(ended, of: lane, &$0) }
    }
    post(lane)
  }

  private func finishOutside(_ job: RunJob, _ result: TransactionResult, by taker: RunLane?) {
    var results = RunLane.Results()
    add(job, result, to: &results)
    results.text.withBytes { _ = output.append($0) }
    let ended = Ended(count: 1, failed: results.failed, taken: taker == nil ? 0 : 1, jobs: results.jobs)
    state.update { count(ended, of: taker, &$0) }
  }

  private func add(_ job: RunJob, _ result: TransactionResult, to results: inout RunLane.Results) {
    results.count += 1
    if write(result, job, to: &results.text) { results.failed += 1 }
    if !settings.hostLimits.isNone { results.jobs.append(job) }
  }

  /// Writes the result line. A result that cannot be written as a line is replaced by an error.
  /// - Returns: whether the result is an error.
  private func write(_ result: TransactionResult, _ job: RunJob, to text: inout JSONText) -> Bool {
    let start = text.count
    do {
      let mask: SecretMask? = settings.hasMetadata ? mask.withLock { $0 } : nil
      try ResultText.append(
        result, id: job.id, line: job.line, metadata: mask, parsesJSON: settings.hasJSONBodies, to: &text)
      return result.error != nil
    } catch {
      text.truncate(to: start)
      var failed = result
      failed.response = nil
      failed.error = TransactionError(code: "invalid_result", message: "the result cannot be written: \(error)")
      do { try ResultText.append(failed, id: job.id, line: job.line, to: &text) } catch { text.truncate(to: start) }
      return true
    }
  }

  // MARK: The end

  /// Waits until nothing is in flight. If the session was stopped, waits at most `drain`, and stops waiting if the
  /// output fails.
  func waitForResults(upTo drain: Duration) {
    let isStopped = waitAsReader { state in state.isStopping ? true : state.inFlight == 0 ? false : nil }
    guard isStopped else { return }
    let _: Void? = state.wait(upTo: drain) { state in
      state.isReaderWaiting = true
      return state.inFlight == 0 || state.outputFailure != nil ? () : nil
    }
  }

  /// Hands over the remaining results. Must be called after the engine has ended.
  func waitForResults() {
    repeat {
      for lane in lanes { takeOver(lane) }
    } while state.wait(upTo: Self.lastWait, { $0.inFlight == 0 ? () : nil }) == nil
  }

  /// A loop that was left behind can still be adding a result when the engine has ended.
  private static let lastWait = Duration.milliseconds(100)
}

// A loop that is stuck neither hands over its results nor begins the jobs that it has taken.
extension RunSession: StuckLoopObserver {
  func loopIsStuck(_ index: Int) {
    state.withLock { _ = $0.stuck.insert(index) }
    takeOver(lanes[index])
    beginJobs()
  }

  func loopMoves(_ index: Int) { state.withLock { _ = $0.stuck.remove(index) } }

  /// Hands over the results of a lane on this thread, and begins its jobs.
  private func takeOver(_ lane: RunLane) {
    let ended = handOver(lane)
    if ended.count > 0 { state.update { count(ended, of: lane, &$0) } }
    while let job = lane.nextJob() {
      state.withLock { $0.taken[lane.loop.index] -= 1 }
      submit(job)
    }
  }
}
