import SluiceMessages

extension Transaction {
  /// Calls request stages from a position on, until a stage does not answer proceed.
  func callRequestStages(from first: Int) -> TransactionMachine.Action {
    call(pipeline.requestStages, from: first, needs: .request, as: .request, .request) {
      $0.interceptRequest($1)
    } record: {
      $0.recordRequestStage($1, nanoseconds: $2)
    }
  }

  func callResponseStages(from first: Int) -> TransactionMachine.Action {
    call(pipeline.responseStages, from: first, needs: .response, as: .response, .response) {
      $0.interceptResponse($1)
    } record: {
      $0.recordResponseStage($1, nanoseconds: $2)
    }
  }

  func callFailureStages(from first: Int, _ failure: TransactionError) -> TransactionMachine.Action {
    call(pipeline.responseStages, from: first, needs: .failure, as: .failure, .failure) {
      $0.interceptFailure($1, failure)
    } record: {
      $0.recordFailureStage($1, nanoseconds: $2)
    }
  }

  /// Calls the stages of a list in one loop, so that values that all calls need are looked up only once.
  @inline(__always)
  private func call(
    _ bindings: [StageBinding], from first: Int, needs capability: StageCapabilities, as phase: Exchange.Phase,
    _ kind: StagePhase, _ function: (any Interceptor, Exchange) -> Verdict,
    record: (PipelineMetrics, Int, UInt64) -> Void
  ) -> TransactionMachine.Action {
    var started = clock ?? loop.now
    self.phase = phase
    let isObserved = notes != nil || explanation != nil
    var mayWait = mayWantBody(kind)
    var next = first
    while next < bindings.count {
      let index = next
      next += 1
      // Safe because the transaction keeps the pipeline, which keeps its stages. Without this, each call would retain
      // and release the stage and its interceptor.
      let binding = unsafe Unmanaged.passUnretained(bindings[index])
      switch unsafe binding._withUnsafeGuaranteedRef({ $0.capabilities.contains(capability) ? matching($0) : .no }) {
      case .yes: break
      case .no:
        if isObserved, kind == .request { explainMismatch(bindings[index]) }
        continue
      case .unknown(let failure): return machine.handle(.abort(failure))
      }
      if mayWait, mustWaitForBody(bindings[index], at: index, kind) {
        clock = started
        cursor.place = nil
        machine.reach(stage: index)
        return machine.handle(.bodyWanted)
      }
      cursor.place = StagePlace(phase: kind, index: index)
      if isObserved { noteCall(bindings[index]) }
      let verdict = unsafe binding._withUnsafeGuaranteedRef { function($0.interceptor, self) }
      let ended = loop.now
      record(metrics, index, ended.nanoseconds &- started.nanoseconds)
      started = ended
      if case .proceed = verdict, cursor.token == nil {
        if isObserved { noteAnswer(.proceed) }
        // The stage can have begun to stream the body of the response.
        if !mayWait, machine.streamsOwnBody { mayWait = mayWantBody(kind) }
        continue
      }
      clock = ended
      machine.reach(stage: index)
      return settle(verdict, bindings[index]).map { machine.handle($0) } ?? .wait
    }
    clock = started
    cursor.place = nil
    return machine.proceeded(to: max(first, bindings.count - 1))
  }

  /// Whether the stage's `match` holds for the current request. Also true when that cannot be determined: the
  /// transaction then fails before anything is sent.
  func matches(_ binding: StageBinding) -> Bool {
    if case .no = matching(binding) { return false }
    return true
  }

  private enum Matching {
    case yes
    case no
    /// The request is in document form, and its method or URL cannot be read.
    case unknown(TransactionError)
  }

  @inline(__always)
  private func matching(_ binding: StageBinding) -> Matching {
    guard let match = binding.match else { return .yes }
    return matching(match)
  }

  // Not inlined, so that the loop over stages stays small.
  @inline(never)
  private func matching(_ match: StageMatch) -> Matching {
    do { return try requestForms.satisfies(match) ? .yes : .no } catch { return .unknown(error) }
  }

  /// Checks that a stage's answer is allowed in the current phase and consistent with the stage's use of a token.
  func settle(_ verdict: Verdict, _ binding: StageBinding) -> TransactionMachine.Event? {
    if verdict == .suspended {
      guard cursor.token != nil else {
        return answer(.fault(Self.suspendedWithoutToken), binding)
      }
      if notes != nil { noteSuspension() }
      if let limit = binding.deadline {
        deadlines.stage = loop.now + limit
        armTimer()
      }
      return nil
    }
    if let token = cursor.token {
      // The stage took a token but did not suspend. The token expires, so that it cannot be resumed later.
      _ = environment.suspensions.expire(token)
      cursor.token = nil
    }
    return answer(verdict, binding)
  }

  private static let suspendedWithoutToken = StageFailure(
    code: .stageFault, message: "it answered SUSPENDED without having taken a token with suspend")

  private func answer(_ verdict: Verdict, _ binding: StageBinding) -> TransactionMachine.Event {
    defer { cursor.place = nil }
    if notes != nil { noteAnswer(verdict) }
    if case .crossingStage = machine.phase, case .retry = verdict {
      return answer(.fault(Self.retriedWhileCrossing), binding)
    }
    // Another stage may have left the invalid document. So the failure policy of this stage does not apply.
    if let failure = documentFailure { return .abort(failure) }
    if case .gatherBody = verdict {
      guard case .requestStage(let index) = machine.phase else {
        return answer(.fault(Self.gatheredElsewhere), binding)
      }
      return isRequestBodyWhole(for: index) ? .answered(.proceed, stage: binding.name) : .bodyWanted
    }
    if verdict == .respond {
      // The request will not be sent, so this is the last check of its document.
      do { try settleRequest() } catch { return .abort(error) }
    }
    if case .fault(let failure) = verdict {
      if let place = cursor.place { countFault(failure, binding, at: place) }
      if binding.onFault == .skip { return .answered(.proceed, stage: binding.name) }
    }
    if case .retry(let delay) = verdict, let failure = failureOfWait(delay) {
      return .answered(.fail(failure), stage: binding.name)
    }
    if verdict == .respond, responseForms.native == nil {
      return answer(.fault(Self.respondedWithoutResponse), binding)
    }
    return .answered(verdict, stage: binding.name)
  }

  func countFault(_ failure: StageFailure, _ binding: StageBinding, at place: StagePlace) {
    let isSkipped = binding.onFault == .skip
    // Delegates have no counts.
    if place.phase == .hop, place.index >= pipeline.hopStages.count { return }
    hadStageFault = true
    if failure.code == .stageTimeout {
      metrics.countTimeout(place.phase, place.index, isSkipped: isSkipped)
    } else {
      metrics.countFault(place.phase, place.index, isSkipped: isSkipped)
    }
  }

  private static let gatheredElsewhere = StageFailure(
    code: .stageFault, message: "it asked for the request body in a call other than on_request")

  private static let retriedWhileCrossing = StageFailure(
    code: .stageFault,
    message: "on_redirect and on_challenge must answer CONTINUE, RESPOND or FAIL")

  private static let respondedWithoutResponse = StageFailure(
    code: .stageFault, message: "it answered RESPOND without having set a response")

  /// Called by the exchange: takes a token for the current call.
  func takeToken() -> SuspensionToken? {
    if let callingPassage { return callingPassage.takeToken() }
    guard cursor.token == nil, cursor.place != nil else { return nil }
    cursor.token = environment.suspensions.take(for: self)
    cursor.tokenPlace = cursor.place
    return cursor.token
  }

  /// A suspended stage was resumed. Does nothing if the transaction no longer waits for that token.
  func wasResumed(_ resumed: SuspensionToken, _ verdict: Verdict) {
    guard cursor.token == resumed else {
      _ = passage(with: resumed) { $0.wasResumed(resumed, verdict) }
      return
    }
    guard let binding = current else { return }
    cursor.token = nil
    noteActivity()
    deadlines.stage = .distantFuture
    guard verdict != .suspended else { return run(answer(.fault(Self.resumedSuspended), binding)) }
    run(answer(verdict, binding))
  }

  private static let resumedSuspended = StageFailure(
    code: .stageFault, message: "it resumed with SUSPENDED; a resumption must carry another verdict")

  /// A suspended stage has missed its deadline, or its call ends for another reason.
  func stageTimedOut(_ reason: String? = nil) {
    // The deadline is cleared in any case; otherwise the timer would be due again at once, endlessly. A token that
    // cannot be expired was already resumed: its resumption is in the loop's inbox, which runs after the timers.
    deadlines.stage = .distantFuture
    guard let binding = current, let token = cursor.token, environment.suspensions.expire(token) else { return }
    cursor.token = nil
    binding.interceptor.suspensionWasCancelled(token)
    let reason = reason ?? "\(binding.interceptor.overdueWords) within its deadline of \(binding.deadline ?? .zero)"
    let failure = StageFailure(code: .stageTimeout, message: reason)
    run(answer(.fault(failure), binding))
  }

  /// Expires every suspended stage, for a reason other than its own deadline. [loop]
  package func expireSuspensions(_ reason: String) {
    stageTimedOut(reason)
    for passage in openPassages { passage.expireSuspensions(at: loop.now, reason) }
  }

  /// Withdraws the tokens of suspended stages because the attempt or the transaction ends.
  func withdrawTokens() {
    endRequestPassage()
    endResponsePassage()
    guard let token = cursor.token, let place = cursor.tokenPlace else { return }
    cursor.token = nil
    cursor.place = nil
    deadlines.stage = .distantFuture
    if environment.suspensions.expire(token) { stage(at: place).interceptor.suspensionWasCancelled(token) }
  }
}
