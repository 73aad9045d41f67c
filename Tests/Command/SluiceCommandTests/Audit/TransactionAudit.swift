/// The events of one transaction, in the order of the log, and the rules of `docs/command/verify-trace.md` that concern
/// a single transaction.
///
/// Each rule is checked in its own pass over the events. One pass for all rules would be faster, but harder to compare
/// with the table of the rules.
struct TransactionAudit {
  /// The events of the transaction. `did_end_span` is left out, because it is not a step of the transaction.
  let events: [EventLine]
  private let all: [EventLine]

  init(events: [EventLine]) {
    all = events
    self.events = events.filter { $0.event != "did_end_span" }
  }

  func check() throws(LogComplaint) {
    guard let first = all.first else { return }
    try demand(all.last?.event == "did_complete" && first.event == "will_execute", "balance", first, "first and last")
    try checkSpans()
    try checkBalance()
    try checkMembers()
    try checkSequence()
    try checkOrder()
    try checkHops()
    try checkPlaces()
    try checkStatus()
    try checkOutcome()
    try checkIdentity()
    try checkTraces()
    try checkTiming()
    try checkTimings()
  }

  private var pairs: Zip2Sequence<[EventLine], ArraySlice<EventLine>> { zip(events, events.dropFirst()) }

  private func demand(
    _ isKept: Bool, _ rule: String, _ event: EventLine, _ what: @autoclosure () -> String
  ) throws(LogComplaint) {
    guard isKept else {
      let place = "\(event.transaction) \(event.event) \(event.attempt).\(event.hop)"
      throw LogComplaint(rule, "\(place): \(what())")
    }
  }

  private func checkBalance() throws(LogComplaint) {
    for (index, event) in events.enumerated() {
      try demand((event.event == "will_execute") == (index == 0), "balance", event, "will_execute is first, and once")
      let isLast = index == events.count - 1
      try demand((event.event == "did_complete") == isLast, "balance", event, "did_complete is last, and once")
    }
  }

  /// Checks which event has which member.
  private func checkMembers() throws(LogComplaint) {
    for event in events {
      let (isEnd, isRetry) = (event.event == "did_complete", event.event == "will_retry")
      let isHopEnd = event.event == "did_end_hop"
      try demand((event.durationNs != nil) == (isEnd || isHopEnd), "format", event, "durationNs is in the two ends")
      try demand((event.outcome != nil) == isEnd, "outcome", event, "an outcome is in did_complete alone")
      try demand((event.delayNs != nil) == isRetry, "format", event, "delayNs is in will_retry alone")
      try demand(event.errorCode == nil || isEnd || isHopEnd || isRetry, "outcome", event, "an error")
      let mayHaveTimings = isEnd || isHopEnd || event.event == "did_receive"
      try demand(event.phasesNs == nil || mayHaveTimings, "timing", event, "timings")
    }
  }

  /// Checks that each span ends once and within the time of the transaction, and that the event of its end has no
  /// members that belong to other events.
  private func checkSpans() throws(LogComplaint) {
    var ended: Set<String> = []
    for (index, event) in all.enumerated() {
      try demand((event.span != nil) == (event.event == "did_end_span"), "identity", event, "a span")
      guard let span = event.span else { continue }
      try demand(ended.insert(span.spanId).inserted && span.spanId != span.parentSpanId, "identity", event, span.spanId)
      let isInTime = all[0].timeNs <= span.startNs && span.startNs <= span.endNs && span.endNs <= event.timeNs
      try demand(isInTime, "timing", event, "\(span.startNs) to \(span.endNs)")
      try demand(event.requestID == all[0].requestID, "identity", event, event.requestID)
      try demand(event.snapshot == all[0].snapshot, "identity", event, "its snapshot is another one")
      try demand(event.status == nil && event.receivedStatus == nil, "status", event, "a status")
      let hasOthers = event.outcome != nil || event.errorCode != nil || event.phasesNs != nil
      try demand(!hasOthers && event.delayNs == nil && event.durationNs == nil, "format", event, "another member")
      let isPlaced = [all[..<index].last, all[index...].first { $0.event != "did_end_span" }].contains {
        $0?.attempt == event.attempt && $0?.hop == event.hop
      }
      try demand(isPlaced, "numbering", event, "neither the place of the event before it nor of the one after it")
    }
  }

  private func checkSequence() throws(LogComplaint) {
    guard all.contains(where: { $0.sequence != nil }) else { return }
    for (index, event) in all.enumerated() {
      try demand(event.sequence == Int64(index), "numbering", event, "its sequence is not \(index)")
    }
  }

  /// Checks which event follows which. The numbers of attempt and hop tell to which attempt and hop an event belongs.
  private func checkOrder() throws(LogComplaint) {
    let followers: [String: Set<String>] = [
      // A stage of the request can answer, fail, or ask for another attempt.
      "will_execute": ["did_configure", "will_retry", "did_validate_response", "did_complete"],
      "did_configure": ["did_issue", "did_end_hop", "will_retry", "did_validate_response", "did_complete"],
      "did_issue": ["did_receive_informational", "did_receive", "did_end_hop"],
      "did_receive_informational": ["did_receive_informational", "did_receive", "did_end_hop"],
      "did_receive": ["will_redirect", "did_end_hop"],
      // If a stage takes time to decide, `did_end_hop` comes before `will_redirect`.
      "will_redirect": [
        "did_issue", "did_end_hop", "will_retry", "did_validate_response", "did_complete",
      ],
      "did_end_hop": [
        "will_redirect", "did_issue", "did_end_hop", "will_retry", "did_validate_response", "did_complete",
      ],
      "will_retry": ["did_configure", "did_issue", "will_retry", "did_validate_response", "did_complete"],
      "did_validate_response": ["did_extract", "did_complete"],
      "did_extract": ["did_validate_payload", "did_complete"],
      "did_validate_payload": ["did_complete"],
      "did_complete": [],
    ]
    for (before, after) in pairs {
      try demand(followers[before.event]?.contains(after.event) == true, "order", after, "after \(before.event)")
      if before.event == "will_retry", after.event == "did_issue" {
        try demand(before.errorCode == "not_processed", "order", after, "a hop after will_retry")
      }
    }
    for (index, event) in events.enumerated() where event.event == "will_redirect" {
      let isRedirect = [301, 302, 303, 307, 308].contains(received(before: index))
      try demand(isRedirect, "order", event, "will_redirect after \(received(before: index) ?? 0)")
      try demand(find("will_redirect", before: index) == nil, "order", event, "a second one")
    }
  }

  /// Returns the last event with this name before the event at `index`, in the same attempt and hop.
  private func find(_ name: String, before index: Int) -> EventLine? {
    events[..<index].last { $0.event == name && isSameHop($0, events[index]) }
  }

  private func isSameHop(_ event: EventLine, _ other: EventLine) -> Bool {
    event.attempt == other.attempt && event.hop == other.hop
  }

  /// Checks that each issued hop ends once, and before any event that does not belong to it.
  private func checkHops() throws(LogComplaint) {
    let parts: Set = ["did_receive_informational", "did_receive", "will_redirect"]
    for (index, event) in events.enumerated() {
      switch event.event {
      case "did_issue":
        let next = events[(index + 1)...].first { !parts.contains($0.event) || !isSameHop($0, event) }
        let isEnd = next?.event == "did_end_hop" && next.map { isSameHop($0, event) } == true
        try demand(isEnd, "order", event, "no did_end_hop before \(next?.event ?? "")")
      case "did_end_hop":
        try demand(find("did_end_hop", before: index) == nil, "order", event, "a second one")
        let isConfigured = events[..<index].contains { $0.event == "did_configure" && $0.attempt == event.attempt }
        try demand(isConfigured, "order", event, "a hop before did_configure")
        let isAnswered = received(before: index) != nil
        try demand(isAnswered || event.errorCode != nil, "order", event, "neither a response nor an error")
      case "will_retry" where event.errorCode != nil:
        try demand(find("did_end_hop", before: index) != nil, "order", event, "a failure before did_end_hop")
      case "did_validate_response":
        let status = received(before: index) ?? 0
        let isDecided = [0, 301, 302, 303, 307, 308, 401, 407].contains(status)
        let isLost = find("did_end_hop", before: index)?.errorCode != nil
        try demand(isDecided || !isLost, "order", event, "the response broke off")
      default: break
      }
    }
  }

  /// Checks the numbers of attempts and hops.
  private func checkPlaces() throws(LogComplaint) {
    for (index, event) in events.enumerated() where index == 0 {
      try demand(event.attempt == 0 && event.hop == 0, "numbering", event, "it does not begin with 0.0")
    }
    for (before, after) in pairs {
      let same = after.attempt == before.attempt && after.hop == before.hop
      let isNextHop = after.attempt == before.attempt && after.hop == before.hop + 1
      let isNextAttempt = after.attempt == before.attempt + 1 && after.hop == 0
      let isUnprocessed = before.errorCode == "not_processed"
      let isRight =
        switch (before.event, after.event) {
        // If the server did not process the hop, the next one belongs to the same attempt.
        case ("will_retry", "did_issue"): isNextHop
        case ("will_retry", "did_configure"): isNextAttempt
        // The wait for the next attempt can be cancelled.
        case ("will_retry", "did_complete"): isNextAttempt || same || isNextHop && isUnprocessed
        case ("will_retry", _): isNextAttempt || isNextHop && isUnprocessed
        case ("will_redirect", "did_issue"), ("did_end_hop", "did_issue"), ("did_end_hop", "did_end_hop"):
          isNextHop && leadsOn(before)
        case ("did_validate_response", _), ("did_extract", _), ("did_validate_payload", _): same
        // The next hop can fail before it is issued.
        default: same || isNextHop && leadsOn(before)
        }
      try demand(isRight, "numbering", after, "after \(before.event) \(before.attempt).\(before.hop)")
    }
  }

  /// Returns whether another hop can follow the hop of an event, because of a redirect or a challenge.
  private func leadsOn(_ event: EventLine) -> Bool {
    events.contains { other in
      let isChallenge = other.event == "did_receive" && [401, 407].contains(other.status)
      return isSameHop(other, event) && (isChallenge || other.event == "will_redirect")
    }
  }

  private func received(before index: Int) -> Int64? {
    let event = events[index]
    return events[..<index].last {
      $0.event == "did_receive" && $0.attempt == event.attempt && $0.hop == event.hop
    }?.status
  }

  private func checkStatus() throws(LogComplaint) {
    for (index, event) in events.enumerated() {
      let (status, told) = (event.status, event.receivedStatus)
      switch event.event {
      case "will_execute", "did_configure", "did_issue":
        try demand(status == nil && told == nil, "status", event, "a status before a response")
      case "did_receive_informational":
        try demand((100...199).contains(status ?? 0) && told == nil, "status", event, "\(status ?? 0)")
      case "did_receive":
        try demand((200...999).contains(status ?? 0) && told == nil, "status", event, "\(status ?? 0)")
      case "will_redirect":
        try demand(status == received(before: index) && told == nil, "status", event, "\(status ?? 0)")
      case "did_end_hop":
        try checkStatusOfHop(event, received(before: index), isIssued: find("did_issue", before: index) != nil)
      default:
        let received = received(before: index)
        let isReceived = status == received && told == nil
        let isOther = status != nil && status != received && told == received ?? 0
        try demand(isReceived || isOther, "status", event, "\(status ?? 0), received \(received ?? 0)")
      }
    }
    guard let validated = events.firstIndex(where: { $0.event == "did_validate_response" }) else { return }
    try demand(events[validated].status != nil, "status", events[validated], "nothing was validated")
    for event in events[validated...] {
      let isKept = event.status == events[validated].status && event.receivedStatus == events[validated].receivedStatus
      try demand(isKept, "status", event, "not what was validated")
    }
  }

  /// Checks that the status of a hop is the server's. If the body is incomplete, the head may have had no
  /// `did_receive`.
  private func checkStatusOfHop(_ event: EventLine, _ received: Int64?, isIssued: Bool) throws(LogComplaint) {
    let isReceived = event.status == received && event.receivedStatus == nil
    let isUnreceived = (200...999).contains(event.status ?? 0) && event.receivedStatus == 0
    let isRight = isReceived || received == nil && isIssued && isUnreceived
    try demand(isRight, "status", event, "\(event.status ?? 0), received \(received ?? 0)")
  }

  private func checkOutcome() throws(LogComplaint) {
    guard let end = events.last else { return }
    try demand((end.outcome == "succeeded") == (end.errorCode == nil), "outcome", end, "outcome and error")
    let isCancelled = end.errorCode == "cancelled" && end.errorStage == nil
    try demand((end.outcome == "cancelled") == isCancelled, "outcome", end, "\(end.errorCode ?? "no error")")
    let isValidated = events.contains { $0.event == "did_validate_payload" }
    try demand((end.outcome == "succeeded") == isValidated, "outcome", end, "the payload and the outcome")
  }

  private func checkIdentity() throws(LogComplaint) {
    var current: EventLine?
    var previous: EventLine?
    for event in events {
      try demand(event.requestID == events[0].requestID, "identity", event, event.requestID)
      try demand(event.snapshot == events[0].snapshot, "identity", event, "its snapshot is another one")
      if event.attempt != previous?.attempt { current = nil }
      let isRedirected = previous.map { before in
        !isSameHop(before, event) && events.contains { $0.event == "will_redirect" && isSameHop($0, before) }
      }
      if event.event == "did_configure" || current != nil && isRedirected == true { current = event }
      if let current {
        let isSame = event.method == current.method && event.url == current.url
        try demand(isSame, "identity", event, "\(event.method) \(event.url)")
      }
      previous = event
    }
  }

  /// Checks that events before a hop's `did_issue` are in the caller's trace, and later events in the hop's trace.
  private func checkTraces() throws(LogComplaint) {
    let caller = events[0]
    for (index, event) in events.enumerated() {
      let hasTrace = event.traceId != nil || event.spanId == nil && event.parentSpanId == nil
      try demand(hasTrace, "identity", event, "a span without a trace")
      let issue = event.event == "did_issue" ? event : find("did_issue", before: index)
      try demand(event.spanId == issue?.spanId, "identity", event, "span \(event.spanId ?? "none")")
      if issue?.spanId == nil {
        let isCallers = event.traceId == caller.traceId && event.parentSpanId == caller.parentSpanId
        try demand(isCallers, "identity", event, "not the caller's trace")
      } else {
        try demand(event.traceId == issue?.traceId, "identity", event, "trace \(event.traceId ?? "none")")
        let parent = event.traceId == caller.traceId ? caller.parentSpanId : nil
        try demand(event.parentSpanId == parent, "identity", event, "parent \(event.parentSpanId ?? "none")")
      }
    }
  }

  private func checkTiming() throws(LogComplaint) {
    for (before, after) in zip(all, all.dropFirst()) {
      try demand(before.timeNs <= after.timeNs, "timing", after, "time goes back")
    }
    for (before, after) in pairs {
      if let delay = before.delayNs, (after.attempt, after.hop) != (before.attempt, before.hop) {
        try demand(after.timeNs - before.timeNs >= delay, "timing", after, "earlier than its delay")
      }
    }
    if let end = events.last, let duration = end.durationNs {
      try demand(duration == end.timeNs - events[0].timeNs, "timing", end, "its duration")
    }
  }

  /// Checks the durations of hops and of their phases.
  private func checkTimings() throws(LogComplaint) {
    for (index, event) in events.enumerated() {
      let elapsed = event.timeNs - hopStart(index)
      if event.event == "did_end_hop", let duration = event.durationNs {
        let shortest = find("did_issue", before: index).map { event.timeNs - $0.timeNs } ?? 0
        let isPossible = shortest <= duration && duration <= elapsed
        try demand(isPossible, "timing", event, "\(duration) ns, not \(shortest) to \(elapsed)")
        let isLost = event.phasesNs == nil && find("did_receive", before: index)?.phasesNs != nil
        try demand(!isLost, "timing", event, "no timings, although its did_receive had them")
      }
      if event.event != "did_complete", let phases = event.phasesNs {
        let span = event.durationNs ?? elapsed
        try demand(phases <= span + 1_000_000, "timing", event, "\(phases) ns of phases in \(span) ns")
      }
    }
    guard let end = events.last else { return }
    let last = events.last { $0.event == "did_end_hop" }
    if end.phasesNs != nil {
      try demand(last?.timings == end.timings, "timing", end, "not the timings of the last did_end_hop")
    } else {
      let isLost = last?.phasesNs != nil && last.map { isSameHop($0, end) } == true
      try demand(!isLost, "timing", end, "no timings, although its hop had them")
    }
  }

  /// Returns the earliest time at which the hop of an event can have begun. For a first hop, this is the attempt's
  /// `did_configure`.
  private func hopStart(_ index: Int) -> Int64 {
    let event = events[index]
    let before = event.hop == 0 ? find("did_configure", before: index) : events[..<index].last { !isSameHop($0, event) }
    return before?.timeNs ?? event.timeNs
  }
}
