import SluiceMessages

// What an event is held against that changes nothing.
extension OpenTransaction {
  /// Libcurl rounds each phase, and reads the clock itself.
  private static let tolerance = Duration.milliseconds(1)

  func checkTime(of entry: LedgerEntry) throws(LedgerBreach) {
    guard entry.time >= last.time else {
      let back = LedgerBreach.text(last.time.duration(since: entry.time))
      throw LedgerBreach(.timing, "\(entry.kind.name) is \(back) earlier than the \(last.kind.name) before it")
    }
  }

  /// Which members belong to which events.
  func checkMembers(of entry: LedgerEntry) throws(LedgerBreach) {
    let name = entry.kind.name
    let isEnd = entry.kind == .didComplete
    guard entry.requestID == requestID else {
      throw LedgerBreach(.identity, "\(name) has the request id \"\(entry.requestID)\"; expected \"\(requestID)\"")
    }
    guard (entry.outcome != nil) == isEnd else {
      throw LedgerBreach(
        .outcome, isEnd ? "did_complete has no outcome" : "\(name) has an outcome; expected one in did_complete alone")
    }
    guard entry.errorCode == nil || isEnd || entry.kind == .willRetry else {
      throw LedgerBreach(.outcome, "\(name) has an error; expected one in will_retry and did_complete alone")
    }
    guard entry.errorCode != nil || entry.errorStage == nil else {
      throw LedgerBreach(.outcome, "\(name) names the stage of an error and has none")
    }
    guard entry.duration == .zero || isEnd || entry.kind == .willRetry else {
      throw LedgerBreach(.timing, "\(name) has a duration; expected one in will_retry and did_complete alone")
    }
    guard entry.timings == nil || isEnd || entry.kind == .didReceive else {
      throw LedgerBreach(.timing, "\(name) has timings; expected them in did_receive and did_complete alone")
    }
  }

  /// The status is that of the `didReceive` of the hop, unless the event says that a stage has changed it.
  func checkStatus(of entry: LedgerEntry) throws(LedgerBreach) {
    let name = entry.kind.name
    switch entry.kind {
    case .willExecute, .didConfigure, .didIssue:
      guard entry.status == 0, entry.receivedStatus == nil else {
        throw LedgerBreach(.status, "\(name) has a status; expected none before there is a response")
      }
    case .didReceiveInformational:
      guard (100...199).contains(entry.status), entry.receivedStatus == nil else {
        throw LedgerBreach(.status, "\(name) has the status \(entry.status); expected 1xx")
      }
    case .didReceive, .willRedirect, .willRetry, .didValidateResponse, .didExtract, .didValidatePayload, .didComplete:
      guard entry.receivedStatus ?? entry.status == hop.status else { throw mismatch(entry) }
      guard entry.receivedStatus != entry.status else {
        throw LedgerBreach(
          .status, "\(name) has receivedStatus \(entry.status), which is its status; expected it beside another alone")
      }
      // What has been validated does not change any more, and neither does what is given up for another attempt.
      let last = validated.count > 0 ? validated.status : pendingRetry?.status ?? entry.status
      guard entry.status == last else {
        throw LedgerBreach(
          .status,
          "\(name) has the status \(entry.status); expected \(last), that of the \(self.last.kind.name) before it")
      }
    }
  }

  private func mismatch(_ entry: LedgerEntry) -> LedgerBreach {
    let found =
      entry.receivedStatus.map { "receivedStatus \($0)" }
      ?? (entry.status == 0 ? "no status" : "the status \(entry.status)")
    let expected =
      hop.isAnswered
      ? "\(hop.status), that of the did_receive of hop \(hop.number)"
      : "none, since hop \(hop.number) has no did_receive"
    return LedgerBreach(
      .status, "\(entry.kind.name) has \(found); expected \(expected) (receivedStatus where a stage has changed it)")
  }

  func complete(_ entry: LedgerEntry) throws(LedgerBreach) {
    try checkOutcome(of: entry)
    guard entry.duration == entry.time.duration(since: started) else {
      throw LedgerBreach(
        .timing,
        "did_complete says it took \(LedgerBreach.text(entry.duration)); expected "
          + "\(LedgerBreach.text(entry.time.duration(since: started))), the time since will_execute")
    }
    guard entry.timings == nil || hasBeenConfigured else {
      throw LedgerBreach(.timing, "did_complete has timings; expected none, since no did_configure came before")
    }
    guard entry.timings != nil || !hop.hasTimings else {
      throw LedgerBreach(.timing, "did_complete has no timings; expected those of the hop whose did_receive had them")
    }
    try checkPhases(of: entry, since: started, "will_execute")
  }

  private func checkOutcome(of entry: LedgerEntry) throws(LedgerBreach) {
    let hasSucceeded = entry.outcome == .succeeded
    let place = validated.count
    guard hasSucceeded == (place == Self.validation.count) else {
      throw LedgerBreach(
        .outcome,
        hasSucceeded
          ? "did_complete says succeeded; expected \(Self.validation[place].name) before it"
          : "did_complete says failed or cancelled; expected succeeded after did_validate_payload")
    }
    guard hasSucceeded == (entry.errorCode == nil) else {
      throw LedgerBreach(
        .outcome, hasSucceeded ? "did_complete says succeeded and has an error" : "did_complete has no error")
    }
    let isCancelled = entry.errorCode == TransactionError.Code.cancelled && entry.errorStage == nil
    guard (entry.outcome == .cancelled) == isCancelled else {
      throw LedgerBreach(
        .outcome,
        isCancelled
          ? "did_complete says failed; expected cancelled, which its error says"
          : "did_complete says cancelled; expected the error \"\(TransactionError.Code.cancelled)\" of no stage")
    }
  }

  func checkPhases(of entry: LedgerEntry, since start: Instant, _ name: String) throws(LedgerBreach) {
    guard let phases = entry.timings?.total else { return }
    let span = entry.time.duration(since: start)
    guard phases <= span + Self.tolerance else {
      throw LedgerBreach(
        .timing,
        "the phases of \(entry.kind.name) add up to \(LedgerBreach.text(phases)); expected no more than "
          + "\(LedgerBreach.text(span)), the time since \(name)")
    }
  }

  /// Something can still be received in the hop.
  func requireOpenHop(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireBeforeValidation(entry)
    try require(hop.isIssued, entry, "did_issue of hop \(hop.number) before it")
    try require(!hop.isAnswered, entry, "one did_receive of hop \(hop.number), and nothing received after it")
  }

  func requireBeforeValidation(_ entry: LedgerEntry) throws(LedgerBreach) {
    try require(validated.count == 0, entry, "nothing but the end after did_validate_response")
  }

  func require(_ holds: Bool, _ entry: LedgerEntry, _ expected: String) throws(LedgerBreach) {
    guard !holds else { return }
    throw LedgerBreach(.order, "\(entry.kind.name) out of order; expected \(expected)")
  }
}
