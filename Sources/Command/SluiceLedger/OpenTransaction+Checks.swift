import SluiceMessages
import SluicePipeline

// Checks of an event. They change no state.
extension OpenTransaction {
  /// The tolerance for phases: a program's libcurl (`sluice attach`) rounds each phase, and reads the clock itself.
  private static let tolerance = Duration.milliseconds(1)

  func checkTime(of entry: LedgerEntry) throws(LedgerBreach) {
    guard entry.time >= latest.time else {
      let back = LedgerBreach.text(latest.time.duration(since: entry.time))
      throw LedgerBreach(.timing, "\(entry.kind.name) is \(back) earlier than the \(latest.kind.name) before it")
    }
  }

  /// Checks that the event has only members that belong to its kind.
  func checkMembers(of entry: LedgerEntry) throws(LedgerBreach) {
    let name = entry.kind.name
    let isEnd = entry.kind == .didComplete
    guard entry.requestID == requestID else {
      throw LedgerBreach(.identity, "\(name) has the request id \"\(entry.requestID)\"; expected \"\(requestID)\"")
    }
    guard entry.snapshot == snapshot else {
      func text(_ snapshot: Int?) -> String { snapshot.map { "snapshot \($0)" } ?? "no snapshot" }
      throw LedgerBreach(.identity, "\(name) has \(text(entry.snapshot)); expected \(text(snapshot))")
    }
    guard (entry.outcome != nil) == isEnd else {
      throw LedgerBreach(
        .outcome, isEnd ? "did_complete has no outcome" : "\(name) has an outcome; expected one only in did_complete")
    }
    guard (entry.span != nil) == (entry.kind == .didEndSpan) else {
      throw LedgerBreach(
        .identity,
        entry.span == nil ? "did_end_span has no span" : "\(name) has a span; expected one only in did_end_span")
    }
    let isOfHop = entry.kind == .didEndHop
    guard entry.errorCode == nil || isEnd || isOfHop || entry.kind == .willRetry else {
      throw LedgerBreach(
        .outcome, "\(name) has an error; expected one only in did_end_hop, will_retry and did_complete")
    }
    guard entry.errorCode != nil || entry.errorStage == nil else {
      throw LedgerBreach(.outcome, "\(name) names the stage of an error but has no error")
    }
    guard entry.duration == .zero || isEnd || isOfHop || entry.kind == .willRetry else {
      throw LedgerBreach(
        .timing, "\(name) has a duration; expected one only in did_end_hop, will_retry and did_complete")
    }
    guard entry.timings == nil || isEnd || isOfHop || entry.kind == .didReceive else {
      throw LedgerBreach(
        .timing, "\(name) has timings; expected them only in did_receive, did_end_hop and did_complete")
    }
  }

  /// The status must be equal to the status of the hop's `didReceive`, unless the event says that a stage has changed
  /// it.
  func checkStatus(of entry: LedgerEntry) throws(LedgerBreach) {
    let name = entry.kind.name
    switch entry.kind {
    case .willExecute, .didConfigure, .didIssue, .didEndSpan:
      guard entry.status == 0, entry.receivedStatus == nil else {
        throw LedgerBreach(.status, "\(name) has a status; expected none before there is a response")
      }
    case .didReceiveInformational:
      guard (100...199).contains(entry.status), entry.receivedStatus == nil else {
        throw LedgerBreach(.status, "\(name) has the status \(entry.status); expected 1xx")
      }
    case .didEndHop where hop.isAnswered || !hop.isIssued:
      guard entry.status == hop.status, entry.receivedStatus == nil else { throw mismatch(entry) }
    case .didEndHop where entry.status != 0:
      // There was no did_receive, because the transfer broke after the head, before enough of the body had arrived.
      guard (200...999).contains(entry.status), entry.receivedStatus == 0 else { throw mismatch(entry) }
    case .didReceive, .didEndHop, .willRedirect, .willRetry, .didValidateResponse, .didExtract, .didValidatePayload,
      .didComplete:
      guard entry.receivedStatus ?? entry.status == hop.status else { throw mismatch(entry) }
      guard entry.receivedStatus != entry.status else {
        throw LedgerBreach(
          .status,
          "\(name) has receivedStatus \(entry.status), which equals its status; expected it only if they differ")
      }
      // The status does not change after validation, or after the decision for another attempt.
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
    try requireEndOfHop(entry)
    guard entry.duration == entry.time.duration(since: started) else {
      throw LedgerBreach(
        .timing,
        "did_complete says it took \(LedgerBreach.text(entry.duration)); expected "
          + "\(LedgerBreach.text(entry.time.duration(since: started))), the time since will_execute")
    }
    guard entry.timings == nil || entry.timings == lastTimings else {
      throw LedgerBreach(.timing, "did_complete has timings, but the last did_end_hop has other timings or none")
    }
    guard entry.timings != nil || !hop.hasTimings else {
      throw LedgerBreach(.timing, "did_complete has no timings; expected those of the did_end_hop of hop \(hop.number)")
    }
  }

  /// Checks the duration of a hop. The hop lasts until its `didEndHop`; it began before its `didIssue`, at a time that
  /// the events do not show.
  func checkLength(of entry: LedgerEntry) throws(LedgerBreach) {
    let longest = entry.time.duration(since: hop.started)
    let shortest = hop.issued.map { entry.time.duration(since: $0) } ?? .zero
    guard shortest...longest ~= entry.duration else {
      throw LedgerBreach(
        .timing,
        "did_end_hop says the hop took \(LedgerBreach.text(entry.duration)); expected \(LedgerBreach.text(shortest)) to "
          + "\(LedgerBreach.text(longest)), as the events at its beginning allow")
    }
    guard entry.timings != nil || !hop.hasTimings else {
      throw LedgerBreach(.timing, "did_end_hop has no timings; expected them, since its did_receive had them")
    }
    try checkPhases(of: entry, in: entry.duration, "the duration of the hop in this event")
  }

  /// Checks the hop's place in a trace. Before the hop's `didIssue`, this is the caller's place; afterwards, it is the
  /// place in the headers that were sent.
  func checkTrace(of entry: LedgerEntry) throws(LedgerBreach) {
    let name = entry.kind.name
    guard entry.trace.traceID != nil || entry.trace == HopTraceContext() else {
      throw LedgerBreach(.identity, "\(name) has a span id or a parent span id and no trace id")
    }
    guard let sent = hop.trace else {
      guard entry.trace == callerTrace, entry.trace.spanID == nil else {
        throw LedgerBreach(
          .identity,
          "\(name) is in another trace than will_execute, or has a span id; expected neither before did_issue")
      }
      return
    }
    guard entry.trace == sent else {
      throw LedgerBreach(
        .identity, "\(name) has another trace id, span id or parent span id than the did_issue of hop \(hop.number)")
    }
    let isCallers = sent.traceID == callerTrace.traceID
    guard sent.parentSpanID == (isCallers ? callerTrace.parentSpanID : nil), isCallers || sent.spanID != nil else {
      throw LedgerBreach(
        .identity,
        "\(name) has a trace id or parent span id that belongs neither to the caller's trace nor to a new one")
    }
  }

  private func checkOutcome(of entry: LedgerEntry) throws(LedgerBreach) {
    let hasSucceeded = entry.outcome == .succeeded
    let place = validated.count
    guard hasSucceeded == (place == Self.validation.count) else {
      throw LedgerBreach(
        .outcome,
        hasSucceeded
          ? "did_complete has the outcome \"succeeded\"; expected \(Self.validation[place].name) before it"
          : "did_complete has the outcome \"failed\" or \"cancelled\"; expected \"succeeded\" after did_validate_payload"
      )
    }
    guard hasSucceeded == (entry.errorCode == nil) else {
      throw LedgerBreach(
        .outcome, hasSucceeded ? "did_complete has the outcome \"succeeded\" and an error" : "did_complete has no error"
      )
    }
    let isCancelled = entry.errorCode == .cancelled && entry.errorStage == nil
    guard (entry.outcome == .cancelled) == isCancelled else {
      throw LedgerBreach(
        .outcome,
        isCancelled
          ? "did_complete says failed; expected cancelled, as its error says"
          : "did_complete says cancelled; expected the error \"\(ErrorCode.cancelled)\" without a stage")
    }
  }

  func checkPhases(of entry: LedgerEntry, in span: Duration, _ name: String) throws(LedgerBreach) {
    guard let phases = entry.timings?.total else { return }
    guard phases <= span + Self.tolerance else {
      throw LedgerBreach(
        .timing,
        "the phases of \(entry.kind.name) add up to \(LedgerBreach.text(phases)); expected no more than "
          + "\(LedgerBreach.text(span)), \(name)")
    }
  }

  /// Checks that the hop can still receive a response.
  func requireOpenHop(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireBeforeValidation(entry)
    try require(hop.isIssued, entry, "did_issue of hop \(hop.number) before it")
    try require(!hop.isAnswered, entry, "one did_receive of hop \(hop.number), and nothing received after it")
    try require(!hop.isEnded, entry, "nothing received after the did_end_hop of hop \(hop.number)")
  }

  /// An issued hop must end before an event that does not belong to it.
  func requireEndOfHop(_ entry: LedgerEntry) throws(LedgerBreach) {
    try require(!hop.isIssued || hop.isEnded, entry, "did_end_hop of hop \(hop.number) before it")
  }

  func requireBeforeValidation(_ entry: LedgerEntry) throws(LedgerBreach) {
    try require(validated.count == 0, entry, "nothing but the end after did_validate_response")
  }

  func require(_ holds: Bool, _ entry: LedgerEntry, _ expected: String) throws(LedgerBreach) {
    guard !holds else { return }
    throw LedgerBreach(.order, "\(entry.kind.name) out of order; expected \(expected)")
  }
}
