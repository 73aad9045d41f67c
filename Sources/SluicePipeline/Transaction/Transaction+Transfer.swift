public import SluiceMessages
import SluiceMetrics

extension Transaction: TransferObserver {
  public func transferWillIssue(_ headers: inout HeaderFields) -> Bool {
    guard machine.phase != .done else { return false }
    exchange.phase = .issue
    // Moved, not copied: stages change the list in place.
    exchange.issueHeaders = headers
    headers = HeaderFields()
    let failure = callIssueStages()
    if let written = exchange.issueHeaders.take() { headers = written }
    if let failure {
      hopFailure = failure
      return false
    }
    metrics.countHop()
    issued = Request(
      method: exchange.nativeRequest.method, url: exchange.nativeRequest.url, headers: headers,
      body: exchange.nativeRequest.body, timeout: original.timeout)
    noteIssue()
    emit(.didIssue)
    return true
  }

  /// Leaves in ``clock`` when the last of them ended.
  private func callIssueStages() -> TransactionError? {
    var started = environment.loop.now
    clock = started
    for (index, binding) in pipeline.issueStages.enumerated() where binding.capabilities.contains(.issue) {
      if let match = binding.match, !match.matches(exchange.nativeRequest) { continue }
      let verdict = binding.interceptor.interceptIssue(exchange)
      let now = environment.loop.now
      metrics.recordStage(.issue, index, nanoseconds: now.nanoseconds &- started.nanoseconds)
      started = now
      clock = now
      switch verdict {
      case .proceed: continue
      case .fail(let failure): return TransactionError(failure, stage: binding.name)
      case .fault(let failure):
        if binding.onFault == .fail { return TransactionError(failure, stage: binding.name) }
      case .respond, .retry, .suspended:
        let fault = StageFailure(
          code: TransactionError.Code.stageFault, message: "on_issue may answer CONTINUE or FAIL and nothing else")
        if binding.onFault == .fail { return TransactionError(fault, stage: binding.name) }
      }
    }
    return nil
  }

  public func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {
    guard machine.phase != .done else { return }
    clock = nil
    emit(.didReceiveInformational, status: status)
  }

  public func transferDidReceiveHead(_ head: Response) -> BodyDisposition {
    guard machine.phase != .done else { return .discard }
    exchange.nativeResponse = head
    exchange.responseDocument = nil
    isAnsweringHead = true
    disposition = .hold
    run(eventOfHead())
    isAnsweringHead = false
    return machine.phase == .done ? .discard : disposition
  }

  public func transferDidReceive(_ piece: [UInt8]) -> BodyProgress {
    guard machine.phase != .done else { return .stop }
    return pass(piece, from: 0)
  }

  public func transferDidEnd(_ end: TransferEnd) {
    guard machine.phase != .done else { return }
    transfer = nil
    timings = end.timings
    metrics.addBytes(sent: end.timings.bytesSent, received: end.timings.bytesReceived)
    if let error = end.error { noteEnd(error) }
    if let hopFailure { return run(.abort(hopFailure)) }
    guard end.error == nil else { return run(.ended(end.error.map { TransactionError($0) })) }
    if !end.trailers.isEmpty { exchange.nativeResponse?.trailers = end.trailers }
    if let failure = passEnd() { return run(.abort(failure)) }
    if case .empty = end.body {} else { exchange.nativeResponse?.body = end.body }
    if let gatherer {
      exchange.nativeResponse?.body = gatherer.finish()
      self.gatherer = nil
    }
    run(.ended(nil))
  }
}
