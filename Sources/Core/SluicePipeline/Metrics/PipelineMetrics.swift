/// The counts of a pipeline on one loop. They are created with the snapshot of stages. The loop's thread writes them
/// without lock or allocation, and any thread may read them.
///
/// Stages and tracers are addressed by their position in the lists that the initializer got, so recording needs no
/// look-up.
package final class PipelineMetrics: Sendable {
  private let names: Names
  private let requestStages: [StageMetrics]
  private let issueStages: [StageMetrics]
  private let responseStages: [StageMetrics]
  private let failureStages: [StageMetrics]
  private let hopStages: [StageMetrics]
  private let tracers: [TracerMetrics]
  private let duration = LatencyHistogram()
  private let begun = SingleWriterCounter()
  private let outcomes: InlineArray<3, SingleWriterCounter>
  private let statuses: InlineArray<6, SingleWriterCounter>
  private let unhealthy = SingleWriterCounter()
  private let attempts = SingleWriterCounter()
  private let retries = SingleWriterCounter()
  private let retriesOverBudget = SingleWriterCounter()
  private let redirects = SingleWriterCounter()
  private let hops = SingleWriterCounter()
  private let bytesSent = SingleWriterCounter()
  private let bytesReceived = SingleWriterCounter()

  private struct Names: Sendable {
    let request: [String]
    let issue: [String]
    let response: [String]
    let hop: [String]
    let tracers: [String]
  }

  /// - Parameters: the names of each list, in the order of the list. The failure phase uses the positions of
  ///   `responseStages`.
  package init(
    requestStages: [String], issueStages: [String], responseStages: [String], hopStages: [String] = [],
    tracers: [String]
  ) {
    names = Names(
      request: requestStages, issue: issueStages, response: responseStages, hop: hopStages, tracers: tracers)
    self.requestStages = requestStages.map { _ in StageMetrics() }
    self.issueStages = issueStages.map { _ in StageMetrics() }
    self.responseStages = responseStages.map { _ in StageMetrics() }
    failureStages = responseStages.map { _ in StageMetrics() }
    self.hopStages = hopStages.map { _ in StageMetrics() }
    self.tracers = tracers.map { _ in TracerMetrics() }
    outcomes = InlineArray { _ in SingleWriterCounter() }
    statuses = InlineArray { _ in SingleWriterCounter() }
  }

  private func stage(_ phase: StagePhase, _ index: Int) -> StageMetrics {
    switch phase {
    case .request: requestStages[index]
    case .issue: issueStages[index]
    case .response: responseStages[index]
    case .failure: failureStages[index]
    case .hop: hopStages[index]
    }
  }
}

// Recording. [loop]
extension PipelineMetrics {
  /// Counts one call of a stage and the time it took.
  package func recordStage(_ phase: StagePhase, _ index: Int, nanoseconds: UInt64) {
    switch phase {
    case .request: recordRequestStage(index, nanoseconds: nanoseconds)
    case .issue: Self.record(issueStages, index, nanoseconds)
    case .response: recordResponseStage(index, nanoseconds: nanoseconds)
    case .failure: recordFailureStage(index, nanoseconds: nanoseconds)
    case .hop: Self.record(hopStages, index, nanoseconds)
    }
  }

  // These are for the loops over the stages of a list. They spare each call the switch over the phase.

  package func recordRequestStage(_ index: Int, nanoseconds: UInt64) { Self.record(requestStages, index, nanoseconds) }

  package func recordResponseStage(_ index: Int, nanoseconds: UInt64) {
    Self.record(responseStages, index, nanoseconds)
  }

  package func recordFailureStage(_ index: Int, nanoseconds: UInt64) { Self.record(failureStages, index, nanoseconds) }

  @inline(__always)
  private static func record(_ stages: borrowing [StageMetrics], _ index: Int, _ nanoseconds: UInt64) {
    // Safe because this object keeps its stages. Without this, each call would retain and release a stage.
    unsafe Unmanaged.passUnretained(stages[index])._withUnsafeGuaranteedRef { $0.time.record(nanoseconds: nanoseconds) }
  }

  /// Counts a broken rule. `isSkipped` says whether the stage's failure policy let the transaction continue.
  package func countFault(_ phase: StagePhase, _ index: Int, isSkipped: Bool) {
    let stage = stage(phase, index)
    stage.faults.add()
    if isSkipped { stage.skips.add() }
  }

  /// Counts a call that was not resumed in time. `isSkipped` says whether the stage's failure policy let the
  /// transaction continue.
  package func countTimeout(_ phase: StagePhase, _ index: Int, isSkipped: Bool) {
    let stage = stage(phase, index)
    stage.timeouts.add()
    if isSkipped { stage.skips.add() }
  }

  /// Counts one event of a tracer and the time it took.
  package func recordTracer(_ index: Int, nanoseconds: UInt64) {
    // Safe because this object keeps its tracers.
    unsafe Unmanaged.passUnretained(tracers[index])._withUnsafeGuaranteedRef {
      $0.time.record(nanoseconds: nanoseconds)
    }
  }

  /// Counts an event that took longer than the tracer's budget.
  package func countTracerOverrun(_ index: Int) { tracers[index].overruns.add() }

  /// Counts an event that did not reach a queued tracer.
  package func countTracerDrop(_ index: Int) { tracers[index].drops.add() }

  /// Counts a transaction as in flight.
  package func transactionDidBegin() { begun.add() }

  /// Counts the end of a transaction that began here.
  /// - Parameters:
  ///   - status: the final status, 0 without a response.
  ///   - hadStageFault: whether a stage broke a rule or missed its deadline, skipped or not.
  package func transactionDidComplete(
    _ outcome: OutcomeClass, status: Int, hadStageFault: Bool = false, nanoseconds: UInt64
  ) {
    duration.record(nanoseconds: nanoseconds)
    outcomes[outcome.rawValue].add()
    let status = StatusClass(status: status)
    statuses[status.rawValue].add()
    let isHealthy = outcome == .succeeded && status != .serverError && !hadStageFault
    if !isHealthy, outcome != .cancelled { unhealthy.add() }
  }

  /// Counts an attempt, including the first of a transaction.
  package func countAttempt() { attempts.add() }

  /// Counts a decision to make another attempt.
  package func countRetry() { retries.add() }

  /// Counts an attempt that the retry policy wanted and its budget did not allow.
  package func countRetryOverBudget() { retriesOverBudget.add() }

  /// Counts a redirect that was followed.
  package func countRedirect() { redirects.add() }

  /// Counts a request on the wire.
  package func countHop() {
    hops.add()
  }

  /// Adds bytes on the wire of one hop.
  package func addBytes(sent: Int, received: Int) {
    bytesSent.add(UInt64(clamping: sent))
    bytesReceived.add(UInt64(clamping: received))
  }
}

// Reading. [any]
extension PipelineMetrics {
  /// All current counts; related counts may differ by one event while the loop works.
  package func snapshot() -> MetricsSnapshot {
    var snapshot = MetricsSnapshot()
    for (index, outcome) in OutcomeClass.allCases.enumerated() { snapshot.outcomes[outcome] = outcomes[index].value }
    for (index, status) in StatusClass.allCases.enumerated() { snapshot.statuses[status] = statuses[index].value }
    snapshot.unhealthy = unhealthy.value
    // This count is read after the counts of ended transactions, so that a snapshot never has more ended than begun
    // transactions.
    snapshot.begun = begun.value
    snapshot.duration = duration.snapshot()
    snapshot.attempts = attempts.value
    snapshot.retries = retries.value
    snapshot.retriesOverBudget = retriesOverBudget.value
    snapshot.redirects = redirects.value
    snapshot.hops = hops.value
    snapshot.bytesSent = bytesSent.value
    snapshot.bytesReceived = bytesReceived.value
    for stage in stageSnapshots() { snapshot.merge(stage) }
    for (tracer, name) in zip(tracers, names.tracers) { snapshot.merge(tracer.snapshot(name)) }
    return snapshot
  }

  private func stageSnapshots() -> [StageSnapshot] {
    func all(_ phase: StagePhase, _ stages: [StageMetrics], _ names: [String]) -> [StageSnapshot] {
      zip(stages, names).map { $0.snapshot(phase, $1) }
    }
    return all(.request, requestStages, names.request) + all(.issue, issueStages, names.issue)
      + all(.response, responseStages, names.response) + all(.failure, failureStages, names.response)
      + all(.hop, hopStages, names.hop)
  }
}
