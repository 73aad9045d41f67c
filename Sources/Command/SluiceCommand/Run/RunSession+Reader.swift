import SluiceJSON
import SluiceSupport
import Synchronization

// Reads lines, and begins jobs at the configured rate.
extension RunSession {
  /// Reads the input to its end, or until the session stops. Returns when every job has begun or was dropped.
  /// - Returns: why the input could not be read.
  func feed() -> CommandError? {
    let starter: SystemThread?
    do throws(CommandError) { starter = settings.hasStarter ? try beginStarter() : nil } catch { return error }
    var pace = starter == nil ? settings.interval.map { RunPace(interval: $0) } : nil
    var failure: CommandError?
    var parser = parser
    var batch = Batch()
    reading: while !hasStopped.load(ordering: .relaxed) {
      switch input.next(willRead: { enqueue(&batch) }) {
      case .text(let text):
        do throws(CommandError) {
          if try skips(text) { continue }
        } catch {
          failure = error
          break reading
        }
        if InputLines.isBlank(text) { continue }
        do throws(RunParser.Refusal) {
          let job = try parser.job(text, line: input.number)
          if pace == nil { append(job, to: &batch) } else { begin(job, &pace) }
        } catch {
          refuse(error)
        }
      case .tooLong:
        if skipsLongLine() { continue }
        refuse(
          RunParser.Refusal(
            id: ResultID(line: input.number), line: input.number,
            message:
              "\(parser.place(of: input.number)): longer than \(settings.lineLimitBytes) bytes; raise transport.maxRequestBytes"
          ))
      case .end:
        do throws(CommandError) {
          if !hasStopped.load(ordering: .relaxed) { try resumed?.checkEnd(input.number) }
        } catch {
          failure = error
        }
        break reading
      case .failure(let error):
        failure = error
        break reading
      }
    }
    enqueue(&batch)
    let dropped = hasStopped.load(ordering: .relaxed) ? input.dropRest() : 0
    state.update { state in
      state.counts.dropped += dropped
      state.isInputEnded = true
    }
    waitForQueue()
    starter?.join()
    return failure
  }

  /// Whether the line has a result of an earlier run.
  private func skips(_ text: UnsafeRawBufferPointer) throws(CommandError) -> Bool {
    guard let resumed, try resumed.skips(text, input.number) else { return false }
    skipped.wrappingAdd(text.count, ordering: .relaxed)
    return true
  }

  private func skipsLongLine() -> Bool { resumed?.finished[input.number] != nil }

  private func begin(_ job: RunJob, _ pace: inout RunPace?) {
    pace?.wait(on: state) { $0.isStopping }
    if reserveSlot() { submit(job) }
  }

  /// Waits for a free slot. It is used if the run does not read ahead. Returns false if the session stops.
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

  /// Jobs that the reader has not put into the queue yet.
  private struct Batch {
    var jobs: [RunJob] = []
    var bytes = 0
  }

  private func append(_ job: RunJob, to batch: inout Batch) {
    batch.jobs.append(job)
    batch.bytes += job.lineBytes
    if batch.jobs.count >= RunQueue.batch.count || batch.bytes >= RunQueue.batch.bytes { enqueue(&batch) }
  }

  private func enqueue(_ batch: inout Batch) {
    var rest = batch.jobs[...]
    while !rest.isEmpty {
      let hasSlot = waitAsReader { state -> Bool? in
        if state.queue.isFull, !state.isStopping { return nil }
        repeat {
          rest.popFirst().map { state.queue.append($0) }
        } while !rest.isEmpty
          && (!state.queue.isFull || state.isStopping)
        return state.inFlight < self.settings.concurrency
      }
      if settings.hasStarter { state.broadcast() } else if hasSlot { beginJobs() }
    }
    batch.jobs.removeAll(keepingCapacity: true)
    batch.bytes = 0
  }

  /// Begins the thread that starts jobs at their time, while the reader waits for input. It ends after the last job.
  private func beginStarter() throws(CommandError) -> SystemThread {
    try SystemThread.begin("sluice-pace") { [self] in
      var pace = settings.interval.map { RunPace(interval: $0) }
      while startNext(&pace) {}
    }
  }

  /// Waits until the next job may start, and starts it. Returns false after the last job.
  private func startNext(_ pace: inout RunPace?) -> Bool {
    pace?.wait(on: state) { $0.isStopping }
    while true {
      // The end of a host's pause ends this wait only if a slot is free. Without a free slot, no job could start then.
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
        // The reader might be waiting for room in the queue.
        state.broadcast()
        submit(job)
        return true
      }
    }
  }

  private enum Step {
    case start(RunJob)
    /// No job is ready, and the time of the next pause's end has changed. The wait must begin again with this time as
    /// its limit.
    case waitAgain
    case ended
  }

  private func hasFreeSlot(_ state: borrowing State) -> Bool { state.inFlight < settings.concurrency && hasRoom }

  /// The time limit of a wait that an event normally ends.
  private static let longWait = Duration.seconds(60)

  /// Returns when the queue is empty.
  private func waitForQueue() {
    waitAsReader { state -> Void? in
      if state.isStopping {
        state.counts.dropped += state.queue.removeAll()
      }
      return state.queue.isEmpty ? () : nil
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
}

/// Spaces starts evenly. After a delay, at most one missed start is made up for.
private struct RunPace {
  private let interval: Duration
  private var next = MonotonicClock.now

  init(interval: Duration) { self.interval = interval }

  /// Waits until the next start is due, or until the condition is true.
  mutating func wait<State>(on monitor: Monitor<State>, until isOver: (State) -> Bool) {
    while case let rest = next - MonotonicClock.now, rest > .zero {
      let isStopped: Bool? = monitor.wait(upTo: rest) { isOver($0) ? true : nil }
      if isStopped == true { return }
    }
    next = max(next + interval, MonotonicClock.now - interval)
  }
}
