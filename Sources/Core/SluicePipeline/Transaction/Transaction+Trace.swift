import SluiceMessages

// The ledger: the events that tracers get.
extension Transaction {
  /// The time of the events in this run of the machine.
  func now() -> Instant {
    if let clock { return clock }
    let time = loop.now
    clock = time
    return time
  }

  /// Counts an event, and tells it to the tracers that want it.
  @inline(__always)
  func emit(_ kind: TraceEvent.Kind) {
    let sequence = nextSequence()
    if kind == .didReceive { thisHop.receivedStatus = responseStatus }
    if pipeline.traced.contains(kind) { tellTracers(kind, sequence) }
    if kind == .didReceive, openHop.isEnded { emitHopEnd(nil) }
  }

  @inline(never)
  private func tellTracers(_ kind: TraceEvent.Kind, _ sequence: Int) {
    let status = kind.precedesResponse ? 0 : responseStatus
    record(
      TraceEvent(
        kind: kind, sequence: sequence, time: now(), exchange: self, status: status,
        receivedStatus: receivedStatus(beside: status), outcome: nil, error: nil, durationNanoseconds: 0,
        finalTimings: kind == .didReceive ? result.timings : nil))
  }

  /// The transfer has ended. If the `didReceive` of the response was not reported yet, it is reported first.
  func noteHopEnd(_ error: TransactionError?) {
    if error == nil, thisHop.receivedStatus == 0 { openHop.isEnded = true } else { emitHopEnd(error) }
  }

  func emitHopEnd(_ error: TransactionError?) {
    let began = openHop.began
    openHop = .none
    let sequence = nextSequence()
    guard pipeline.traced.contains(.didEndHop) else { return }
    let now = now()
    record(
      TraceEvent(
        kind: .didEndHop, sequence: sequence, time: now, exchange: self, status: thisHop.wireStatus,
        receivedStatus: receivedStatus(beside: thisHop.wireStatus), outcome: nil, error: error,
        durationNanoseconds: now.nanoseconds(since: began), finalTimings: result.timings))
  }

  func emitInformational(status: Int) {
    let sequence = nextSequence()
    guard pipeline.traced.contains(.didReceiveInformational) else { return }
    record(
      TraceEvent(
        kind: .didReceiveInformational, sequence: sequence, time: now(), exchange: self, status: status,
        receivedStatus: nil, outcome: nil, error: nil, durationNanoseconds: 0, finalTimings: nil))
  }

  func emitRetry(after delay: Duration, _ reason: TransactionError? = nil) {
    let sequence = nextSequence()
    guard pipeline.traced.contains(.willRetry) else { return }
    let status = responseStatus
    record(
      TraceEvent(
        kind: .willRetry, sequence: sequence, time: now(), exchange: self, status: status,
        receivedStatus: receivedStatus(beside: status), outcome: nil,
        error: reason ?? retryReason ?? machine.failure, durationNanoseconds: delay.nanoseconds, finalTimings: nil))
  }

  func emitCompletion(
    _ outcome: TransactionOutcome, _ error: TransactionError?, nanoseconds: UInt64, at now: Instant
  ) {
    let sequence = nextSequence()
    guard pipeline.traced.contains(.didComplete) else { return }
    let status = responseStatus
    record(
      TraceEvent(
        kind: .didComplete, sequence: sequence, time: now, exchange: self, status: status,
        receivedStatus: receivedStatus(beside: status), outcome: outcome, error: error,
        durationNanoseconds: nanoseconds, finalTimings: result.timings))
  }

  /// The received status in an event: nil if it equals the event's status.
  private func receivedStatus(beside status: Int) -> Int? {
    status == thisHop.receivedStatus ? nil : thisHop.receivedStatus
  }

  func emitSpan(_ span: StageSpan) {
    // There is no need to check whether a tracer wants this event, because otherwise no span would exist.
    record(
      TraceEvent(
        kind: .didEndSpan, sequence: eventCount, time: now(), exchange: self, status: 0, receivedStatus: nil,
        outcome: nil, error: nil, durationNanoseconds: 0, finalTimings: nil, endedSpan: EndedSpan(span)))
    eventCount += 1
  }

  private func nextSequence() -> Int {
    if spans != nil { tellSpans() }
    defer { eventCount += 1 }
    return eventCount
  }

  private func record(_ event: TraceEvent) {
    let phase = self.phase
    self.phase = .trace
    if pipeline.measuresTracers {
      recordMeasured(event)
    } else {
      for index in pipeline.tracers.indices {
        // Safe because the transaction keeps the pipeline, which keeps its tracers. Without this, each event would
        // retain them.
        unsafe Unmanaged.passUnretained(pipeline.tracers[index])._withUnsafeGuaranteedRef {
          if $0.interests.contains(event.kind) { $0.tracer.record(event) }
        }
      }
    }
    self.phase = phase
  }

  /// Reads the clock once before the tracers and once after each. The next step continues from the last reading, so
  /// that the time of a tracer is not counted as time of a stage.
  private func recordMeasured(_ event: TraceEvent) {
    var before = loop.now
    for index in pipeline.tracers.indices {
      // Safe because the transaction keeps the pipeline, which keeps its tracers.
      unsafe Unmanaged.passUnretained(pipeline.tracers[index])._withUnsafeGuaranteedRef {
        if $0.wants(event.kind) { before = recordMeasured(event, $0, index, from: before) }
      }
    }
    clock = before
  }

  /// - Returns: the time after the call.
  private func recordMeasured(
    _ event: TraceEvent, _ binding: TracerBinding, _ index: Int, from before: Instant
  ) -> Instant {
    let isTaken = binding.tracer.offer(event)
    let after = loop.now
    guard let budget = binding.budgetNanoseconds else { return after }
    let time = after.nanoseconds(since: before)
    if isTaken {
      metrics.recordTracer(index, nanoseconds: time)
    } else {
      metrics.countTracerDrop(index)
    }
    if binding.overran(budget, in: time) { metrics.countTracerOverrun(index) }
    return after
  }
}

extension TraceEvent.Kind {
  /// Whether the event comes before the response of its hop, even if a stage has already prepared a response.
  fileprivate var precedesResponse: Bool { self == .willExecute || self == .didConfigure || self == .didIssue }
}
