import SluiceMessages

extension Transaction {
  /// Passes one event to the machine and performs the resulting actions, until the transaction must wait.
  ///
  /// - Parameter time: the current time, if the caller has just read the clock.
  func run(_ event: TransactionMachine.Event, at time: Instant? = nil) {
    clock = time
    perform(machine.handle(event))
  }

  /// Performs an action of the machine, and the actions that follow from it at once.
  func perform(_ first: consuming TransactionMachine.Action) {
    var action = first
    while true {
      if case .wait = action { return }
      action = step(action)
    }
  }

  /// Performs one action. Returns the action that follows at once, or `.wait` if the next action comes later.
  ///
  /// Handles the actions that every transaction has. After most of them, the machine only has to be told that they were
  /// performed.
  @inline(__always)
  private func step(_ action: consuming TransactionMachine.Action) -> TransactionMachine.Action {
    switch consume action {
    case .wait: return .wait
    case .emit(let kind): return emitAndCheck(kind)
    case .callRequestStage(let index): return callRequestStages(from: index)
    case .callResponseStage(let index): return callResponseStages(from: index)
    case .send: return send()
    case .receive(let disposition): return receive(disposition)
    case .validate:
      thisAttempt.hasPassedResponseStages = true
      return validate()
    case .complete(let error):
      finish(error)
      return .wait
    case .callFailureStage(let index, let failure):
      withdrawTokens()
      return callFailureStages(from: index, failure)
    case let rare: return performRarely(rare).map { machine.handle($0) } ?? .wait
    }
  }

  /// Performs an action that few transactions have. Returns the event that follows at once.
  @inline(never)
  private func performRarely(_ action: TransactionMachine.Action) -> TransactionMachine.Event? {
    switch action {
    case .emitRetry(let delay):
      emitRetry(after: delay)
      return .done
    case .emitResend(let delay, let reason):
      emitRetry(after: delay, reason)
      return .done
    case .callHopStage(let index): return callHopStages(from: index)
    case .beginHop:
      beginHop()
      return .done
    case .beginResend:
      beginSending()
      return .done
    case .cutTransfer:
      withdrawTokens()
      transfer?.cancel()
      return nil
    case .waitToRetry(let delay):
      waitToRetry(delay)
      return nil
    case .beginAttempt(let attempt):
      beginAttempt(attempt)
      return .done
    case .considerRetry(let failure): return considerRetry(failure)
    case .passRequestBody(let index): return passBody(.request, before: index)
    case .passResponseBody(let index): return passBody(.response, before: index)
    case .wait, .emit, .callRequestStage, .callResponseStage, .callFailureStage, .send, .receive, .validate, .complete:
      return nil
    }
  }

  private func emitAndCheck(_ kind: TraceEvent.Kind) -> TransactionMachine.Action {
    if kind == .didConfigure {
      // Tracers get the request as it will be sent, whichever form stages left it in.
      do { try settleRequest() } catch { return machine.handle(.abort(error)) }
    }
    emit(kind)
    guard kind == .willExecute else { return machine.performed() }
    do { try result.validateRequest() } catch { return machine.handle(.abort(TransactionError(error))) }
    return machine.performed()
  }

  @inline(never)
  private func waitToRetry(_ delay: Duration) {
    deadlines.retry = environment.waitsToRetry ? loop.now + delay : loop.now
    armTimer()
  }

  private func beginAttempt(_ attempt: Int) {
    if spans != nil { tellSpans() }
    metrics.countRetry()
    metrics.countAttempt()
    self.attempt = attempt
    hop = 0
    requestForms.replace(with: result.originalRequest)
    if let gatheredBody { requestForms.native.body = gatheredBody }
    responseBodyAskers = []
    leaveHop()
    // A connection that did not answer may be dead.
    thisAttempt = Attempt(usesFreshConnection: retryReason?.code == .resent || retryReason?.code == .timeout)
    rareState?.attempt = RareState.Attempt()
    deadlines = Deadlines()
    deadlines.attempt = loop.now.advanced(byNanoseconds: attemptNanoseconds)
    armTimer()
  }

  /// Forgets what belongs to the hop that is over, before the next hop or the next attempt.
  func leaveHop() {
    responseForms.replace(with: nil)
    hasOwnResponseBody = false
    forgetIssued()
    endedConnection = nil
    endRequestPassage()
    endResponsePassage()
    thisHop = Hop()
  }

  private func send() -> TransactionMachine.Action {
    do {
      try settleRequest()
      if !pipeline.pathStages.isEmpty { try checkPath() }
      if hasRequestTrailers { try checkTrailers() }
      try routeRequestBody()
    } catch { return machine.handle(.abort(error)) }
    result.timings = nil
    openHop = .begun(pipeline.traced.contains(.didEndHop) ? now() : started)
    renewAttemptDeadline()
    if let options {
      requestForms.native.sharedOptions = options
      if !options.value.decodesContent { requestForms.native.omittedDefaults.insert(.acceptEncoding) }
    }
    if sharedLimits != nil { limitAttempt() }
    guard notes == nil else {
      sendObserved()
      return .wait
    }
    transfer = environment.transport.start(requestForms.native, transferOptions, observer: self)
    return .wait
  }

  /// Stages may have changed the method and the body since the request was checked.
  @inline(never)
  private func checkTrailers() throws(TransactionError) {
    do { try requestForms.native.validateTrailers() } catch { throw TransactionError(error) }
  }

  /// The options of every transfer of the transaction.
  var transferOptions: TransferOptions {
    let isObserved = isObserved
    guard
      thisAttempt.usesFreshConnection || machine.resends > 0 || sharedLimits != nil || isObserved || self.options != nil
    else { return pipeline.settings.transfer }
    var options = pipeline.settings.transfer
    if let own = self.options?.value {
      own.apply(to: &options)
      // A client certificate is a credential, so another origin does not get it.
      options.isElsewhere = requestForms.native.url.origin != result.originalRequest.url.origin
    }
    if isObserved {
      options.tellsProgress = true
      options.wantsConnection = true
      options.handshake = handshakePolicy
    }
    options.refusals = machine.resends
    options.wantsFreshConnection = thisAttempt.usesFreshConnection
    if let limit = limits?.responseBytes {
      options.maximumResponseBytes = min(options.maximumResponseBytes, limit)
      options.maximumStreamedBytes = min(options.maximumStreamedBytes, limit)
    }
    return options
  }

  /// Sets what happens to the body. If the transport is waiting for the answer to the head, this is the answer;
  /// otherwise it ends a hold.
  private func receive(_ wanted: BodyDisposition) -> TransactionMachine.Action {
    do { try settleResponse() } catch { return machine.handle(.abort(error)) }
    renewAttemptDeadline()
    var answer = wanted
    if hasOwnResponseBody || !isResponseBodyEmpty {
      // A stage has replaced the body that has not arrived yet.
      hasOwnResponseBody = true
      answer = .discard
    } else if answer == .stream {
      beginWirePassage()
    }
    if notes != nil { noteDisposition(answer) }
    if isAnsweringHead { disposition = answer } else { transfer?.proceed(answer) }
    return .wait
  }
}
