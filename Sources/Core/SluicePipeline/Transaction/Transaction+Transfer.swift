package import SluiceMessages

extension Transaction: TransferObserver {
  package func transferWillIssue(_ headers: inout HeaderFields) -> Bool {
    guard !machine.isDone else { return false }
    if options != nil { beginIdle() }
    self.phase = .issue
    if explanation != nil { beginExplanation() }
    clock = nil
    let failure = pipeline.issueStages.isEmpty ? nil : changeIssued(&headers)
    if let failure = failure ?? (mayHaveOtherHost(headers) ? Self.hostFailure(headers) : nil) {
      hopFailure = failure
      return false
    }
    if spans != nil { tellSpans() }
    issued = IssuedFields(headers)
    metrics.countHop()
    result.noteSent(&requestForms.native)
    if hasRequestTrailers { noteTrailers() }
    noteIssue()
    emit(.didIssue)
    return true
  }

  private func changeIssued(_ headers: inout HeaderFields) -> TransactionError? {
    // Stages change this list in place. The list is shared with the request, so the first change would copy the list,
    // and later changes could reallocate it.
    issueHeaders = headers.withRoom(fields: 8, bytes: 512)
    headers = HeaderFields()
    let failure = callIssueStages()
    if let written = issueHeaders.take() { headers = written }
    return failure
  }

  /// Whether the `Host` in the fields can differ from the `Host` that was checked with the request. A transport can
  /// also have changed the fields; then the lines differ from the lines of the original request.
  private func mayHaveOtherHost(_ fields: borrowing HeaderFields) -> Bool {
    pipeline.changesRequests || hop > 0 || !fields.hasSameLines(as: result.originalRequest.headers)
  }

  /// The last check of the `Host`. Other fields were already checked where they were set.
  private static func hostFailure(_ headers: borrowing HeaderFields) -> TransactionError? {
    do throws(MessageError) {
      try headers.validateHost()
      return nil
    } catch { return TransactionError(error) }
  }

  /// Sets ``clock`` to the time at which the last stage ended.
  private func callIssueStages() -> TransactionError? {
    var started = loop.now
    clock = started
    for index in pipeline.issueStages.indices {
      // Safe because the transaction keeps the pipeline, which keeps its stages.
      let stage = unsafe Unmanaged.passUnretained(pipeline.issueStages[index])
      let answer = unsafe stage._withUnsafeGuaranteedRef { binding -> Verdict? in
        guard binding.capabilities.contains(.issue) else { return nil }
        guard explanation == nil, notes == nil else { return observedIssue(binding) }
        return matches(binding) ? binding.interceptor.interceptIssue(self) : nil
      }
      guard let verdict = answer else { continue }
      let now = loop.now
      metrics.recordStage(.issue, index, nanoseconds: now.nanoseconds &- started.nanoseconds)
      started = now
      clock = now
      if case .proceed = verdict { continue }
      let binding = pipeline.issueStages[index]
      switch verdict {
      case .proceed: continue
      case .fail(let failure): return TransactionError(failure, stage: binding.name)
      case .fault(let failure):
        if binding.onFault == .fail { return TransactionError(failure, stage: binding.name) }
      case .respond, .retry, .suspended, .gatherBody:
        let fault = StageFailure(
          code: .stageFault, message: "on_issue must answer CONTINUE or FAIL")
        noteAnswer(.fault(fault))
        if binding.onFault == .fail { return TransactionError(fault, stage: binding.name) }
      }
    }
    return nil
  }

  /// Calls a stage, and records what it did; nil if its match does not hold.
  @inline(never)
  private func observedIssue(_ binding: StageBinding) -> Verdict? {
    guard matches(binding) else { return explainedIssue(binding) }
    noteCall(binding)
    let verdict = explanation == nil ? binding.interceptor.interceptIssue(self) : explainedIssue(binding)
    if let verdict { noteAnswer(verdict) }
    return verdict
  }

  /// Calls a stage that might give no explanation, such as a plugin, and explains which headers it added. Nil if its
  /// match does not hold.
  private func explainedIssue(_ binding: StageBinding) -> Verdict? {
    guard matches(binding) else {
      explain(note: binding.mismatchWords)
      return nil
    }
    let before = issueHeaders ?? HeaderFields()
    let explained = explanation
    let verdict = binding.interceptor.interceptIssue(self)
    guard explanation == explained, let after = issueHeaders else { return verdict }
    for decision in HeaderDecision.sent(by: binding.name, from: before, to: after) { explain(decision) }
    return verdict
  }

  package func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {
    guard !machine.isDone else { return }
    clock = nil
    noteActivity()
    emitInformational(status: status)
    if pipeline.takesInformational { callInformational(status, headers) }
    if isObserved { tellInformational(status, headers) }
    sink?.receiveInformational(status, headers)
  }

  private func callInformational(_ status: Int, _ headers: HeaderFields) {
    let phase = self.phase
    self.phase = .trace
    var started = loop.now
    for (index, binding) in pipeline.responseStages.enumerated()
    where binding.capabilities.contains(.informational) && matches(binding) {
      binding.interceptor.interceptInformational(self, status, headers)
      let now = loop.now
      metrics.recordStage(.response, index, nanoseconds: now.nanoseconds &- started.nanoseconds)
      started = now
    }
    clock = nil
    self.phase = phase
  }

  package func transferDidReceiveHead(_ head: consuming Response) -> BodyDisposition {
    guard !machine.isDone else { return .discard }
    noteActivity()
    if let options, options.value.endsAttemptAtHead { deadlines.endAttempt() }
    responseForms.replace(with: consume head)
    hasOwnResponseBody = false
    thisHop.wireStatus = responseStatus
    isAnsweringHead = true
    disposition = .hold
    thisHop.responsePassedTo = 0
    decideBody()
    if responseStatus < 300, !isAsking {
      clock = nil
      perform(machine.head())
    } else {
      run(eventOfHead())
    }
    isAnsweringHead = false
    return machine.isDone ? .discard : disposition
  }

  package func transferDidReceive(_ piece: [UInt8]) -> BodyProgress {
    guard !machine.isDone, let passage = responsePassage else { return .stop }
    let progress = passage.receive(piece)
    if case .failed(let error, _) = passage.outcome { hopFailure = error }
    return progress
  }

  package func transferDidEnd(_ end: consuming TransferEnd) {
    handshakeQuestion?.end()
    guard !machine.isDone else { return }
    transfer = nil
    endIdle()
    if end.connection != nil { endedConnection = end.connection }
    let timings = end.timings
    metrics.addBytes(sent: timings.bytesSent, received: timings.bytesReceived)
    result.timings = timings
    if let error = end.error { noteEnd(error) }
    noteRequestFailure()
    if isObserved {
      tellHopEnd(timings, end.connection, hopFailure ?? machine.causeOfCut ?? end.error.map { TransactionError($0) })
    }
    clock = nil
    if let hopFailure {
      noteHopEnd(hopFailure)
      return run(.abort(hopFailure), at: clock)
    }
    if let error = end.error {
      let failure = failure(of: error)
      noteHopEnd(machine.causeOfCut ?? failure)
      return run(event(of: error, failure), at: clock)
    }
    noteHopEnd(machine.causeOfCut)
    if hasOwnResponseBody { return run(.ended(nil), at: clock) }
    if let trailers = end.trailers, !trailers.isEmpty { addTrailers(trailers) }
    if case .empty = end.body {} else { setResponseBody(end.takeBody()) }
    responseForms.dropView()
    guard responsePassage != nil else { return perform(machine.ended(nil)) }
    if let event = wireEnded() { run(event, at: clock) }
  }

  /// Trailers that stages have added with the pieces come after the received ones.
  private func addTrailers(_ received: HeaderFields) {
    var trailers = received
    if let responsePassage { forgetDerivedFields(in: &trailers, responsePassage) }
    let added = responseForms.native?.trailers ?? HeaderFields()
    for index in added.indices {
      trailers.append(
        added.buffer.span.extracting(added.nameRange(at: index)),
        added.buffer.span.extracting(added.valueRange(at: index)))
    }
    responseForms.native?.trailers = trailers
  }

  private func event(of error: TransportError, _ failure: TransactionError) -> TransactionMachine.Event {
    error.code == .notProcessed && isHopReplayable ? .refused(failure) : .ended(failure)
  }

  /// Called when the request is issued, and when stages may have changed its trailers.
  @inline(never)
  private func noteTrailers() { result.changedRequest?.sharedTrailers = requestForms.native.sharedTrailers }

  /// The hop is over: moves the headers that it has sent into the result.
  func forgetIssued() {
    if let sent = issued.take() { result.issuedHeaders = sent.headers }
  }

  /// The sending of the request has ended. If a stage made the request body fail, the hop ended because of this
  /// failure.
  private func noteRequestFailure() {
    if requestPassage != nil, issued != nil { noteTrailers() }
    if case .failed(let error, cause: nil) = requestPassage?.outcome, hopFailure == nil { hopFailure = error }
    endRequestPassage()
  }
}
