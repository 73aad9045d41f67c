import Sluice
import SluiceJSON
import SluicePipeline
import SluiceSupport
import SluiceTraceContext
import Synchronization

/// Keeps a number of transactions in flight. The reader fills a queue, and each completion takes the next job from it
/// on its own loop, so that a request costs no thread switch.
///
///     InputLines ─► feed ─► RunQueue ─► Engine.submit ─► finish ─► ByteOutput
///                                            ▲              │
///                                            └── next job ◄─┘
final class RunSession: Sendable {
  private struct State {
    var queue: RunQueue
    var inFlight = 0
    var isInputEnded = false
    var isStopping = false
    var isReaderWaiting = false
    var outputFailure: ByteOutput.Failure?
    var eventsFailure: ByteOutput.Failure?
    var counts = RunCounts()
  }

  /// The number of jobs that may complete within `submit`, one after the other, before the loop continues with other
  /// work.
  private static let burst = 32

  private let settings: RunSettings
  private let engine: Engine
  private let input: InputLines
  private let output: ByteOutput
  private let recorder: EventRecorder?
  /// Nil if the run is not resumed.
  private let resumed: ResumedInput?
  private let mask: Locked<SecretMask>
  private let parser: RunParser
  private let parent = EngineStart.extraction.parent
  private let skipped = Atomic<Int>(0)
  private let state: Monitor<State>

  /// - Parameter resumed: which lines have a result of an earlier run; nil if the run is not resumed.
  init(
    _ settings: RunSettings, _ engine: Engine, _ input: InputLines, _ output: ByteOutput, _ recorder: EventRecorder?,
    resumed: ResumedInput?
  ) {
    state = Monitor(State(queue: RunQueue(settings.hostLimits), counts: resumed?.counts ?? RunCounts()))
    self.resumed = resumed
    self.settings = settings
    self.engine = engine
    self.input = input
    self.output = output
    self.recorder = recorder
    mask = Locked(SecretMask(settings.configuration.redaction))
    parser = RunParser(
      baseURL: { [engine] in engine.baseURL }, transport: settings.configuration.transport)
    output.listen(
      ByteOutput.Listener(
        onRoom: { [weak self] in self?.goOn() },
        onFailure: { [weak self] failure in
          self?.state.withLock { $0.outputFailure = failure }
          self?.stop()
        }))
    recorder?.listen(
      ByteOutput.Listener(
        onRoom: { [weak self] in self?.goOn() },
        onFailure: { [weak self] failure in
          self?.state.withLock { $0.eventsFailure = failure }
          self?.stop()
        }))
  }

  /// An output has room again.
  private func goOn() {
    // The output makes room without this lock. Taking the lock here ensures that a reader which has just seen no room
    // is already asleep, and is woken.
    state.update { _ in }
    refill()
  }

  /// Whether both outputs have room.
  private var hasRoom: Bool { output.hasRoom && recorder?.hasRoom ?? true }

  var counts: RunCounts { state.withLock { $0.counts } }
  /// The bytes of lines that have a result of an earlier run.
  var skippedBytes: Int { skipped.load(ordering: .relaxed) }
  var inFlight: Int { state.withLock { $0.inFlight } }
  var outputFailure: ByteOutput.Failure? { state.withLock { $0.outputFailure } }
  var eventsFailure: ByteOutput.Failure? { state.withLock { $0.eventsFailure } }

  /// From now on hides what the reloaded configuration hides.
  func adopt(_ redaction: RedactionSettings) { mask.withLock { $0 = SecretMask(redaction) } }

  /// Begins no further request. From any thread.
  func stop() {
    state.withLock { $0.isStopping = true }
    state.broadcast()
    input.interrupt()
  }

  // MARK: The reader

  /// Reads the input to its end, or until the session stops; returns when every job has begun or was dropped.
  /// - Returns: why the input could not be read.
  func feed() -> CommandError? {
    var starter: RunStarter?
    do throws(CommandError) {
      if settings.hasStarter { starter = try RunStarter(interval: settings.interval, self) }
    } catch {
      return error
    }
    var pace = settings.hasStarter ? nil : settings.interval.map { RunPace(interval: $0) }
    var failure: CommandError?
    reading: while !isStopping {
      switch input.next() {
      case .text(let text):
        do throws(CommandError) {
          if try skips(text) { continue }
        } catch {
          failure = error
          break reading
        }
        if InputLines.isBlank(text) { continue }
        do throws(RunParser.Refusal) {
          begin(try parser.job(text, line: input.number), &pace)
        } catch {
          refuse(error)
        }
      case .tooLong:
        if skipsLongLine() { continue }
        refuse(
          RunParser.Refusal(
            id: ResultID(line: input.number), line: input.number,
            message:
              "line \(input.number): longer than \(settings.lineLimitBytes) bytes; raise transport.maxRequestBytes"))
      case .end:
        do throws(CommandError) {
          if !isStopping { try resumed?.checkEnd(input.number) }
        } catch {
          failure = error
        }
        break reading
      case .failure(let error):
        failure = error
        break reading
      }
    }
    state.update { $0.isInputEnded = true }
    waitForQueue()
    starter?.wait()
    return failure
  }

  /// Whether the line has a result of an earlier run.
  private func skips(_ text: UnsafeRawBufferPointer) throws(CommandError) -> Bool {
    guard let resumed, try resumed.skips(text, input.number) else { return false }
    skipped.wrappingAdd(text.count, ordering: .relaxed)
    return true
  }

  private func skipsLongLine() -> Bool { resumed?.finished[input.number] != nil }

  private var isStopping: Bool { state.withLock { $0.isStopping } }

  private func begin(_ job: RunJob, _ pace: inout RunPace?) {
    if pace != nil {
      pace?.wait(on: state) { $0.isStopping }
      if reserveSlot() { submit(job) }
    } else {
      enqueue(job)
    }
  }

  /// Waits for a slot without reading ahead; false when the session stops.
  private func reserveSlot() -> Bool {
    waitAsReader { state -> Bool? in
      if state.isStopping {
        state.counts.dropped += 1
        return false
      }
      guard state.inFlight < self.settings.concurrency, self.hasRoom else { return nil }
      state.inFlight += 1
      return true
    }
  }

  private func enqueue(_ job: RunJob) {
    let isQueued = waitAsReader { state -> Bool? in
      if state.queue.isFull, !state.isStopping { return nil }
      state.queue.append(job)
      return state.inFlight >= self.settings.concurrency
    }
    if settings.hasStarter { state.broadcast() } else if !isQueued { refill() }
  }

  /// For ``RunStarter``: waits for the time of the next job, and starts it; false after the last job.
  func startNext(_ pace: inout RunPace?) -> Bool {
    pace?.wait(on: state) { $0.isStopping }
    while true {
      // Only a job with a free slot waits for the rest of its host.
      let restEnd = state.withLock { hasFreeSlot($0) ? $0.queue.nextRestEnd : nil }
      let bound = restEnd.map { $0 - MonotonicClock.now } ?? Self.longWait
      let step: Step? = state.wait(upTo: bound) { state in
        if state.isStopping || state.isInputEnded && state.queue.isEmpty { return .ended }
        guard hasFreeSlot(state) else { return nil }
        if let job = state.queue.popFirst() {
          state.inFlight += 1
          return .start(job)
        }
        return state.queue.nextRestEnd == restEnd ? nil : .waitAgain
      }
      switch step {
      case nil, .waitAgain: continue
      case .ended: return false
      case .start(let job):
        // The reader may wait for room in the queue.
        state.broadcast()
        submit(job)
        return true
      }
    }
  }

  private enum Step {
    case start(RunJob)
    /// There is a free slot now, so the rest of a host bounds the wait.
    case waitAgain
    case ended
  }

  private func hasFreeSlot(_ state: borrowing State) -> Bool { state.inFlight < settings.concurrency && hasRoom }

  /// A bound for a wait that an event ends.
  private static let longWait = Duration.seconds(60)

  /// Begins jobs for all free slots. Must not be called on a loop.
  private func refill() {
    while let job = takeForFreeSlot() { submit(job) }
  }

  private func takeForFreeSlot() -> RunJob? {
    let (job, wakes): (RunJob?, Bool) = state.withLock { state in
      // `hasRoom` is read under this lock; otherwise room that is made at this moment would fill no slot.
      guard state.inFlight < settings.concurrency, !state.isStopping, !settings.hasStarter, hasRoom else {
        return (nil, false)
      }
      guard let job = state.queue.popFirst() else { return (nil, false) }
      state.inFlight += 1
      return (job, state.isReaderWaiting)
    }
    if wakes { state.broadcast() }
    return job
  }

  /// Returns when the queue is empty.
  private func waitForQueue() {
    waitAsReader { state -> Void? in
      if state.isStopping {
        state.counts.dropped += state.queue.removeAll()
      }
      return state.queue.isEmpty ? () : nil
    }
  }

  private func waitAsReader<Result>(_ body: (inout State) -> Result?) -> Result {
    state.wait { state in
      let result = body(&state)
      state.isReaderWaiting = result == nil
      return result
    }
  }

  private func refuse(_ refusal: RunParser.Refusal) {
    if let line = try? ResultText.line(invalidRequest: refusal.message, id: refusal.id, line: refusal.line) {
      output.append(line)
    }
    state.withLock { state in
      state.counts.completed += 1
      state.counts.failed += 1
      state.counts.invalid += 1
    }
    waitAsReader { state -> Void? in state.isStopping || self.hasRoom ? () : nil }
  }

  // MARK: Completions

  private func submit(_ job: RunJob) {
    var next: RunJob? = job
    var count = 0
    while let job = next {
      engine.submit(job.request, parent: parent) { [self] result in finish(job, result) }
      guard job.arrive() else { return }
      count += 1
      next = count < Self.burst ? takeAfter(job) : leaveSlot(of: job)
    }
  }

  /// On the loop of the transaction.
  private func finish(_ job: RunJob, _ result: TransactionResult) {
    let written = line(result, job)
    output.append(written.bytes)
    if written.hasError { state.withLock { $0.counts.failed += 1 } }
    let isFromOutside = result.error?.code == .stalled
    guard isFromOutside ? job.arriveAlone() : job.arrive(), let next = takeAfter(job) else { return }
    submit(next)
  }

  /// A result that cannot be written as a line becomes an error.
  private func line(_ result: TransactionResult, _ job: RunJob) -> (bytes: [UInt8], hasError: Bool) {
    do {
      let mask: SecretMask? = settings.hasMetadata ? mask.withLock { $0 } : nil
      return (try ResultText.line(result, id: job.id, line: job.line, metadata: mask), result.error != nil)
    } catch {
      var failed = result
      failed.response = nil
      failed.error = TransactionError(code: "invalid_result", message: "the result cannot be written: \(error)")
      return ((try? ResultText.line(failed, id: job.id, line: job.line)) ?? [], true)
    }
  }

  /// Counts a completion and fills its slot.
  private func takeAfter(_ ended: RunJob) -> RunJob? {
    let (job, wakes): (RunJob?, Bool) = state.withLock { state in
      state.counts.completed += 1
      state.inFlight -= 1
      state.queue.end(ended)
      if settings.hasStarter { return (nil, true) }
      let job = hasRoom && !state.isStopping ? state.queue.popFirst() : nil
      if job != nil { state.inFlight += 1 }
      let isUseful = job == nil || state.queue.isHalfEmpty
      defer { if isUseful { state.isReaderWaiting = false } }
      return (job, state.isReaderWaiting && isUseful)
    }
    if wakes { state.broadcast() }
    return job
  }

  /// Counts a completion and leaves its slot to another thread.
  private func leaveSlot(of ended: RunJob) -> RunJob? {
    let wakes = state.withLock { state in
      state.counts.completed += 1
      state.inFlight -= 1
      state.queue.end(ended)
      return state.isReaderWaiting || settings.hasStarter
    }
    if wakes { state.broadcast() }
    Task.detached { [self] in refill() }
    return nil
  }

  // MARK: The end

  /// Waits until nothing is in flight. If the session was stopped, waits at most `drain`; if the output is broken, does
  /// not wait.
  func waitForResults(upTo drain: Duration) {
    let isStopped = waitAsReader { state in state.isStopping ? true : state.inFlight == 0 ? false : nil }
    guard isStopped else { return }
    let _: Void? = state.wait(upTo: drain) { state in
      state.isReaderWaiting = true
      return state.inFlight == 0 || state.outputFailure != nil ? () : nil
    }
  }

  func waitForResults() { waitAsReader { $0.inFlight == 0 ? () : nil } }
}
